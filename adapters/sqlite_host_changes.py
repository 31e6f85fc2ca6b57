"""Changes of the hosts that operators vouch for, inside the caller's transaction."""

from adapters.sqlite_change_session import ChangeSession, check_note
from adapters.sqlite_refused import refused
from adapters.sqlite_target_changes import set_ownership
from adapters.sqlite_targets import TargetRow, is_host_allowed
from ports.changes import AllowHost, ChangeKind, ChangeResult, DisallowHost
from ports.errors import ProblemKind
from scheduling.vocabulary import OwnershipState
from schemas.origins import host_of, normal_host


def allow_host(session: ChangeSession, change: AllowHost) -> ChangeResult:
    """Vouch for a host; targets there that were unusable become allow-listed."""
    host = _checked(session, change)
    if _is_listed(session, change.tenant_id, host):
        return _result(ChangeKind.UNCHANGED, change.tenant_id, host)
    session.execute("host_allow", change.tenant_id or "", host, session.actor, session.now_us)
    session.audit("host_allowed", change.tenant_id, host, note=change.note)
    for key, found in _targets_on(session, change.tenant_id, host):
        if not found.is_usable:
            set_ownership(
                session, key, found=found, state=OwnershipState.ALLOWED.value, note=change.note
            )
    return _result(ChangeKind.CREATED, change.tenant_id, host)


def disallow_host(session: ChangeSession, change: DisallowHost) -> ChangeResult:
    """Take it back; targets that nothing else vouches for become pending."""
    host = _checked(session, change)
    if not _is_listed(session, change.tenant_id, host):
        scope = "all tenants" if change.tenant_id is None else change.tenant_id
        text = f"host: {host} is not allowed for {scope}: list the allowed hosts"
        raise refused(text, ProblemKind.NOT_FOUND, "host")
    session.execute("host_disallow", change.tenant_id or "", host)
    session.audit("host_disallowed", change.tenant_id, host, note=change.note)
    for key, found in _targets_on(session, change.tenant_id, host):
        rested_on_it = found.ownership == OwnershipState.ALLOWED and not is_host_allowed(
            session.connection, session.sql, key[0], found.endpoint
        )
        if rested_on_it:
            set_ownership(
                session, key, found=found, state=OwnershipState.PENDING.value, note=change.note
            )
    return _result(ChangeKind.DELETED, change.tenant_id, host)


def _checked(session: ChangeSession, change: AllowHost | DisallowHost) -> str:
    check_note(change.note)
    if change.tenant_id is not None:
        session.need_tenant(change.tenant_id)
    try:
        return normal_host(change.host)
    except ValueError as error:
        raise refused(str(error), ProblemKind.INVALID, "host") from error


def _is_listed(session: ChangeSession, tenant_id: str | None, host: str) -> bool:
    return session.execute("host_is_listed", tenant_id or "", host).fetchone() is not None


def _targets_on(
    session: ChangeSession, tenant_id: str | None, host: str
) -> list[tuple[tuple[str, str], TargetRow]]:
    """The tenant's or all targets there; endpoints are compared as text by no index."""
    whole = session.sql["targets_whole"]
    rows = session.connection.execute(whole, {"tenant_id": tenant_id}).fetchall()
    found = [((row[0], row[1]), TargetRow._make(row[2:])) for row in rows]
    return [(key, target) for key, target in found if host_of(target.endpoint) == host]


def _result(kind: ChangeKind, tenant_id: str | None, host: str) -> ChangeResult:
    return ChangeResult(kind=kind, subject=host, tenant_id=tenant_id or "")
