"""Targets: put, read, delete, and the proof of their host's owner."""

from dataclasses import replace

from control_api.call import Call
from control_api.operations.finding import check_mark, check_name, needs_match, tenant_of
from control_api.ownership import check_target
from control_api.ownership_text import ownership_text, ownership_url
from control_api.pages import Cursor
from control_api.problems import invalid, not_found, shown
from control_api.replies import Reply, etag_of_target, mark_of_target
from ports.changes import ChangeKind, ChangeResult, DeleteTarget, PutTarget
from ports.errors import ChangeProblem, ChangeRefused, PayloadUnreadable
from ports.principals import GrantKind
from ports.records import TargetRecord
from scheduling.vocabulary import USABLE_OWNERSHIP, OwnershipState
from schemas.api.common import Page
from schemas.api.principals import Done
from schemas.api.tenants import OwnershipOut, SecretOut, TargetIn, TargetOut
from schemas.endpoints import check_endpoint, is_loopback_endpoint
from schemas.origins import host_of
from schemas.signing_secrets import check_secret


def put_target(call: Call, tenant_id: str, target_id: str, body: TargetIn) -> Reply[TargetOut]:
    """Create or replace a target. Its host is asked at once whose it is, where that matters.

    An unproven host does not refuse the target; it is unusable until it is proven.
    """
    call.require(GrantKind.AUTHOR, tenant_id, act="put a target")
    check_name("name", target_id)
    tenant_of(call, tenant_id)
    allow_loopback = call.services.settings.allow_loopback
    for problem in check_endpoint(body.url, allow_loopback):
        raise invalid("url", problem.removeprefix("endpoint: "))
    refused = check_secret(body.secret) if body.secret is not None else None
    if refused is not None:
        raise invalid("secret", f"{refused}, or leave it out to have one made")
    target = TargetRecord(
        tenant_id=tenant_id,
        target_id=target_id,
        endpoint=body.url,
        timeout_s=float(body.timeout_s),
        secret=body.secret,
    )
    (result,) = call.earlier() or [_put_anew(call, target)]
    created = result.kind is ChangeKind.CREATED
    left = _left(call, result)
    return Reply(
        body=target_out(left),
        status=201 if created else 200,
        etag=etag_of_target(left),
        location=f"/v1/tenants/{tenant_id}/targets/{target_id}" if created else None,
        replayed=result.replayed,
    )


def get_target(call: Call, tenant_id: str, target_id: str) -> Reply[TargetOut]:
    """One target, without its secret."""
    target = target_of(call, tenant_id, target_id)
    return Reply(body=target_out(target), etag=etag_of_target(target))


def list_targets(call: Call, tenant_id: str, *, cursor: Cursor) -> Reply[Page[TargetOut]]:
    """A tenant's targets by name."""
    tenant_of(call, tenant_id)
    cursor = cursor.of("targets", tenant_id)
    (after,) = cursor.place(1) or ("",)
    found = call.services.store.registry.targets(
        tenant_id, after=(tenant_id, after), limit=cursor.limit
    )
    return Reply(body=cursor.page(found, target_out, lambda each: (each.target_id,)))


def delete_target(call: Call, tenant_id: str, target_id: str) -> Reply[Done]:
    """Delete a target that no trigger uses."""
    call.require(GrantKind.AUTHOR, tenant_id, act="delete a target")
    delete = DeleteTarget(
        tenant_id=tenant_id, target_id=target_id, expected_revision=call.match.revision
    )
    earlier = call.earlier()
    if not earlier:
        _check_known(call, tenant_id, target_id)
    (result,) = earlier or call.apply(delete)
    return Reply(body=Done(change=result.kind, subject=target_id), replayed=result.replayed)


def verify_target(call: Call, tenant_id: str, target_id: str) -> Reply[TargetOut]:
    """Ask the target's host now whose it is."""
    call.require(GrantKind.AUTHOR, tenant_id, act="verify a target")
    if earlier := call.earlier():
        left = _left(call, earlier[0])
        return Reply(body=target_out(left), etag=etag_of_target(left), replayed=True)
    target = target_of(call, tenant_id, target_id)
    checked = check_target(
        call.services.store.registry,
        call.services.host_checks.asker(call.services.ownership, tenant_id),
        target=target,
        now_us=call.services.gate.now_us(),
        actor=call.principal.principal_id,
        request=call.request,
    )
    target = target_of(call, tenant_id, target_id)
    return Reply(body=target_out(target), etag=etag_of_target(target), replayed=checked.replayed)


