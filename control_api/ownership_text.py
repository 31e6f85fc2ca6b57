"""The text by which a host says that it takes a tenant's fires, and where it says so.

Derived from the tenant and the origin alone, so that it can be configured before the target is
put, is the same after a restore, and serves every target of the tenant on that origin. It is no
secret: only who runs the host can serve it there. A text for one tenant, scheme, host or port is
of no use for another.
"""

from hashlib import blake2b
from typing import Final

from schemas.origins import origin_of
from schemas.well_known import ownership_url

__all__ = ["ownership_text", "ownership_url"]

_PREFIX: Final = "punctual-ownership-v1="
_DIGEST_BYTES: Final = 20


def ownership_text(tenant_id: str, endpoint: str) -> str:
    """The line that the endpoint's host has to serve for this tenant; ValueError for no URL.

    `punctual-ownership-v1=` and the 160-bit BLAKE2b of tenant, NUL and origin in hex digits, the
    origin as scheme, host and port in lower case.
    """
    digest = blake2b(f"{tenant_id}\0{origin_of(endpoint)}".encode(), digest_size=_DIGEST_BYTES)
    return _PREFIX + digest.hexdigest()
