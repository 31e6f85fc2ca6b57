"""Changes of targets and of what is known of their owners, inside the caller's transaction."""

from dataclasses import dataclass, replace

from adapters.sqlite_change_session import ChangeSession, check_revision, differing
from adapters.sqlite_definitions import delete_payload, put_secret, read_payload
from adapters.sqlite_refused import refused
from adapters.sqlite_targets import (
    TargetRow,
    is_host_allowed,
    is_usable,
    name_of_a_user,
    read_target,
    read_target_shown,
)
from ports.changes import ChangeKind, ChangeResult, DeleteTarget, PutTarget, RecordOwnership
from ports.errors import PayloadUnreadable, ProblemKind
from ports.records import TargetRecord
from scheduling.vocabulary import OwnershipState
from schemas.origins import origin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ownership:
    """What is known of a target's owner from now on."""

    state: str
    verified_us: int | None = None
    checked_us: int | None = None
    detail: str | None = None


def put_target(session: ChangeSession, change: PutTarget) -> ChangeResult:
    """Create or replace; a move of a target in use to an unproven host is refused."""
    target = change.target
    key = (target.tenant_id, target.target_id)
    session.need_tenant(target.tenant_id)
    found = read_target(session.connection, session.sql, *key)
    revision = 0 if found is None else found.revision
    check_revision(
        f"target {'/'.join(key)}",
        change.expected_revision,
        found=revision,
        must_exist=change.must_exist,
    )
    ownership = _ownership(session, change, found)
    secret_ref, previous_ref = _secret_refs(session, target, found)
    wanted = TargetRow(
        target.endpoint,
        target.timeout_s,
        target.kind,
        secret_ref,
        previous_ref,
        ownership.state,
        ownership.verified_us,
        ownership.checked_us,
        ownership.detail,
        revision,
    )
    if found == wanted:
        return _left(session, ChangeKind.UNCHANGED, key)
    session.execute("registry_put_target", *key, *wanted[:-1], session.now_us)
    prior = None if found is None else _told(found)
    is_new_secret = found is not None and found.secret_ref != secret_ref
    session.audit(
        "target_put",
        *key,
        prior=prior,
        new=differing(prior, _told(wanted)),
        note="its signing secret was replaced" if is_new_secret else None,
    )
    kind = ChangeKind.CREATED if found is None else ChangeKind.EDITED
    return _left(session, kind, key)


def delete_target(session: ChangeSession, change: DeleteTarget) -> ChangeResult:
    """Delete it with its secrets, unless a trigger or a waiting fire needs it."""
    key = (change.tenant_id, change.target_id)
    found = read_target(session.connection, session.sql, *key)
    if found is None:
        text = f"target: {change.tenant_id} has no target {change.target_id!r}"
        raise refused(text, ProblemKind.NOT_FOUND, "target")
    check_revision(f"target {'/'.join(key)}", change.expected_revision, found=found.revision)
    user = name_of_a_user(session.connection, session.sql, *key)
    if user is not None:
        text = (
            f"target: {'/'.join(key)} is used by the trigger {user!r}: point its triggers at "
            "another target, or delete them, and let their waiting fires end"
        )
        raise refused(text, ProblemKind.CONFLICT, "target")
    session.execute("target_delete", *key)
    for payload_ref in (found.secret_ref, found.previous_secret_ref):
        if payload_ref is not None:
            delete_payload(session.connection, session.context, payload_ref=payload_ref)
    session.audit("target_deleted", *key, prior=_told(found))
    return _result(ChangeKind.DELETED, *key, revision=found.revision)


def record_ownership(session: ChangeSession, change: RecordOwnership) -> ChangeResult:
    """The check's time and finding, and the state; what an operator allowed stays allowed.

    Only a new state is a new revision, and audited: the daily re-checks of a proven host are not.
    """
    key = (change.tenant_id, change.target_id)
    found = read_target(session.connection, session.sql, *key)
    if found is None or found.endpoint != change.endpoint:
        return _result(ChangeKind.UNCHANGED, *key, revision=found and found.revision)
    state = found.ownership if change.ownership is None else change.ownership.value
    if found.ownership == OwnershipState.ALLOWED and not is_usable(state):
        state = found.ownership
    is_proof = change.ownership is OwnershipState.PROVEN
    verified_us = session.now_us if is_proof else found.verified_us
    session.execute("target_record_check", verified_us, session.now_us, change.detail, *key)
    if state == found.ownership:
        return _left(session, ChangeKind.UNCHANGED, key)
    set_ownership(session, key, found=found, state=state, note=change.detail)
    return _left(session, ChangeKind.EDITED, key)


