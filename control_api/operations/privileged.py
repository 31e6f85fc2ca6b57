"""Quotas, allowed hosts, the audit, and the end of a payload key."""

import json
import re
from typing import Final

from control_api.call import Call
from control_api.operations.finding import scope_of, tenant_of
from control_api.operations.tenants import merge_tenant, tenant_left, tenant_out
from control_api.pages import Cursor, bad_cursor
from control_api.problems import invalid
from control_api.replies import Reply, etag_after
from ports.changes import AllowHost, Change, DeletePayloadKey, DisallowHost
from ports.principals import GrantKind
from ports.records import AllowedHost, AuditRecord
from schemas.api.common import Page
from schemas.api.principals import AuditOut, Done, FieldChange, HostIn, HostOut, QuotaIn
from schemas.api.tenants import TenantOut

_ENTRY_ID: Final = re.compile(r"[0-9]{1,18}")


def set_quota(call: Call, tenant_id: str, body: QuotaIn) -> Reply[TenantOut]:
    """What a tenant may have and send; what the body leaves out stays as it is."""
    call.require(GrantKind.POLICY, tenant_id, act="set a quota")
    tenant_of(call, tenant_id)
    given = body.model_dump(exclude_none=True)
    if not given:
        raise invalid("quota_triggers", "name at least one quota to set")
    result = merge_tenant(call, tenant_id, given)
    return Reply(
        body=tenant_out(tenant_left(call, result)),
        etag=etag_after(result),
        replayed=result.replayed,
    )


def list_hosts(call: Call, *, cursor: Cursor) -> Reply[Page[HostOut]]:
    """The hosts that an operator vouches for, by name and tenant."""
    call.require(GrantKind.OPERATOR, None, act="list allowed hosts")
    cursor = cursor.of("hosts")
    host, tenant_id = cursor.place(2) or ("", "")
    found = call.services.store.registry.allowed_hosts(after=(host, tenant_id), limit=cursor.limit)
    return Reply(body=cursor.page(found, _host_out, lambda each: (each.host, each.tenant_id or "")))


def allow_host(call: Call, host: str, tenant_id: str | None, body: HostIn) -> Reply[Done]:
    """Vouch for a host: targets on it need no proof of their owner."""
    _check_scope(call, tenant_id)
    return _done(call, AllowHost(tenant_id=tenant_id, host=host, note=body.note))


def disallow_host(call: Call, host: str, tenant_id: str | None, body: HostIn) -> Reply[Done]:
    """Take it back: targets that rested on it have to be proven again."""
    _check_scope(call, tenant_id)
    return _done(call, DisallowHost(tenant_id=tenant_id, host=host, note=body.note))


def list_audit(
    call: Call,
    *,
    tenant_id: str | None,
    subject: str | None,
    actor: str | None,
    actions: list[str],
    from_us: int | None,
    through_us: int | None,
    cursor: Cursor,
) -> Reply[Page[AuditOut]]:
    """Entries that meet every condition, newest first."""
    tenant_id = scope_of(call, tenant_id, act="read the audit", kind=GrantKind.AUDITOR)
    cursor = cursor.of("audit")
    after = cursor.place(1)
    if after is not None and not _ENTRY_ID.fullmatch(after[0]):
        raise bad_cursor()
    found = call.services.store.audit.entries(
        tenant_id=tenant_id,
        subject=subject,
        actor=actor,
        actions=actions,
        from_us=from_us,
        through_us=through_us,
        before_id=None if after is None else int(after[0]),
        limit=cursor.limit,
    )
    return Reply(body=cursor.page(found, _audit_out, lambda each: (str(each.audit_id),)))


def delete_payload_key(call: Call, tenant_id: str) -> Reply[Done]:
    """Make every payload and signing secret of a tenant unreadable, for good."""
    call.require(GrantKind.OPERATOR, tenant_id, act="delete a payload key")
    (result,) = call.apply(DeletePayloadKey(tenant_id=tenant_id))
    # After its entry, and again in a repeat: a crash in between must not leave the key.
    call.services.payload_keys.delete(tenant_id)
    return Reply(body=Done(change=result.kind, subject=tenant_id), replayed=result.replayed)


def _check_scope(call: Call, tenant_id: str | None) -> None:
    call.require(GrantKind.OPERATOR, tenant_id, act="change allowed hosts")
    if tenant_id is not None:
        tenant_of(call, tenant_id)


def _done(call: Call, change: Change) -> Reply[Done]:
    (result,) = call.apply(change)
    return Reply(body=Done(change=result.kind, subject=result.subject), replayed=result.replayed)


def _host_out(host: AllowedHost) -> HostOut:
    return HostOut(
        host=host.host,
        tenant=host.tenant_id,
        allowed_by=host.allowed_by,
        allowed_at=host.allowed_us,
    )


def _changes(entry: AuditRecord) -> list[FieldChange]:
    if entry.new_value is None or entry.prior_value is None:
        return []
    prior = json.loads(entry.prior_value)
    return [
        FieldChange(field=name, prior=prior.get(name), new=value)
        for name, value in json.loads(entry.new_value).items()
    ]


def _audit_out(entry: AuditRecord) -> AuditOut:
    return AuditOut(
        audit_id=entry.audit_id or 0,
        at=entry.at_us,
        actor=entry.actor,
        action=entry.action,
        tenant=entry.tenant_id,
        subject=entry.subject,
        prior_value=entry.prior_value,
        changes=_changes(entry),
        note=entry.note,
    )
