"""Definitions, targets and tenants with plain defaults, and the changes a test is about."""

from typing import Any, Final

from ports.changes import PutTarget, PutTenant, PutTrigger
from ports.records import TargetRecord, TenantRecord, TriggerDefinition
from scheduling import limits
from scheduling.vocabulary import OwnershipState

TENANT: Final = "acme"
TARGET: Final = "shop"
SECRET: Final = "whsec_" + "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"


def a_definition(*recurrence: str, **changes: Any) -> TriggerDefinition:
    """Every minute in UTC unless told otherwise, with the product's own defaults."""
    facts: dict[str, Any] = {
        "recurrence": recurrence or ("* * * * *",),
        "zone": "UTC",
        "target_id": TARGET,
        "catchup_horizon_s": limits.HORIZON_S_DEFAULT,
        "horizon_source": "default",
        "attempt_budget": limits.ATTEMPT_BUDGET_DEFAULT,
        "retry_window_s": limits.RETRY_WINDOW_S_DEFAULT,
        "run_timeout_s": limits.RUN_TIMEOUT_S_DEFAULT,
        "outcome_window_s": limits.OUTCOME_WINDOW_S_DEFAULT,
    }
    return TriggerDefinition(**{**facts, **changes})


def a_tenant(tenant_id: str = TENANT, **changes: Any) -> PutTenant:
    """A tenant with the product's own quotas."""
    facts: dict[str, Any] = {
        "quota_triggers": limits.QUOTA_TRIGGERS_DEFAULT,
        "quota_dispatch_per_s": limits.QUOTA_DISPATCH_PER_S_DEFAULT,
        "quota_inflight": limits.QUOTA_INFLIGHT_DEFAULT,
        "catchup_rate_pct": limits.CATCHUP_RATE_PCT_DEFAULT,
        "smear_s": 0,
    }
    return PutTenant(tenant=TenantRecord(tenant_id=tenant_id, **{**facts, **changes}))


def a_target(tenant_id: str = TENANT, *, timeout_s: float = 10.0) -> PutTarget:
    """The one target of a tenant, with a secret that stays."""
    return PutTarget(
        target=TargetRecord(
            tenant_id=tenant_id,
            target_id=TARGET,
            endpoint="https://shop.example/hook",
            timeout_s=timeout_s,
            secret=SECRET,
        ),
        ownership=OwnershipState.ALLOWED,
    )


def a_trigger(name: str, *recurrence: str, **changes: Any) -> PutTrigger:
    """Put a trigger of the default tenant."""
    tenant_id = changes.pop("tenant_id", TENANT)
    definition = a_definition(*recurrence, **changes)
    return PutTrigger(tenant_id=tenant_id, name=name, definition=definition)
