"""Where two definitions differ, by the keys that people write."""

from typing import Any, Final

from control_api.definitions import definition_of, definition_out
from ports.records import TriggerDefinition
from scheduling.limits import HORIZON_S_DEFAULT
from schemas.api.apply import FieldChange
from schemas.manifest import TriggerSpec

CHANGED: Final = "changed"
GIVEN: Final = "given"  # of what is new
_FACTS: Final = (
    "recurrence", "zone", "target_id", "gap_rule", "fold_rule", "starts_us", "ends_us",
    "exclusions", "calendars", "max_fires", "smear_s", "missed_policy", "overlap_policy",
    "catchup_horizon_s", "attempt_budget", "retry_window_s", "run_timeout_s", "outcome_window_s",
    "response_is_outcome",
)  # fmt: skip
_ALWAYS: Final = ("schedule", "zone", "target")  # told of a new trigger


def definition_fields(
    before: TriggerDefinition | None, after: TriggerDefinition
) -> list[FieldChange]:
    """What differs; of a new definition what is not the default. The payload only where it is sure.

    That a payload is another one with the same name is not known here: nobody reads payloads.
    """
    fields = _differing(before, after)
    had_one = before is not None and before.has_payload
    if had_one != (after.payload is not None):
        fields.append(FieldChange(field="payload", after=GIVEN if before is None else CHANGED))
    return fields


def _differing(before: TriggerDefinition | None, after: TriggerDefinition) -> list[FieldChange]:
    if before is None:
        keys = _keys(after)
        return [
            FieldChange(field=key, after=value)
            for key, value in keys.items()
            if key in _ALWAYS or value != _DEFAULTS[key]
        ]
    if all(getattr(before, fact) == getattr(after, fact) for fact in _FACTS):
        return []
    old, new = _keys(before), _keys(after)
    return [
        FieldChange(field=key, before=old[key], after=value)
        for key, value in new.items()
        if old[key] != value
    ]


def _keys(definition: TriggerDefinition) -> dict[str, Any]:
    keys = definition_out(definition).model_dump(mode="json")
    retry = keys.pop("retry")
    return keys | {f"retry.{key}": value for key, value in retry.items()}


def _defaults() -> dict[str, Any]:
    spec = TriggerSpec.model_validate({"schedule": "@yearly", "zone": "UTC", "target": "t"})
    return _keys(
        definition_of(
            spec, smear_s=0, catchup_horizon_s=HORIZON_S_DEFAULT, horizon_source="default"
        )
    )


_DEFAULTS: Final = _defaults()
