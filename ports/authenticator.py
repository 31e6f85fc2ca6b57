"""The authenticator port: whose credentials a request carries."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ports.principals import GrantKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A proven caller and its grants, as (kind, tenant or None for the platform)."""

    principal_id: str
    grants: frozenset[tuple[GrantKind, str | None]]

    def holds(self, kind: GrantKind, tenant_id: str | None) -> bool:
        """Whether the grant covers the tenant; None asks for the platform."""
        if (kind, None) in self.grants or (kind, tenant_id) in self.grants:
            return True
        return kind is GrantKind.READ and any(
            held_tenant in (None, tenant_id) for _, held_tenant in self.grants
        )

    def tenants(self, kind: GrantKind = GrantKind.READ) -> frozenset[str] | None:
        """The tenants on which it holds the grant, so those it may read; None for all."""
        held = {
            tenant_id for held_kind, tenant_id in self.grants if kind in (held_kind, GrantKind.READ)
        }
        return None if None in held else frozenset(t for t in held if t is not None)


class AuthenticatorPort(ABC):
    """Proves who calls. It never says why it refused: that would help a guesser."""

    @abstractmethod
    def authenticate(self, bearer: str, *, now_us: int) -> Principal | None:
        """The principal of a bearer token; None for an unknown, expired or revoked one.

        A revocation holds at once in this process, and within five seconds in others.
        Raises StoreUnavailable.
        """

    def remembered(self, bearer: str, *, now_us: int) -> Principal | None:
        """The same, of a token that was proven just now: waits for nothing, and asks nobody.

        None for every other token, which has to be proven.
        """
        return None

    def forget(self) -> None:
        """Tokens or grants were changed by this process: remember nothing of them."""
        return None
