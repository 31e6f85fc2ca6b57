"""Builders for the stores' suites: a tenant, its target, a definition, and names that fit."""

from itertools import count
from typing import Any, Final

from ports.changes import PutTarget
from ports.records import TargetRecord, TenantRecord, TriggerDefinition
from scheduling.instants import SECOND_US, from_text
from scheduling.keys import partition_of, trigger_id_of
from scheduling.vocabulary import OwnershipState

# Midnight on a Monday without a clock change near: seconds after it read like the time of day.
START_US: Final = from_text("2026-03-02T00:00:00Z")
TENANT: Final = "acme"
TARGET: Final = "hook"
SECRET: Final = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"


def at(seconds: float) -> int:
    """The instant that many seconds after the start."""
    return START_US + round(seconds * SECOND_US)


def since_start(instant_us: int) -> float:
    """The seconds between the start and an instant."""
    return (instant_us - START_US) / SECOND_US


def a_tenant(tenant_id: str = TENANT, **changes: Any) -> TenantRecord:
    """Room for everything; catch-up may use a tenth of 100 fires a second."""
    facts: dict[str, Any] = {
        "tenant_id": tenant_id,
        "quota_triggers": 1_000,
        "quota_dispatch_per_s": 100,
        "quota_inflight": 1_000,
        "catchup_rate_pct": 10,
        "smear_s": 0,
    }
    return TenantRecord(**{**facts, **changes})


def a_target(tenant_id: str = TENANT, **changes: Any) -> TargetRecord:
    """Ten seconds to answer."""
    facts: dict[str, Any] = {
        "tenant_id": tenant_id,
        "target_id": TARGET,
        "endpoint": "https://hook.example/fire",
        "timeout_s": 10.0,
        "secret": SECRET,
    }
    return TargetRecord(**{**facts, **changes})


def put_target(tenant_id: str = TENANT, **changes: Any) -> PutTarget:
    """Put `a_target` on a host that an operator vouches for."""
    return PutTarget(target=a_target(tenant_id, **changes), ownership=OwnershipState.ALLOWED)


def stored_target(tenant_id: str = TENANT, **changes: Any) -> TargetRecord:
    """How a listing shows what `put_target` made."""
    facts: dict[str, Any] = {"secret": None, "ownership": OwnershipState.ALLOWED, "revision": 1}
    return a_target(tenant_id, **{**facts, **changes})


def a_definition(**changes: Any) -> TriggerDefinition:
    """Every minute in UTC, `fire_once_now`, `allow`, three tries within an hour."""
    facts: dict[str, Any] = {
        "recurrence": ("* * * * *",),
        "zone": "UTC",
        "target_id": TARGET,
        "catchup_horizon_s": 3_600,
        "horizon_source": "default",
        "attempt_budget": 3,
        "retry_window_s": 3_600,
        "run_timeout_s": 600,
        "outcome_window_s": 3_600,
    }
    return TriggerDefinition(**{**facts, **changes})


def names_of_one_partition(amount: int, *, tenant_id: str = TENANT) -> list[str]:
    """Names whose first triggers are decided by one partition."""
    by_partition: dict[int, list[str]] = {}
    for number in count():
        name = f"job-{number}"
        partition_id = partition_of(trigger_id_of(tenant_id, name, generation=0))
        names = by_partition.setdefault(partition_id, [])
        names.append(name)
        if len(names) == amount:
            return names
    raise AssertionError("unreachable: every partition fills up")
