"""Changes of tenants, inside the caller's transaction."""

from dataclasses import replace
from typing import Final

from adapters.sqlite_change_session import ChangeSession, check_revision, differing
from ports.changes import ChangeKind, ChangeResult, DeletePayloadKey, PutTenant
from ports.records import TenantRecord

_FIELDS: Final = (
    "quota_triggers",
    "quota_dispatch_per_s",
    "quota_inflight",
    "catchup_rate_pct",
    "smear_s",
)


def put_tenant(session: ChangeSession, change: PutTenant) -> ChangeResult:
    """Create, or replace the quotas and the smear."""
    tenant = change.tenant
    tenant_id = tenant.tenant_id
    found = session.execute("registry_tenant", tenant_id).fetchone()
    revision = 0 if found is None else found[-1]
    check_revision(
        f"tenant {tenant_id}",
        change.expected_revision,
        found=revision,
        must_exist=change.must_exist,
    )
    wanted = tuple(getattr(tenant, field) for field in _FIELDS)
    if found is not None and found[1:-1] == wanted:
        left = replace(tenant, revision=revision)
        return _result(ChangeKind.UNCHANGED, tenant_id, revision, left=left)
    session.execute("registry_put_tenant", tenant_id, *wanted, session.now_us)
    prior = None if found is None else dict(zip(_FIELDS, found[1:-1], strict=True))
    new = differing(prior, dict(zip(_FIELDS, wanted, strict=True)))
    session.audit("tenant_put", tenant_id, tenant_id, prior=prior, new=new)
    kind = ChangeKind.EDITED if found else ChangeKind.CREATED
    left = replace(tenant, revision=revision + 1)
    return _result(kind, tenant_id, revision + 1, left=left)


def delete_payload_key(session: ChangeSession, change: DeletePayloadKey) -> ChangeResult:
    """The entry alone."""
    session.need_tenant(change.tenant_id)
    session.audit("payload_key_deleted", change.tenant_id, change.tenant_id)
    return _result(ChangeKind.DELETED, change.tenant_id, None)


def _result(
    kind: ChangeKind, tenant_id: str, revision: int | None, *, left: TenantRecord | None = None
) -> ChangeResult:
    return ChangeResult(
        kind=kind, subject=tenant_id, tenant_id=tenant_id, revision=revision, left=left
    )
