"""The principals port: who may call, by which tokens, with which grants. Reads only.

Principals, tokens and grants are changed through the registry's change transaction, audited
like any other change.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class GrantKind(StrEnum):
    """What a principal may do; every kind includes `read` of the same scope, and no other kind."""

    READ = "read"
    AUTHOR = "author"  # definitions, pause, resume, run, cancel
    POLICY = "policy"  # horizons, quotas, approval of backfills
    OPERATOR = "operator"  # tenants, tokens, grants, allow-lists, keys
    AUDITOR = "auditor"  # the audit


class GrantRecord(NamedTuple):
    """One grant; `tenant_id` None holds for the whole platform."""

    principal_id: str
    kind: GrantKind
    tenant_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """A token without its secret."""

    token_id: str
    principal_id: str
    created_by: str
    created_us: int
    expires_us: int | None
    revoked_us: int | None


class PrincipalsPort(ABC):
    """Each call is one snapshot."""

    @abstractmethod
    def token(self, token_hash: str) -> TokenRecord | None:
        """The token of that hash, also when revoked or expired: the caller judges."""

    @abstractmethod
    def tokens(
        self, *, before: tuple[int, str] | None = None, limit: int | None = None
    ) -> list[TokenRecord]:
        """The tokens, newest first by (created_us, id), before one of these; at most `limit`."""

    @abstractmethod
    def grants(
        self,
        principal_id: str | None = None,
        *,
        after: GrantRecord | None = None,
        limit: int | None = None,
    ) -> list[GrantRecord]:
        """Grants of one principal or of all, by principal, tenant and kind, after one of these.

        In this order a grant on the platform comes first.
        """
