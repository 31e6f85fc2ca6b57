"""Changes of tokens and grants, inside the caller's transaction. No hash is ever audited."""

from adapters.sqlite_change_session import ChangeSession
from adapters.sqlite_refused import Refused, refused
from ports.changes import (
    AddGrant,
    ChangeKind,
    ChangeResult,
    CreateToken,
    RemoveGrant,
    RevokeToken,
)
from ports.errors import ProblemKind
from ports.principals import GrantKind, GrantRecord
from scheduling.limits import NAME_CHARS_MAX


def create_token(session: ChangeSession, change: CreateToken) -> ChangeResult:
    """Refused as a conflict when the id or the hash is known already."""
    if change.expires_us is not None and change.expires_us <= session.now_us:
        text = "expires: is over already: name a later time, or none"
        raise refused(text, ProblemKind.INVALID, "expires")
    known = (change.token_id, change.token_hash)
    if session.execute("principals_token_is_known", *known).fetchone():
        text = f"token: {change.token_id!r} exists already: ask for a new one"
        raise refused(text, ProblemKind.CONFLICT, "token")
    if change.expected_grants is not None:
        _check_grants(session, change.principal_id, change.expected_grants)
    _make_principal(session, change.principal_id)
    session.execute(
        "principals_insert_token",
        change.token_id,
        change.principal_id,
        change.token_hash,
        session.actor,
        session.now_us,
        change.expires_us,
    )
    session.audit("token_created", None, change.token_id, note=f"of {change.principal_id}")
    return ChangeResult(kind=ChangeKind.CREATED, subject=change.token_id, tenant_id="")


def revoke_token(session: ChangeSession, change: RevokeToken) -> ChangeResult:
    """A revoked token changes nothing."""
    found = session.execute("principals_token_by_id", change.token_id).fetchone()
    if found is None:
        text = f"token: there is no token {change.token_id!r}: list the tokens"
        raise refused(text, ProblemKind.NOT_FOUND, "token")
    principal_id, expires_us, revoked_us = found
    if revoked_us is not None:
        return ChangeResult(kind=ChangeKind.UNCHANGED, subject=change.token_id, tenant_id="")
    session.execute("principals_revoke_token", session.now_us, change.token_id)
    prior = {"principal": principal_id, "expires_us": expires_us}
    session.audit("token_revoked", None, change.token_id, prior=prior)
    return ChangeResult(kind=ChangeKind.REVOKED, subject=change.token_id, tenant_id="")


def add_grant(session: ChangeSession, change: AddGrant) -> ChangeResult:
    """A grant that is held changes nothing."""
    grant = change.grant
    if grant.tenant_id is not None:
        session.need_tenant(grant.tenant_id)
    if change.expected_tokens is not None:
        rows = session.execute("principals_live_tokens", grant.principal_id)
        if {token_id for (token_id,) in rows} != change.expected_tokens:
            raise _moved(grant.principal_id, "tokens")
    _make_principal(session, grant.principal_id)
    if _is_held(session, grant):
        return _grant_result(ChangeKind.UNCHANGED, grant)
    session.execute(
        "principals_insert_grant",
        grant.principal_id,
        grant.tenant_id or "",
        grant.kind.value,
        session.actor,
        session.now_us,
    )
    session.audit("grant_added", grant.tenant_id, grant.principal_id, note=grant.kind.value)
    return _grant_result(ChangeKind.CREATED, grant)


def remove_grant(session: ChangeSession, change: RemoveGrant) -> ChangeResult:
    """A grant that is not held is not found."""
    grant = change.grant
    if not _is_held(session, grant):
        scope = "the platform" if grant.tenant_id is None else grant.tenant_id
        text = (
            f"grant: {grant.principal_id!r} does not hold {grant.kind} on {scope}: list the grants"
        )
        raise refused(text, ProblemKind.NOT_FOUND, "grant")
    session.execute("principals_delete_grant", *_key(grant))
    prior = {"kind": grant.kind.value}
    session.audit("grant_removed", grant.tenant_id, grant.principal_id, prior=prior)
    return _grant_result(ChangeKind.DELETED, grant)


def _check_grants(
    session: ChangeSession, principal_id: str, expected: frozenset[GrantRecord]
) -> None:
    wanted = {
        "principal_id": principal_id,
        "after_tenant_id": "",
        "after_kind": "",
        "row_limit": -1,
    }
    rows = session.connection.execute(session.sql["principals_grants_of"], wanted)
    held = {GrantRecord(holder, GrantKind(kind), tenant or None) for holder, kind, tenant in rows}
    if held != expected:
        raise _moved(principal_id, "grants")


def _moved(principal_id: str, what: str) -> Refused:
    text = f"principal: the {what} of {principal_id!r} have changed meanwhile: send it again"
    return refused(text, ProblemKind.STALE, "principal")


def _make_principal(session: ChangeSession, principal_id: str) -> None:
    if not 0 < len(principal_id) <= NAME_CHARS_MAX or not principal_id.isprintable():
        text = f"principal: use 1 to {NAME_CHARS_MAX} printable characters"
        raise refused(text, ProblemKind.INVALID, "principal")
    session.execute("principals_insert_principal", principal_id, session.actor, session.now_us)


def _key(grant: GrantRecord) -> tuple[str, str, str]:
    return (grant.principal_id, grant.tenant_id or "", grant.kind.value)


def _is_held(session: ChangeSession, grant: GrantRecord) -> bool:
    return session.execute("principals_grant_is_held", *_key(grant)).fetchone() is not None


def _grant_result(kind: ChangeKind, grant: GrantRecord) -> ChangeResult:
    return ChangeResult(kind=kind, subject=grant.principal_id, tenant_id=grant.tenant_id or "")
