"""A process's part in a race for a tenant's first key."""

from collections.abc import Callable

from ports.payload_keys import PayloadKeysPort

RACE_CONTEXT = "payload"


def seal_first(opener: Callable[[], PayloadKeysPort], tenants: list[str]) -> list[bytes]:
    """One sealed payload a tenant, its plain text being the tenant's id."""
    keys = opener()
    return [keys.seal(tenant, tenant.encode(), context=RACE_CONTEXT) for tenant in tenants]
