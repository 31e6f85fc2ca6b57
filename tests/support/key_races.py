"""A process's part in a race for a first key: a tenant's, or that of the attempts' tokens."""

from collections.abc import Callable

from ports.attempt_tokens import AttemptTokensPort
from ports.payload_keys import PayloadKeysPort
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey

RACE_CONTEXT = "payload"


def seal_first(opener: Callable[[], PayloadKeysPort], tenants: list[str]) -> list[bytes]:
    """One sealed payload a tenant, its plain text being the tenant's id."""
    keys = opener()
    return [keys.seal(tenant, tenant.encode(), context=RACE_CONTEXT) for tenant in tenants]


def mint_first(opener: Callable[[], AttemptTokensPort], key: FireKey) -> str:
    """A token of the fire's first attempt, for a minute."""
    return opener().mint(key, 1, audience="https://a.example", now_us=0, expires_us=60 * SECOND_US)
