"""Tenants: create, read, set their default smear."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from control_api.call import Call
from control_api.operations.finding import check_name, needs_match, tenant_of
from control_api.pages import Cursor
from control_api.replies import Reply, etag_after, etag_of
from ports.changes import ChangeKind, ChangeResult, PutTenant
from ports.errors import ChangeRefused
from ports.principals import GrantKind
from ports.records import TenantRecord
from scheduling.limits import (
    CATCHUP_RATE_PCT_DEFAULT,
    QUOTA_DISPATCH_PER_S_DEFAULT,
    QUOTA_INFLIGHT_DEFAULT,
    QUOTA_TRIGGERS_DEFAULT,
)
from schemas.api.common import Page
from schemas.api.tenants import TenantIn, TenantOut

_TRIES: Final = 20  # each lost one is another caller's success


def put_tenant(call: Call, tenant_id: str, body: TenantIn) -> Reply[TenantOut]:
    """Create a tenant with the default quotas, or set its default smear."""
    call.require(GrantKind.OPERATOR, None, act="put a tenant")
    check_name("tenant", tenant_id)
    given: dict[str, Any] = {} if body.smear_s is None else {"smear_s": body.smear_s}
    known = _known(call, tenant_id)
    if known is not None and call.match.anything:
        result = merge_tenant(call, tenant_id, given)
    else:
        default = new_tenant(tenant_id, smear_s=call.services.settings.smear_s_default)
        result = _put(call, replace(known or default, **given))
    created = result.kind is ChangeKind.CREATED
    return Reply(
        body=tenant_out(tenant_left(call, result)),
        status=201 if created else 200,
        etag=etag_after(result),
        location=f"/v1/tenants/{tenant_id}" if created else None,
        replayed=result.replayed,
    )


def get_tenant(call: Call, tenant_id: str) -> Reply[TenantOut]:
    """One tenant with its quotas."""
    tenant = tenant_of(call, tenant_id)
    return Reply(body=tenant_out(tenant), etag=etag_of(tenant.revision))


def list_tenants(call: Call, *, cursor: Cursor) -> Reply[Page[TenantOut]]:
    """The tenants that the caller may read, by name."""
    cursor = cursor.of("tenants")
    (after,) = cursor.place(1) or ("",)
    found = call.services.store.registry.tenants(
        among=call.principal.tenants(), after=after, limit=cursor.limit
    )
    return Reply(body=cursor.page(found, tenant_out, lambda each: (each.tenant_id,)))


def merge_tenant(call: Call, tenant_id: str, given: Mapping[str, Any]) -> ChangeResult:
    """Set some fields of a tenant and leave the others as they are at that moment.

    The store takes whole records, so the change rests on the revision that was read, and is
    made again on a newer one when somebody else was faster.
    """
    for left in reversed(range(_TRIES)):
        tenant = tenant_of(call, tenant_id)
        expected = tenant.revision if call.match.revision is None else call.match.revision
        change = PutTenant(tenant=replace(tenant, **given), expected_revision=expected)
        try:
            (result,) = call.apply(change)
        except ChangeRefused as refused:
            if call.match.revision is not None or not left or not refused.is_stale:
                raise
        else:
            return result
    raise AssertionError("the last try returns or raises")


def tenant_left(call: Call, result: ChangeResult) -> TenantRecord:
    """The tenant as a change left it, whatever has become of it since."""
    if isinstance(result.left, TenantRecord):
        return result.left
    return tenant_of(call, result.tenant_id)


def new_tenant(tenant_id: str, *, smear_s: int) -> TenantRecord:
    """A tenant with the service's default quotas."""
    return TenantRecord(
        tenant_id=tenant_id,
        quota_triggers=QUOTA_TRIGGERS_DEFAULT,
        quota_dispatch_per_s=QUOTA_DISPATCH_PER_S_DEFAULT,
        quota_inflight=QUOTA_INFLIGHT_DEFAULT,
        catchup_rate_pct=CATCHUP_RATE_PCT_DEFAULT,
        smear_s=smear_s,
    )


def tenant_out(tenant: TenantRecord) -> TenantOut:
    """A tenant as the API shows it."""
    return TenantOut(
        tenant=tenant.tenant_id,
        revision=tenant.revision,
        smear_s=tenant.smear_s,
        quota_triggers=tenant.quota_triggers,
        quota_dispatch_per_s=tenant.quota_dispatch_per_s,
        quota_inflight=tenant.quota_inflight,
        catchup_rate_pct=tenant.catchup_rate_pct,
    )


def _known(call: Call, tenant_id: str) -> TenantRecord | None:
    return next(iter(call.services.store.registry.tenants(tenant_id)), None)


def _put(call: Call, wanted: TenantRecord) -> ChangeResult:
    expected = call.expected_revision if call.match.is_given else 0
    try:
        change = PutTenant(
            tenant=wanted, expected_revision=expected, must_exist=call.match.anything
        )
        (result,) = call.apply(change)
    except ChangeRefused as refused:
        if call.match.is_given or not refused.is_stale:
            raise
        (result,) = call.apply(PutTenant(tenant=wanted), dry_run=True)
        if result.kind is not ChangeKind.UNCHANGED:
            raise needs_match(f"the tenant {wanted.tenant_id}") from None
    return result
