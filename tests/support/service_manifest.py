"""Small manifests for real processes: one tenant, targets by URL, triggers by their keys."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.http_receiver import SECRET

TENANT: Final = "acme"
EACH_SECOND: Final = "* * * * * *"


def a_trigger(schedule: str = EACH_SECOND, **keys: Any) -> dict[str, Any]:
    """In UTC, without smear, to the target `receiver`."""
    return {"schedule": schedule, "zone": "UTC", "target": "receiver", "smear_s": 0} | keys


def write_manifest(
    file: Path,
    url: str,
    triggers: Mapping[str, dict[str, Any]],
    *,
    timeout_s: int = 5,
    more_targets: Mapping[str, dict[str, Any]] | None = None,
) -> Path:
    """Write the manifest and return its path."""
    receiver = {"url": url, "timeout_s": timeout_s, "secret": SECRET}
    tenant = {
        "quota_dispatch_per_s": 1_000,
        "catchup_rate_pct": 100,
        "targets": {"receiver": receiver} | dict(more_targets or {}),
        "triggers": dict(triggers),
    }
    file.write_text(yaml.safe_dump({"tenants": {TENANT: tenant}}))
    return file
