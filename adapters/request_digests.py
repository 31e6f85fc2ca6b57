"""What a kept request is recognised by: a digest under keys that die with those of its payloads.

A digest without a key would tell a payload to whoever guesses it, from the database file alone and
long after the tenant's key was deleted. Each digest here has a key of its own, in shares: one is
sealed for the platform, and one for each tenant whose payload or secret the request brings.
"""

import hmac
import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ports.changes import Change, IdempotentRequest, PutTarget, PutTrigger, RunTrigger
from ports.payload_keys import PayloadKeysPort

_PLATFORM: Final = ""  # no tenant's id; its key is in no database file either
_SHARE_BYTES: Final = 32
_DIGEST: Final = "sha256"


class Marks(NamedTuple):
    """What is stored of a request. `shares` is JSON: each with the id that it is sealed for."""

    digest: str
    shares: str


def marks_of(keys: PayloadKeysPort, request: IdempotentRequest, changes: Iterable[Change]) -> Marks:
    """Under new shares."""
    context = _context(request)
    key, shares = b"", []
    for tenant_id in (_PLATFORM, *sorted(_tenants_with_secrets(changes))):
        share = secrets.token_bytes(_SHARE_BYTES)
        key += share
        shares.append((tenant_id, keys.seal(tenant_id, share, context=context).hex()))
    return Marks(_digest(key, request), json.dumps(shares, separators=(",", ":")))


def is_same(keys: PayloadKeysPort, request: IdempotentRequest, marks: Marks) -> bool:
    """Whether the marks are of this request. PayloadUnreadable once a key of them is gone."""
    shares: Sequence[tuple[str, str]] = json.loads(marks.shares)
    if not shares:  # by a release that kept the fingerprint as it came
        return hmac.compare_digest(marks.digest, request.fingerprint)
    context = _context(request)
    opened = [keys.open(each, bytes.fromhex(share), context=context) for each, share in shares]
    return hmac.compare_digest(marks.digest, _digest(b"".join(opened), request))


def _tenants_with_secrets(changes: Iterable[Change]) -> set[str]:
    return {
        change.target.tenant_id if isinstance(change, PutTarget) else change.tenant_id
        for change in changes
        if isinstance(change, PutTarget | PutTrigger | RunTrigger) and _brings_secret(change)
    }


def _brings_secret(change: PutTarget | PutTrigger | RunTrigger) -> bool:
    if isinstance(change, PutTarget):
        return change.target.secret is not None
    if isinstance(change, PutTrigger):
        return change.definition.payload is not None
    return change.payload is not None


def _context(request: IdempotentRequest) -> str:
    """The shares of one request open no other's digest."""
    return json.dumps(["request", request.principal_id, request.key])


def _digest(key: bytes, request: IdempotentRequest) -> str:
    return hmac.digest(key, request.fingerprint.encode(), _DIGEST).hex()