def read_secret(call: Call, tenant_id: str, target_id: str) -> Reply[SecretOut]:
    """The signing secret, for whoever configures the receiver."""
    call.require(GrantKind.AUTHOR, tenant_id, act="read a signing secret")
    target_of(call, tenant_id, target_id)
    try:
        secret = call.services.store.registry.target_secret(tenant_id, target_id)
    except PayloadUnreadable:
        secret = None
    if secret is None:
        raise not_found("secret", "its key is deleted: put the target again to have one made")
    call.tell_audit("secret_shown", tenant_id, target_id)
    return Reply(body=SecretOut(secret=secret))


def target_of(call: Call, tenant_id: str, target_id: str) -> TargetRecord:
    """The target of that name; 404 otherwise."""
    tenant_of(call, tenant_id)
    target = _known(call, tenant_id, target_id)
    if target is not None:
        return target
    raise not_found("target", f"{shown(tenant_id)} has no target {shown(target_id)}")


def how_to_prove(call: Call, tenant_id: str, target_id: str) -> str:
    """What its host has to serve where, before a trigger may use the target."""
    target = target_of(call, tenant_id, target_id)
    return (
        f"let {ownership_url(target.endpoint)} serve the line "
        f"{ownership_text(tenant_id, target.endpoint)} as text/plain, then POST "
        f"/v1/tenants/{tenant_id}/targets/{target_id}:verify"
    )


def target_out(target: TargetRecord) -> TargetOut:
    """A target as the API shows it."""
    return TargetOut(
        tenant=target.tenant_id,
        name=target.target_id,
        revision=target.revision,
        url=target.endpoint,
        timeout_s=target.timeout_s,
        ownership=OwnershipOut(
            state=target.ownership,
            is_usable=target.ownership in USABLE_OWNERSHIP,
            verified_at=target.verified_us,
            checked_at=target.checked_us,
            detail=target.check_detail,
            serve_at=ownership_url(target.endpoint),
            serve_text=ownership_text(target.tenant_id, target.endpoint),
        ),
    )


def _known(call: Call, tenant_id: str, target_id: str) -> TargetRecord | None:
    return call.services.store.registry.target(tenant_id, target_id)


def _left(call: Call, result: ChangeResult) -> TargetRecord:
    """The target as a change left it, whatever has become of it since."""
    if isinstance(result.left, TargetRecord):
        return result.left
    return target_of(call, result.tenant_id, result.subject)


def _put_anew(call: Call, target: TargetRecord) -> ChangeResult:
    known = _check_known(call, target.tenant_id, target.target_id)
    return _put(call, _change(call, target, known))


def _check_known(call: Call, tenant_id: str, target_id: str) -> TargetRecord | None:
    """The target that is there; it must be the one that the ETag is of."""
    known = _known(call, tenant_id, target_id)
    if known is not None:
        check_mark(call, "target", mark=mark_of_target(known))
    return known


def _change(call: Call, target: TargetRecord, known: TargetRecord | None) -> PutTarget:
    """What a new endpoint counts as; the store keeps what it knows of an origin it has."""
    settings = call.services.settings
    if settings.allow_loopback and is_loopback_endpoint(target.endpoint):
        return PutTarget(target=target, ownership=OwnershipState.LOCAL)
    if known is not None and known.endpoint == target.endpoint:
        return PutTarget(target=target, ownership=known.ownership)
    if _is_vouched_for(call, target):
        return PutTarget(target=target, ownership=OwnershipState.ALLOWED)
    expected = ownership_text(target.tenant_id, target.endpoint)
    host_checks, ownership = call.services.host_checks, call.services.ownership
    asker = host_checks.asker(ownership, target.tenant_id)
    answer = asker.check(target.endpoint, expected=expected)
    return PutTarget(
        target=target,
        ownership=OwnershipState.PROVEN if answer.is_proven else OwnershipState.PENDING,
        check_detail=answer.detail,
    )


def _in_our_words(problem: ChangeProblem) -> ChangeProblem:
    if problem.field != "endpoint":
        return problem
    return problem._replace(field="url", text=problem.text.replace("endpoint", "url", 1))


def _is_vouched_for(call: Call, target: TargetRecord) -> bool:
    host = host_of(target.endpoint)
    return any(
        each.host == host and each.tenant_id in (None, target.tenant_id)
        for each in call.services.store.registry.allowed_hosts()
    )


def _put(call: Call, change: PutTarget) -> ChangeResult:
    expected = call.expected_revision if call.match.is_given else 0
    try:
        (result,) = call.apply(
            replace(change, expected_revision=expected, must_exist=call.match.anything)
        )
    except ChangeRefused as refused:
        if call.match.is_given or not refused.is_stale:
            raise ChangeRefused(tuple(map(_in_our_words, refused.details))) from None
        (result,) = call.apply(change, dry_run=True)
        if result.kind is not ChangeKind.UNCHANGED:
            what = f"the target {change.target.tenant_id}/{change.target.target_id}"
            raise needs_match(what) from None
    return result
