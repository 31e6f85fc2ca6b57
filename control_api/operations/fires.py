"""Fires: list, follow, read, cancel."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from control_api.answers.expand import Versions
from control_api.answers.fire_pages import (
    ChangesPlace,
    Place,
    Selection,
    page_of_changes,
    page_of_fires,
)
from control_api.answers.fire_rows import attempt_out, chain_of, fire_out
from control_api.call import Call
from control_api.operations.finding import scope_of, tenant_of, trigger_of
from control_api.pages import bad_cursor, cursor_of, read_cursor
from control_api.problems import ApiProblem, FieldProblem, invalid, not_found
from control_api.replies import Reply
from ports.changes import CancelFire
from ports.principals import GrantKind
from ports.records import FireRecord
from scheduling.keys import FireKey
from scheduling.vocabulary import Cause, FireState, Lane
from schemas.api.common import Page
from schemas.api.fires import FireCancelled, FireDetail, FireOut
from schemas.api.triggers import NoteIn

_MAY_CANCEL: Final = (GrantKind.AUTHOR, GrantKind.OPERATOR)
_FIRES: Final = "fires"
_CHANGES: Final = "changes"
_MICROSECONDS: Final = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which fires a caller asks for; `trigger` is a name or an id of `tenant_id`."""

    tenant_id: str | None = None
    trigger: str | None = None
    states: Collection[FireState] = ()
    causes: Collection[Cause] = ()
    lanes: Collection[Lane] = ()


def list_fires(
    call: Call,
    wanted: Filter,
    *,
    since_us: int | None,
    through_us: int | None,
    is_expanded: bool,
    cursor: str | None,
    limit: int,
) -> Reply[Page[FireOut]]:
    """Rows whose instants meet the window, newest first.

    A page with a rare filter may be short, or empty, and yet have a cursor: it has been searched
    as far as one request may.
    """
    selection = _selection(call, wanted, since_us=since_us, through_us=through_us)
    versions = Versions(call.services.store.registry)
    rows, place = page_of_fires(
        call.services.store.history,
        selection,
        after=_read_place(cursor),
        limit=limit,
        versions=versions if is_expanded else None,
    )
    written = None
    if place is not None:
        inside = "" if place.inside_us is None else str(place.inside_us)
        written = cursor_of(_FIRES, (str(place.key), inside))
    return Reply(body=Page[FireOut](items=_shown(call, rows, versions), cursor=written))


def list_changes(
    call: Call, wanted: Filter, *, changed_since_us: int, cursor: str | None, limit: int
) -> Reply[Page[FireOut]]:
    """Fires by their last change, oldest first. There is always a cursor: to ask again with.

    A fire that changed shortly before the request may be told again; it is the same change where
    its key, `changed_at` and state are the same.
    """
    rows, place = page_of_changes(
        call.services.store.history,
        _selection(call, wanted),
        since_us=changed_since_us,
        after=_read_changes_place(cursor),
        limit=limit,
        now_us=call.now_us(),
    )
    key = "" if place.key is None else str(place.key)
    written = cursor_of(_CHANGES, (str(place.changed_us), key))
    versions = Versions(call.services.store.registry)
    return Reply(body=Page[FireOut](items=_shown(call, rows, versions), cursor=written))


def get_fire(call: Call, fire_key: str) -> Reply[FireDetail]:
    """One fire with its attempts and its chain; of an instant inside a range, the range's row."""
    key = _read_key(call, fire_key)
    row = _row_of(call, key)
    history = call.services.store.history
    versions = Versions(call.services.store.registry)
    chain = chain_of(history, row)
    return Reply(
        body=FireDetail(
            fire=fire_out(row, versions.zone_of(row), chain),
            attempts=[attempt_out(each) for each in history.attempts(row.key)],
            chain=_shown(call, chain, versions),
        )
    )


def cancel_fire(call: Call, fire_key: str, body: NoteIn) -> Reply[FireCancelled]:
    """Stop one fire that waits; 409 where nothing waits any more."""
    key = _read_key(call, fire_key)
    call.require_any(_MAY_CANCEL, key.tenant_id, act="cancel a fire")
    (result,) = call.apply(CancelFire(key=key, note=body.note))
    row = _row_of(call, key)
    versions = Versions(call.services.store.registry)
    return Reply(
        body=FireCancelled(change=result.kind, fire=_shown(call, [row], versions)[0]),
        replayed=result.replayed,
    )


def _selection(
    call: Call, wanted: Filter, *, since_us: int | None = None, through_us: int | None = None
) -> Selection:
    tenant_id = scope_of(call, wanted.tenant_id, act="list the fires of all tenants")
    trigger_id = None
    if wanted.trigger is not None:
        if tenant_id is None:
            raise invalid("trigger", "a trigger is a tenant's: name its `tenant` too")
        trigger_id = trigger_of(call, tenant_id, wanted.trigger, deleted=True).trigger_id
    if since_us is not None and through_us is not None and through_us < since_us:
        raise invalid("through", "lies before `since`: exchange them")
    return Selection(
        tenant_id=tenant_id,
        trigger_id=trigger_id,
        states=frozenset(wanted.states),
        causes=frozenset(wanted.causes),
        lanes=frozenset(wanted.lanes),
        from_us=since_us,
        through_us=through_us,
    )


def _shown(call: Call, rows: Iterable[FireRecord], versions: Versions) -> list[FireOut]:
    history = call.services.store.history
    return [fire_out(row, versions.zone_of(row), chain_of(history, row)) for row in rows]


def _read_key(call: Call, text: str) -> FireKey:
    """The key, of a tenant that the caller may read."""
    try:
        key = FireKey.parse(text)
    except ValueError as error:
        detail = str(error)
        fields = [FieldProblem("fire_key", detail.removeprefix("fire_key: "))]
        raise ApiProblem(422, "invalid", detail, fields=fields) from None
    tenant_of(call, key.tenant_id)
    return key


def _row_of(call: Call, key: FireKey) -> FireRecord:
    history = call.services.store.history
    row = history.fire(key)
    if row is None and key.sequence == 0:
        row = history.covering(key.tenant_id, key.trigger_id, instant_us=key.scheduled_us)
    if row is None:
        raise not_found("fire", f"there is no fire {key}; `why` tells of undecided instants")
    return row


def _read_place(cursor: str | None) -> Place | None:
    parts = read_cursor(_FIRES, cursor, 2)
    if parts is None:
        return None
    key, inside = parts
    return Place(_cursor_key(key), None if inside == "" else _cursor_us(inside))


def _read_changes_place(cursor: str | None) -> ChangesPlace | None:
    parts = read_cursor(_CHANGES, cursor, 2)
    if parts is None:
        return None
    changed, key = parts
    return ChangesPlace(_cursor_us(changed), None if key == "" else _cursor_key(key))


def _cursor_key(text: str) -> FireKey:
    try:
        return FireKey.parse(text)
    except ValueError:
        raise bad_cursor() from None


def _cursor_us(text: str) -> int:
    if _MICROSECONDS.fullmatch(text) is None:
        raise bad_cursor()
    return int(text)
