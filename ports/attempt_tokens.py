"""The attempt token port: a credential that names one attempt of one fire."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from scheduling.keys import FireKey


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptClaims:
    """What a genuine token says; `expires_us` is the end of its attempt."""

    key: FireKey
    n: int
    issued_us: int
    expires_us: int


class AttemptTokensPort(ABC):
    """A token lives as long as its attempt and names one trigger.

    Outcomes come later than that: whoever takes them judges the time by the outcome window.
    """

    @abstractmethod
    def mint(self, key: FireKey, n: int, *, audience: str, now_us: int, expires_us: int) -> str:
        """A signed token for one attempt, to be shown by the target that received it.

        A JWT with `iss` punctual, `aud` as given, `sub` tenant/trigger id, `jti` fire key#n, and
        `iat` and `exp` in whole seconds that hold the given times between them. Dispatchers mint
        on their event loop: it waits for nothing.
        """

    @abstractmethod
    def verify(self, token: str) -> AttemptClaims | None:
        """The claims of a genuine token, expired or not; None for any other text."""

    @abstractmethod
    def public_keys(self) -> dict[str, Any]:
        """The JSON Web Key Set (RFC 7517) with which targets check tokens offline."""
