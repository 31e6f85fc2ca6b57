"""Pages of fires: newest first with ranges expanded where asked for, or as they change.

Each page reads a bounded part of the ledger, whatever its filters are: one that few rows meet may
be short, or empty, and still not be the last.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from control_api.answers.expand import Versions, expand, version_of
from ports.history import HistoryPort
from ports.records import FireRecord
from scheduling.keys import FireKey
from scheduling.limits import CHANGES_OVERLAP_US, FIRES_SEARCHED_MAX
from scheduling.vocabulary import Cause, FireState, Lane

_PAGE_ROWS: Final = 500
# The store finds these without looking at others; it looks at every row for any other filter.
_NOT_DISPATCHED: Final = frozenset({FireState.NOT_DISPATCHED})
_UNFINISHED: Final = frozenset(
    {FireState.HELD, FireState.READY, FireState.QUEUED, FireState.DISPATCHING}
)
_TROUBLED: Final = _NOT_DISPATCHED | {
    FireState.FAILED,
    FireState.REFUSED,
    FireState.UNKNOWN,
    FireState.UNDELIVERED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which fires are wanted; times in microseconds, both ends included."""

    tenant_id: str | None = None
    trigger_id: str | None = None
    states: frozenset[FireState] = frozenset()
    causes: frozenset[Cause] = frozenset()
    lanes: frozenset[Lane] = frozenset()
    from_us: int | None = None
    through_us: int | None = None

    def takes(self, row: FireRecord) -> bool:
        """Whether a row meets every condition but the window."""
        return (
            self.trigger_id in (None, row.key.trigger_id)
            and self.tenant_id in (None, row.key.tenant_id)
            and (not self.states or row.state in self.states)
            and (not self.causes or row.cause in self.causes)
            and (not self.lanes or row.lane in self.lanes)
        )

    @property
    def is_searched(self) -> bool:
        """Whether the store returns more than is wanted."""
        is_state_left = bool(self.states) and not self.indexed_states()
        return bool(self.causes or self.lanes) or is_state_left

    def indexed_states(self) -> frozenset[FireState]:
        """The states that the store should look for; none where it would search long for them."""
        states = self.states
        if self.causes:
            states = _NOT_DISPATCHED
        return states if states <= _UNFINISHED or states <= _TROUBLED else frozenset()


class Place(NamedTuple):
    """The last row told; of an expanded range, also the last of its instants that was told."""

    key: FireKey
    inside_us: int | None = None


class ChangesPlace(NamedTuple):
    """The last change told; without a key, nothing of that microsecond was."""

    changed_us: int
    key: FireKey | None = None


def page_of_fires(
    history: HistoryPort,
    wanted: Selection,
    *,
    after: Place | None,
    limit: int,
    versions: Versions | None = None,
) -> tuple[list[FireRecord], Place | None]:
    """At most `limit` rows, newest first, and where the next page goes on; None at the end.

    versions:  of the rules that expand range rows; None leaves them whole
    """
    found, place = _rest_of_range(history, wanted, after, limit=limit, versions=versions)
    searched = 0
    while len(found) < limit and searched < FIRES_SEARCHED_MAX:
        rows = min(_PAGE_ROWS, FIRES_SEARCHED_MAX if wanted.is_searched else limit - len(found))
        page = history.fires(
            tenant_id=wanted.tenant_id,
            trigger_id=wanted.trigger_id,
            states=wanted.indexed_states(),
            from_us=wanted.from_us,
            through_us=wanted.through_us,
            after=None if place is None else place.key,
            limit=rows,
        )
        for row in page:
            searched += 1
            place = Place(row.key)
            if not wanted.takes(row):
                continue
            shown = _instants(row, wanted, versions, limit=limit - len(found))
            found += shown
            if len(found) >= limit:
                return found, _place_in(row, shown)
        if len(page) < rows:
            return found, None
    return found, place


def page_of_changes(
    history: HistoryPort,
    wanted: Selection,
    *,
    since_us: int,
    after: ChangesPlace | None,
    limit: int,
    now_us: int,
) -> tuple[list[FireRecord], ChangesPlace]:
    """At most `limit` rows by their last change, oldest first, and where to ask from next time.

    A commit may become visible after one that is dated later. So at the end of the changes the
    place lies no later than the overlap before now, and a row may be told again: key, change and
    state tell that it is the same.
    """
    found: list[FireRecord] = []
    place = after or ChangesPlace(since_us)
    searched = 0
    while searched < FIRES_SEARCHED_MAX:
        page = history.changed_since(place.changed_us, after=place.key, limit=_PAGE_ROWS)
        for row in page:
            searched += 1
            place = ChangesPlace(row.changed_us, row.key)
            if wanted.takes(row):
                found.append(row)
                if len(found) >= limit:
                    return found, place
        if len(page) < _PAGE_ROWS:
            settled = ChangesPlace(max(since_us, now_us - CHANGES_OVERLAP_US))
            return found, min(place, settled, key=lambda each: each.changed_us)
    return found, place


def _rest_of_range(
    history: HistoryPort,
    wanted: Selection,
    after: Place | None,
    *,
    limit: int,
    versions: Versions | None,
) -> tuple[list[FireRecord], Place | None]:
    """What the page before left of a range, and the place behind it."""
    if after is None or after.inside_us is None:
        return [], after
    row = history.fire(after.key)
    if row is None or not wanted.takes(row):
        return [], Place(after.key)
    shown = _instants(row, wanted, versions, limit=limit, before_us=after.inside_us)
    return shown, _place_in(row, shown) if len(shown) >= limit else Place(after.key)


def _place_in(row: FireRecord, shown: list[FireRecord]) -> Place:
    """Behind what was shown of a row: a range begins at its key."""
    is_whole = not shown or shown[-1].key == row.key
    return Place(row.key, None if is_whole else shown[-1].key.scheduled_us)


def _instants(
    row: FireRecord,
    wanted: Selection,
    versions: Versions | None,
    *,
    limit: int,
    before_us: int | None = None,
) -> list[FireRecord]:
    """The instants of a range row inside the window; any other row as it is."""
    if versions is None:
        return [row]
    through_us = wanted.through_us
    if before_us is not None:
        through_us = before_us - 1 if through_us is None else min(through_us, before_us - 1)
    rules = versions.rules(version_of(row), row.trigger_name)
    return list(expand(row, rules, limit=limit, from_us=wanted.from_us, through_us=through_us))
