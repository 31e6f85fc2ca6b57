"""Tokens and grants: who may call, and what a caller may do."""

import re
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from adapters.authenticator_tokens import TOKEN_PREFIX, token_hash
from control_api.call import Call
from control_api.operations.finding import tenant_of
from control_api.operations.keepers import keepers_of
from control_api.pages import Cursor, bad_cursor
from control_api.problems import ApiProblem, FieldProblem, invalid
from control_api.replies import Reply
from ports.authenticator import Principal
from ports.changes import (
    AddGrant,
    Change,
    ChangeResult,
    CreateToken,
    RemoveGrant,
    RevokeToken,
)
from ports.errors import ChangeRefused
from ports.principals import GrantKind, GrantRecord, TokenRecord
from scheduling.instants import SECOND_US
from schemas.api.common import Page
from schemas.api.principals import (
    Done,
    GrantIn,
    GrantOut,
    TokenCreated,
    TokenIn,
    TokenOut,
    TokenState,
)

_TOKEN_BYTES: Final = 32
_ID_CHARS: Final = 12
_MICROSECONDS: Final = re.compile(r"[0-9]{1,18}")
_TRIES: Final = 5  # each lost one is another caller's change of the same principal


def new_token() -> tuple[str, str, str]:
    """(token, its id, its hash). The token itself is kept nowhere."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
    hashed = token_hash(token)
    return token, f"k{hashed[:_ID_CHARS]}", hashed


def create_token(call: Call, body: TokenIn) -> Reply[TokenCreated]:
    """A token of a principal. One gives only within a scope over which one is operator.

    It cannot be shown twice: a repeat with the same Idempotency-Key is refused.
    """
    grants = [_grant(call, body.principal, each) for each in body.grants]
    if earlier := call.earlier():
        raise _shown_once(earlier[0].subject)
    now_us = call.services.gate.now_us()
    expires_us = None if body.expires_in is None else now_us + body.expires_in * SECOND_US
    token, token_id, hashed = new_token()

    def changes() -> list[Change]:
        held, tokens = _checked_token(call, body, grants)
        create = CreateToken(
            principal_id=body.principal,
            token_id=token_id,
            token_hash=hashed,
            expires_us=expires_us,
            expected_grants=held,
        )
        known = tokens | {token_id}
        return [create, *(AddGrant(grant=each, expected_tokens=known) for each in grants)]

    result, *_ = _apply(call, changes)
    if result.replayed:
        raise _shown_once(result.subject)
    _forget(call)
    created = TokenCreated(
        token=token, token_id=token_id, principal=body.principal, expires_at=expires_us
    )
    return Reply(body=created, status=201)


def list_tokens(call: Call, *, cursor: Cursor) -> Reply[Page[TokenOut]]:
    """All tokens without their secrets, newest first."""
    call.require(GrantKind.OPERATOR, None, act="list tokens")
    now_us = call.now_us()
    cursor = cursor.of("tokens")
    place = cursor.place(2)
    if place is not None and not _MICROSECONDS.fullmatch(place[0]):
        raise bad_cursor()
    before = None if place is None else (int(place[0]), place[1])
    found = call.services.store.principals.tokens(before=before, limit=cursor.limit)
    page = cursor.page(
        found,
        lambda each: _token_out(each, now_us),
        lambda each: (str(each.created_us), each.token_id),
    )
    return Reply(body=page)


def revoke_token(call: Call, token_id: str) -> Reply[Done]:
    """Once and for good."""
    call.require(GrantKind.OPERATOR, None, act="revoke a token")
    if token_id.startswith(TOKEN_PREFIX):
        raise invalid("token_id", "this is a token itself: send its id, as GET /v1/tokens has it")
    (result,) = call.apply(RevokeToken(token_id=token_id))
    _forget(call)
    return Reply(body=Done(change=result.kind, subject=token_id), replayed=result.replayed)


def list_grants(call: Call, principal_id: str | None, *, cursor: Cursor) -> Reply[Page[GrantOut]]:
    """Who may do what, by principal, tenant and kind."""
    call.require(GrantKind.OPERATOR, None, act="list grants")
    cursor = cursor.of("grants")
    place = cursor.place(3)
    after = None if place is None else _grant_at(place)
    if after is not None and principal_id not in (None, after.principal_id):
        raise bad_cursor()
    found = call.services.store.principals.grants(principal_id, after=after, limit=cursor.limit)
    page = cursor.page(
        found,
        lambda each: GrantOut(
            principal=each.principal_id, kind=each.kind.value, tenant=each.tenant_id
        ),
        lambda each: (each.principal_id, each.tenant_id or "", each.kind.value),
    )
    return Reply(body=page)


def add_grant(call: Call, principal_id: str, grant: GrantIn) -> Reply[Done]:
    """Let a principal do more; a grant that it holds changes nothing."""
    wanted = _grant(call, principal_id, grant)

    def changes() -> list[Change]:
        tokens = None if call.earlier() else _check_makers(call, principal_id, [wanted])
        return [AddGrant(grant=wanted, expected_tokens=tokens)]

    (result,) = _apply(call, changes)
    return _done(call, result)


def remove_grant(call: Call, principal_id: str, grant: GrantIn) -> Reply[Done]:
    """Take a grant away: it holds at once here, within seconds in other processes."""
    return _change(call, RemoveGrant(grant=_grant(call, principal_id, grant)))


def _grant_at(place: Sequence[str]) -> GrantRecord:
    principal_id, tenant_id, kind = place
    try:
        return GrantRecord(principal_id, GrantKind(kind), tenant_id or None)
    except ValueError:
        raise bad_cursor() from None


def _checked_token(
    call: Call, body: TokenIn, grants: Sequence[GrantRecord]
) -> tuple[frozenset[GrantRecord], frozenset[str]]:
    """The grants and tokens of the principal under which the caller may make one."""
    held = call.services.store.principals.grants(body.principal)
    if not all(call.principal.holds(GrantKind.OPERATOR, grant.tenant_id) for grant in held):
        # The token acts with all that its principal holds; where, is not for everybody to know.
        call.refuse(GrantKind.OPERATOR, None, act="make a token of a stronger principal")
    tokens = _check_makers(call, body.principal, grants)
    if not grants and not held:
        raise invalid("grants", "the principal holds none: give at least one, or it can do nothing")
    return frozenset(held), tokens


def _grant(call: Call, principal_id: str, grant: GrantIn) -> GrantRecord:
    call.require(GrantKind.OPERATOR, grant.tenant, act="change grants")
    if grant.tenant is not None:
        tenant_of(call, grant.tenant)
    return GrantRecord(principal_id, GrantKind(grant.kind), grant.tenant)


def _check_makers(call: Call, principal_id: str, grants: Sequence[GrantRecord]) -> frozenset[str]:
    """Whoever may have kept a token gets what its principal gets: refused for one who is weaker.

    The principal's tokens that were looked at, those revoked left out.
    """
    principals, now_us = call.services.store.principals, call.now_us()
    tokens = principals.tokens()
    live = [each for each in tokens if each.principal_id == principal_id and not each.revoked_us]
    for token in live:
        if _token_out(token, now_us).state != "good":
            continue
        for keeper in sorted(
            keepers_of(token, tokens) - {principal_id, call.principal.principal_id}
        ):
            held = {(each.kind, each.tenant_id) for each in principals.grants(keeper)}
            maker = Principal(principal_id=keeper, grants=frozenset(held))
            for grant in grants:
                if not maker.holds(GrantKind.OPERATOR, grant.tenant_id):
                    raise _kept_by_a_weaker(token, keeper, grant)
    return frozenset(token.token_id for token in live)


def _kept_by_a_weaker(token: TokenRecord, keeper: str, grant: GrantRecord) -> ApiProblem:
    where = "the platform" if grant.tenant_id is None else grant.tenant_id
    how = f"was made by {token.created_by}"
    if keeper != token.created_by:
        how += f" and, by way of other tokens, may be {keeper}'s"
    detail = (
        f"principal: the token {token.token_id} of {token.principal_id} {how}, who is no operator "
        f"of {where} and may have kept it: revoke it first, or give the grant to a principal of "
        "its own"
    )
    fields = [FieldProblem("principal", detail.removeprefix("principal: "))]
    return ApiProblem(409, "token_of_a_weaker", detail, fields=fields)


def _shown_once(token_id: str) -> ApiProblem:
    detail = (
        f"Idempotency-Key: the token {token_id} was made with it already, and is shown once: "
        "revoke that one, and make another with a new key"
    )
    fields = [FieldProblem("Idempotency-Key", detail)]
    return ApiProblem(409, "shown_once", detail, fields=fields)


def _apply(call: Call, changes: Callable[[], list[Change]]) -> list[ChangeResult]:
    """What was checked has to be so in the transaction; else it is checked anew, a few times."""
    for left in reversed(range(_TRIES)):
        try:
            return call.apply(*changes())
        except ChangeRefused as refused:
            if not left or not refused.is_stale:
                raise
    raise AssertionError("the last try returns or raises")


def _change(call: Call, change: Change) -> Reply[Done]:
    (result,) = call.apply(change)
    return _done(call, result)


def _done(call: Call, result: ChangeResult) -> Reply[Done]:
    _forget(call)
    return Reply(body=Done(change=result.kind, subject=result.subject), replayed=result.replayed)


def _forget(call: Call) -> None:
    """What this process remembers of tokens is old now."""
    if call.services.authenticator is not None:
        call.services.authenticator.forget()


def _token_out(token: TokenRecord, now_us: int) -> TokenOut:
    is_expired = token.expires_us is not None and token.expires_us <= now_us
    state: TokenState = (
        "revoked" if token.revoked_us is not None else "expired" if is_expired else "good"
    )
    return TokenOut(
        token_id=token.token_id,
        principal=token.principal_id,
        state=state,
        created_by=token.created_by,
        created_at=token.created_us,
        expires_at=token.expires_us,
        revoked_at=token.revoked_us,
    )
