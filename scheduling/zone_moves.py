"""What another zone data set does to a recurrence: the instants it takes away, and those it adds.

Both sides are compiled recurrences of one definition, so the rules are those of every decision.
"""

from typing import Final, NamedTuple

from scheduling.instants import SECOND_US
from scheduling.limits import COMPARED_INSTANTS_MAX
from scheduling.recurrence import Recurrence
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import ClockSource

_CHUNK_INSTANTS: Final = 50_000  # compared at once; equal chunks cost one comparison of lists
_DAY_US: Final = 86_400 * SECOND_US


class Move(NamedTuple):
    """An instant of one side, and when the same local time is due on the other; None = never."""

    before_us: int | None
    after_us: int | None


class Moves(NamedTuple):
    """How two recurrences differ.

    gone, new:            instants that only the first, only the second has
    first:                the earliest moves, at most as many as were asked for
    compared_through_us:  how far the two were compared, inclusive
    """

    gone: int
    new: int
    first: tuple[Move, ...]
    compared_through_us: int


def zone_differs(zone: str, before: ClockSource, after: ClockSource) -> bool:
    """Whether two data sets tell a zone apart at any time; InvalidRecurrence where one lacks it."""
    one, other = (clocks(zone, GapRule.SKIP, FoldRule.BOTH) for clocks in (before, after))
    return (one.starts, one.offsets) != (other.starts, other.offsets)


def compare_recurrences(
    before: Recurrence,
    after: Recurrence,
    *,
    after_us: int,
    through_us: int,
    first_max: int,
    fires_left: int | None = None,
    instants_max: int = COMPARED_INSTANTS_MAX,
) -> Moves:
    """Compare the instants of (after, through], at most `instants_max` of either side.

    fires_left:  only so many instants of each side count
    """
    sides = [(each, _last_of(each, after_us, through_us, fires_left)) for each in (before, after)]
    gone = new = 0
    first: list[Move] = []
    cursor_us, left = after_us, instants_max
    while cursor_us < through_us and left > 0:
        limit = min(left, _CHUNK_INSTANTS)
        ours, theirs = (each.between_us(cursor_us, end_us, limit) for each, end_us in sides)
        cursor_us = min(
            (found[-1] for found in (ours, theirs) if len(found) == limit), default=through_us
        )
        left -= limit
        if ours == theirs:
            continue
        lost = sorted(set(_through(ours, cursor_us)) - set(theirs))
        added = sorted(set(_through(theirs, cursor_us)) - set(ours))
        gone, new = gone + len(lost), new + len(added)
        if len(first) < first_max:
            first += _moves(before, after, lost[:first_max], added[:first_max])
    return Moves(gone, new, tuple(dict.fromkeys(first))[:first_max], cursor_us)


def _last_of(recurrence: Recurrence, after_us: int, through_us: int, fires_left: int | None) -> int:
    """Where one side ends: at its last fire, or with the window."""
    if fires_left is None or fires_left >= COMPARED_INSTANTS_MAX:
        return through_us
    if fires_left <= 0:
        return after_us
    instants_us = recurrence.between_us(after_us, through_us, fires_left)
    return instants_us[-1] if len(instants_us) == fires_left else through_us


def _through(instants_us: list[int], through_us: int) -> list[int]:
    if not instants_us or instants_us[-1] <= through_us:
        return instants_us
    return [each for each in instants_us if each <= through_us]


def _moves(before: Recurrence, after: Recurrence, lost: list[int], added: list[int]) -> list[Move]:
    found = [Move(each, _counterpart(each, before, after)) for each in lost]
    found += [Move(_counterpart(each, after, before), each) for each in added]
    return sorted(set(found), key=_earliest)


def _earliest(move: Move) -> tuple[int, ...]:
    return tuple(sorted(each for each in move if each is not None))


def _counterpart(instant_us: int, own: Recurrence, other: Recurrence) -> int | None:
    """When the other has the same local time, in the same pass; else its nearest new instant."""
    here, there = (each.clocks(each.zone, GapRule.SKIP, FoldRule.BOTH) for each in (own, other))
    second = instant_us // SECOND_US
    wall = second + here.offsets[here.segment_of(second)]
    passes, others = here.instants_of(wall), there.instants_of(wall)
    at = passes.index(second)
    if at >= len(others) and at and _has(own, passes[at - 1] * SECOND_US):
        return None  # the other's only pass is what the first pass has become
    same_us = others[min(at, len(others) - 1)] * SECOND_US if others else None
    if same_us is not None and _has(other, same_us):
        return same_us
    return _nearest_new(instant_us, own, other)


def _nearest_new(instant_us: int, own: Recurrence, other: Recurrence) -> int | None:
    """Of the other's instants beside this one, the nearer that `own` does not have as well."""
    beside = (other.previous_before_us(instant_us), other.next_after_us(instant_us))
    found = [each for each in beside if each is not None and not _has(own, each)]
    nearest_us = min(found, key=lambda each: abs(each - instant_us), default=None)
    if nearest_us is None or abs(nearest_us - instant_us) > _DAY_US:
        return None
    return nearest_us


def _has(recurrence: Recurrence, instant_us: int) -> bool:
    return recurrence.next_after_us(instant_us - 1) == instant_us
