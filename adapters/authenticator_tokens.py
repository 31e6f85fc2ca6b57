"""The authenticator over the store's tokens: only their hashes are kept, here and there."""

import hashlib
import threading
from typing import Final, NamedTuple

from ports.authenticator import AuthenticatorPort, Principal
from ports.principals import PrincipalsPort
from scheduling.limits import TOKEN_CACHE_US, TOKENS_CACHED_MAX

TOKEN_PREFIX: Final = "pun_"  # noqa: S105 -- so that people and scanners know one when they see it
_TOKEN_CHARS_MAX: Final = 200


def token_hash(token: str) -> str:
    """What is stored. A token has 256 random bits, so that a plain digest is not guessed back."""
    return hashlib.sha256(token.encode()).hexdigest()


class _Known(NamedTuple):
    principal: Principal
    read_us: int
    expires_us: int | None


class TokenAuthenticator(AuthenticatorPort):
    """Reads a token's principal and grants, and remembers them for `TOKEN_CACHE_US`."""

    def __init__(self, principals: PrincipalsPort) -> None:
        self._principals = principals
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()
        self._generation = 0

    def forget(self) -> None:
        """Look everything up anew: tokens or grants were changed by this process."""
        with self._lock:
            self._known.clear()
            self._generation += 1

    def authenticate(self, bearer: str, *, now_us: int) -> Principal | None:
        remembered = self.remembered(bearer, now_us=now_us)
        if remembered is not None or not _is_shaped(bearer):
            return remembered
        known = self._read(token_hash(bearer), now_us)
        if known is None or _is_expired(known, now_us):
            return None
        return known.principal

    def remembered(self, bearer: str, *, now_us: int) -> Principal | None:
        known = self._known.get(token_hash(bearer)) if _is_shaped(bearer) else None
        if known is None or abs(now_us - known.read_us) >= TOKEN_CACHE_US:
            return None
        if _is_expired(known, now_us):
            return None
        return known.principal

    def _read(self, hashed: str, now_us: int) -> _Known | None:
        generation = self._generation
        token = self._principals.token(hashed)
        if token is None or token.revoked_us is not None:
            with self._lock:
                self._known.pop(hashed, None)
            return None
        grants = self._principals.grants(token.principal_id)
        principal = Principal(
            principal_id=token.principal_id,
            grants=frozenset((grant.kind, grant.tenant_id) for grant in grants),
        )
        known = _Known(principal, now_us, token.expires_us)
        with self._lock:
            if len(self._known) >= TOKENS_CACHED_MAX:
                self._known.clear()
            if generation == self._generation:  # or a change came between reading and this
                self._known[hashed] = known
        return known


def _is_expired(known: _Known, now_us: int) -> bool:
    return known.expires_us is not None and now_us >= known.expires_us


def _is_shaped(bearer: str) -> bool:
    """Nothing else is hashed or looked for."""
    return bearer.startswith(TOKEN_PREFIX) and len(bearer) <= _TOKEN_CHARS_MAX
