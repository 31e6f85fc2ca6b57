"""Writes a manifest as the YAML that reads back to the same records."""

from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel

from control_api.manifests.yaml_scalars import UnclearScalar, plain_scalar
from scheduling.durations import duration_text
from scheduling.instants import to_text
from schemas.manifest import Manifest, TenantSpec, TriggerSpec

_MEMBERS = frozenset({"calendars", "targets", "triggers"})


def to_yaml(manifest: Manifest) -> str:
    """YAML that `load_manifest` reads back to an equal manifest; what is default is left out.

    Holds the secrets that the manifest holds.
    """
    tenants = {name: _tenant(tenant) for name, tenant in manifest.tenants.items()}
    return yaml.dump(
        {"tenants": tenants},
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=100,
    )


class _Dumper(yaml.CSafeDumper):
    """No anchors, and quotes around every text that our reader would not take as this text."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if _is_plain_text(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _is_plain_text(text: str) -> bool:
    try:
        return text.isprintable() and isinstance(plain_scalar(text), str)
    except UnclearScalar:
        return False


def _tenant(tenant: TenantSpec) -> dict[str, Any]:
    calendars = {name: _written(calendar) for name, calendar in tenant.calendars.items()}
    return {
        **_written(tenant, without=_MEMBERS),
        **({"calendars": calendars} if calendars else {}),
        "targets": {name: _written(target) for name, target in tenant.targets.items()},
        "triggers": {name: _written(trigger) for name, trigger in tenant.triggers.items()},
    }


def _written(spec: BaseModel, *, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The keys that a person would write: those that differ from their default."""
    fields: Mapping[str, Any] = type(spec).model_fields
    written: dict[str, Any] = {}
    for name, info in fields.items():
        value = getattr(spec, name)
        if name not in without and (info.is_required() or value != info.default):
            written[info.alias or name] = _as_written(spec, name, value)
    return written


def _as_written(spec: BaseModel, name: str, value: Any) -> Any:
    alias = type(spec).model_fields[name].alias
    if isinstance(value, BaseModel):
        return _written(value)
    if name == "payload_json" and isinstance(spec, TriggerSpec):
        return spec.payload
    if name == "schedule":
        return value[0] if len(value) == 1 else list(value)
    if name in ("rules", "calendars"):
        return list(value)
    if name in ("excluded_on", "dates"):
        return [day.isoformat() for day in value]
    if name.endswith("_us"):
        return to_text(value)
    if name.endswith("_s") and alias is not None:
        return duration_text(value)
    return str(value) if isinstance(value, str) else value
