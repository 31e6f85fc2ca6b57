"""Tenants and targets, as the API takes and shows them."""

from pydantic import Field

from scheduling.limits import (
    SMEAR_S_MAX,
    TARGET_TIMEOUT_S_DEFAULT,
    TARGET_TIMEOUT_S_MAX,
    TARGET_URL_CHARS_MAX,
)
from scheduling.vocabulary import OwnershipState
from schemas.api.common import In, Instant, Out


class TenantIn(In):
    """smear_s: of triggers that name none; left out it stays as it is"""

    smear_s: int | None = Field(default=None, ge=0, le=SMEAR_S_MAX)


class TenantOut(Out):
    """A tenant with its quotas, which are set under /quota."""

    tenant: str
    revision: int
    smear_s: int
    quota_triggers: int
    quota_dispatch_per_s: int
    quota_inflight: int
    catchup_rate_pct: int


class OwnershipOut(Out):
    """What is known of the owner of the target's host.

    is_usable:  whether fires are sent there
    serve_at:   where the host has to serve `serve_text` on a line of its own, to prove its owner
    """

    state: OwnershipState
    is_usable: bool
    verified_at: Instant | None
    checked_at: Instant | None
    detail: str | None
    serve_at: str
    serve_text: str


class TargetOut(Out):
    """A target; its signing secret is shown under /secret."""

    tenant: str
    name: str
    revision: int
    url: str
    timeout_s: float
    ownership: OwnershipOut


class SecretOut(Out):
    """For the receiver: it checks `webhook-signature` with it (Standard Webhooks)."""

    secret: str


class TargetIn(In):
    """secret: of the signatures, as `whsec_...`; without, the stored one stays or one is made"""

    url: str = Field(min_length=1, max_length=TARGET_URL_CHARS_MAX)
    timeout_s: int = Field(default=TARGET_TIMEOUT_S_DEFAULT, ge=1, le=TARGET_TIMEOUT_S_MAX)
    secret: str | None = Field(default=None, repr=False, max_length=200)