def set_ownership(
    session: ChangeSession,
    key: tuple[str, str],
    *,
    found: TargetRow,
    state: str,
    note: str | None,
) -> None:
    """Another state, which is another revision."""
    session.execute("target_set_ownership", state, *key)
    session.audit(
        "target_ownership",
        *key,
        prior={"ownership": found.ownership},
        new={"ownership": state},
        note=note,
    )


def _ownership(session: ChangeSession, change: PutTarget, found: TargetRow | None) -> _Ownership:
    """What was known of the same origin stays, unless it has become usable."""
    target = change.target
    try:
        origin = origin_of(target.endpoint)
    except ValueError as error:
        raise refused(str(error), ProblemKind.INVALID, "endpoint") from error
    is_same = found is not None and origin_of(found.endpoint) == origin
    if found is not None and is_same and found.is_usable:
        return _known(found)
    if is_usable(change.ownership):
        is_proven = change.ownership is OwnershipState.PROVEN
        at_us = session.now_us if is_proven else None
        return _Ownership(
            state=change.ownership.value,
            verified_us=at_us,
            checked_us=at_us,
            detail=change.check_detail,
        )
    if is_host_allowed(session.connection, session.sql, target.tenant_id, target.endpoint):
        return _Ownership(state=OwnershipState.ALLOWED.value)
    if found is not None and is_same:
        return _known(found)
    _refuse_move_in_use(session, target, found)
    return _Ownership(
        state=OwnershipState.PENDING.value,
        checked_us=None if change.check_detail is None else session.now_us,
        detail=change.check_detail,
    )


def _known(found: TargetRow) -> _Ownership:
    return _Ownership(
        state=found.ownership,
        verified_us=found.verified_us,
        checked_us=found.checked_us,
        detail=found.check_detail,
    )


def _refuse_move_in_use(
    session: ChangeSession, target: TargetRecord, found: TargetRow | None
) -> None:
    if found is None:
        return
    user = name_of_a_user(session.connection, session.sql, target.tenant_id, target.target_id)
    if user is None:
        return
    text = (
        f"endpoint: the trigger {user!r} uses {target.tenant_id}/{target.target_id}, and the "
        "ownership of its new host is not proven: put a target of another name there, verify it "
        "and move the triggers, or ask an operator to allow the host"
    )
    raise refused(text, ProblemKind.CONFLICT, "endpoint")


def _secret_refs(
    session: ChangeSession, target: TargetRecord, found: TargetRow | None
) -> tuple[str | None, str | None]:
    """References of the current and the previous secret; a new one is sealed."""
    secret_ref, previous_ref = (
        (found.secret_ref, found.previous_secret_ref) if found else (None,) * 2
    )
    stored = _stored_secret(session, target.tenant_id, secret_ref)
    if stored is not None and target.secret in (None, stored):
        return secret_ref, previous_ref
    new_ref = put_secret(
        session.connection,
        session.context,
        target,
        secret=target.secret,
        previous_ref=secret_ref,
        now_us=session.now_us,
    )
    # Without its key the old one signs nothing any more.
    return new_ref, None if stored is None else secret_ref


def _stored_secret(session: ChangeSession, tenant_id: str, secret_ref: str | None) -> str | None:
    """None without one, or without the key to read it."""
    try:
        stored = read_payload(
            session.connection, session.context, tenant_id, payload_ref=secret_ref
        )
    except PayloadUnreadable:
        return None
    return None if stored is None else stored.decode()


def _told(found: TargetRow) -> dict[str, object]:
    return {
        "endpoint": found.endpoint,
        "timeout_s": found.timeout_s,
        "kind": found.kind,
        "ownership": found.ownership,
    }


def _left(session: ChangeSession, kind: ChangeKind, key: tuple[str, str]) -> ChangeResult:
    """With the target as it is now, inside the transaction."""
    left = read_target_shown(session.connection, session.sql, *key)
    result = _result(kind, *key, revision=None if left is None else left.revision)
    return replace(result, left=left)


def _result(
    kind: ChangeKind, tenant_id: str, target_id: str, *, revision: int | None
) -> ChangeResult:
    return ChangeResult(kind=kind, subject=target_id, tenant_id=tenant_id, revision=revision)
