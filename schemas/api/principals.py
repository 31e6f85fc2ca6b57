"""Tokens, grants, allowed hosts, quotas and the audit, as the API takes and shows them."""

from typing import Any, Literal

from pydantic import Field

from scheduling.limits import (
    HEADER_CHARS_MAX,
    NOTE_CHARS_MAX,
    QUOTA_DISPATCH_PER_S_MAX,
    QUOTA_INFLIGHT_MAX,
    QUOTA_TRIGGERS_MAX,
)
from scheduling.vocabulary import ChangeKind
from schemas.api.common import In, Instant, Out
from schemas.manifest_fields import Duration

TokenState = Literal["good", "expired", "revoked"]
Kind = Literal["read", "author", "policy", "operator", "auditor"]
PRINCIPAL_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9:@._-]{0,127}$"


class GrantIn(In):
    """One grant; without a tenant it holds for the whole platform."""

    kind: Kind
    tenant: str | None = None


class TokenIn(In):
    """A new token of a principal, with the grants that it is to hold.

    expires_in:  as in 90d; without it the token is good until it is revoked
    """

    principal: str = Field(pattern=PRINCIPAL_PATTERN)
    grants: list[GrantIn] = Field(default=[], max_length=100)
    expires_in: Duration | None = Field(default=None, ge=60)


class TokenCreated(Out):
    """`token` is shown this once: only its hash is kept."""

    token: str
    token_id: str
    principal: str
    expires_at: Instant | None


class TokenOut(Out):
    token_id: str
    principal: str
    state: TokenState
    created_by: str
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None


class GrantOut(Out):
    principal: str
    kind: Kind
    tenant: str | None


class HostIn(In):
    note: str | None = Field(default=None, min_length=1, max_length=NOTE_CHARS_MAX)


class HostOut(Out):
    """A host that an operator vouches for; `tenant` null holds for all tenants."""

    host: str
    tenant: str | None
    allowed_by: str
    allowed_at: Instant


class QuotaIn(In):
    """What is left out stays as it is."""

    quota_triggers: int | None = Field(default=None, ge=1, le=QUOTA_TRIGGERS_MAX)
    quota_dispatch_per_s: int | None = Field(default=None, ge=1, le=QUOTA_DISPATCH_PER_S_MAX)
    quota_inflight: int | None = Field(default=None, ge=1, le=QUOTA_INFLIGHT_MAX)
    catchup_rate_pct: int | None = Field(default=None, ge=1, le=100)


class FieldChange(Out):
    """A field that an edit changed: its value before and after, as JSON."""

    field: str
    prior: Any
    new: Any


class AuditOut(Out):
    """Who did what to which subject, and what it was before. Entries are never changed.

    changes:  of an edit, each field that it changed
    """

    audit_id: int
    at: Instant
    actor: str
    action: str
    tenant: str | None
    subject: str | None
    prior_value: str | None
    changes: list[FieldChange]
    note: str | None


class Done(Out):
    """What became of an act that has no body of its own."""

    change: ChangeKind
    subject: str = Field(max_length=10 * HEADER_CHARS_MAX)
