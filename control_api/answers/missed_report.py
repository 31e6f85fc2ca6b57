"""What was missed while nobody decided, and what was done about it: said first at a start."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from ports.history import HistoryPort
from ports.records import FireRecord, GapRecord
from scheduling.instants import to_text
from scheduling.vocabulary import Cause, FireState, Lane

ROWS_MAX: Final = 5_000
LINES_MAX: Final = 12
_MISSED: Final = frozenset({Cause.COALESCED, Cause.EXPIRED_PAST_HORIZON, Cause.SKIPPED_BY_POLICY})


class _Fate(NamedTuple):
    """What rows have in common that are told in one line."""

    trigger: str
    told: str


def missed_lines(history: HistoryPort, *, since_us: int) -> list[str]:
    """What was decided at or after `since_us`, the start of the service: a line a trigger and fate.

    Bounded: after a dozen lines the rest is only counted.
    """
    rows = [
        row
        for row in history.changed_since(since_us, limit=ROWS_MAX)
        if row.decided_us >= since_us and row.key.scheduled_us < since_us
    ]
    lines = [*_row_lines(rows), *_gap_lines(history.gaps(), since_us)]
    if len(lines) > LINES_MAX:
        left = len(lines) - LINES_MAX
        lines = [*lines[:LINES_MAX], f"and {left} more; `punctual fires` has them all"]
    return lines


def _row_lines(rows: Iterable[FireRecord]) -> Iterator[str]:
    ordered = sorted(rows, key=lambda row: (_name(row), row.key.scheduled_us))
    for fate, alike in groupby(ordered, key=_fate):
        if fate is not None:
            yield f"{fate.trigger}: {_range(list(alike))}: {fate.told}"


def _fate(row: FireRecord) -> _Fate | None:
    told = _told(row)
    return None if told is None else _Fate(_name(row), told)


def _name(row: FireRecord) -> str:
    return f"{row.key.tenant_id}/{row.trigger_name}"


def _told(row: FireRecord) -> str | None:
    if row.cause in _MISSED and row.state is FireState.NOT_DISPATCHED:
        if row.cause is Cause.EXPIRED_PAST_HORIZON:
            return f"expired ({row.cause_detail})"
        if row.cause is Cause.SKIPPED_BY_POLICY:
            return "skipped, as its missed policy says"
        into = "a newer one" if row.coalesced_into_us is None else to_text(row.coalesced_into_us)
        return f"runs once for all, coalesced into {into}"
    if row.lane is Lane.CATCH_UP:
        return "sent on the catch-up lane, at its rate"
    return None


def _gap_lines(gaps: Iterable[GapRecord], since_us: int) -> Iterator[str]:
    for gap in gaps:
        if gap.detected_us >= since_us:
            yield (
                f"{gap.tenant_id}/{gap.trigger_id}: {gap.instant_count} instants through "
                f"{to_text(gap.through_us)}: all of them run, at the catch-up rate"
            )


def _range(rows: list[FireRecord]) -> str:
    count = sum(row.instant_count for row in rows)
    first, last = to_text(rows[0].key.scheduled_us), rows[-1]
    if count == 1:
        return f"1 instant, {first}"
    through_us = last.key.scheduled_us if last.through_us is None else last.through_us
    return f"{count} instants, {first} to {to_text(through_us)}"
