"""The nights on which a clock change touches a recurrence, and what it does about them. Pure."""

from calendar import monthrange
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from control_api.answers.clock_change import (
    DAY_S,
    ClockChange,
    OddNight,
    Pattern,
    night_of,
    wall_of,
)
from control_api.answers.zone_times import wall_text
from scheduling import Recurrence, compile_recurrence
from scheduling.grammar import CronForm, EveryForm, read_expression
from scheduling.instants import SECOND_US, from_us, to_us
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import WallClock

__all__ = ["OddNight", "mark_of", "nights_text", "odd_nights"]

TIMES_SHOWN_MAX: Final = 3
NIGHTS_MAX: Final = 20  # no zone has changed its clock so often in one year
MONTHS: Final = 12
_HOUR_US: Final = 3_600 * SECOND_US
_DAY_US: Final = 24 * _HOUR_US


def odd_nights(recurrence: Recurrence, from_us: int, *, months: int = MONTHS) -> list[OddNight]:
    """The clock changes of the months after `from_us` that fall on times of the recurrence.

    What follows elapsed time all day (`every`, or a cron pattern that is the same in every hour)
    is touched by none. Excluded dates and the window are heeded: a night on which the recurrence
    is not due anyway is none, but for one whose date is excluded, which is told.
    """
    patterns = _patterns(recurrence)
    clock = recurrence.clocks(recurrence.zone, GapRule.SKIP, FoldRule.BOTH)
    through_us = _months_later(from_us, months)
    nights: list[OddNight] = []
    for at in range(1, len(clock.offsets)):
        if len(nights) >= NIGHTS_MAX:
            break
        if from_us < clock.starts[at] * SECOND_US <= through_us:
            nights += _nights(recurrence, patterns, clock, at)
    return nights


def nights_text(nights: list[OddNight], zone: str, from_us: int) -> str:
    """A line for each night under a heading, or one that says that there is none."""
    since = wall_text(zone, from_us)[:10]
    if not nights:
        return f"No odd night within a year of {since}: no clock change touches it."
    lines = [f"Odd nights within a year of {since}:", *(f"  {night.text}" for night in nights)]
    return "\n".join(lines)


def mark_of(recurrence: Recurrence, instant_us: int) -> str | None:
    """Whether an instant stands in for a skipped time, or is one pass of a repeated one."""
    clock = recurrence.clocks(recurrence.zone, GapRule.SKIP, FoldRule.BOTH)
    second = instant_us // SECOND_US
    at = clock.segment_of(second)
    passes = clock.instants_of(second + clock.offsets[at])
    if len(passes) > 1:
        return "first pass of a repeated time" if second == passes[0] else "second pass"
    if at == 0 or clock.starts[at] != second:
        return None
    for night in _nights(recurrence, _patterns(recurrence), clock, at):
        for time in night.times:
            if night.kind == "gap" and instant_us in time.instants_us:
                return f"moved from {wall_of(time.wall_s)}, which the clock skips"
    return None


def _patterns(recurrence: Recurrence) -> tuple[Pattern, Pattern]:
    """The expressions of fixed times, and the intervals of cron, which no rule moves."""
    expression = recurrence.expression
    fixed: list[str] = []
    intervals: list[str] = []
    for text in (expression,) if isinstance(expression, str) else expression:
        form = read_expression(text, recurrence.identity)
        if isinstance(form, CronForm) and form.is_interval:
            if not _is_uniform(_on_the_wall([text], recurrence)):
                intervals.append(text)
        elif not isinstance(form, EveryForm):
            fixed.append(text)
    return (
        Pattern(_on_the_wall(fixed, recurrence), recurrence.gap, recurrence.fold),
        Pattern(_on_the_wall(intervals, recurrence), GapRule.SKIP, FoldRule.BOTH),
    )


def _on_the_wall(texts: list[str], recurrence: Recurrence) -> Recurrence | None:
    return compile_recurrence(texts, "UTC", identity=recurrence.identity) if texts else None


def _is_uniform(pattern: Recurrence | None) -> bool:
    """Whether all hours of a day are alike, so that a clock change shows in none."""
    first_us = None if pattern is None else pattern.next_after_us(0)
    if pattern is None or first_us is None:
        return True
    start_us = first_us // _DAY_US * _DAY_US - 1
    hours = (start_us + n * _HOUR_US for n in range(24))
    return len({pattern.count_between_us(hour, hour + _HOUR_US) for hour in hours}) == 1


def _nights(
    recurrence: Recurrence, patterns: tuple[Pattern, ...], clock: WallClock, at: int
) -> Iterator[OddNight]:
    """One change of a zone as each pattern meets it, a local date at a time."""
    second = clock.starts[at]
    before, after = second + clock.offsets[at - 1], second + clock.offsets[at]
    end_s = max(before, after)
    end_us = end_s * SECOND_US
    is_end_due = any(
        each.whole is not None and each.whole.next_after_us(end_us - 1) == end_us
        for each in patterns
    )
    for pattern in patterns:
        low_s = min(before, after)
        while pattern.whole is not None and low_s < end_s:
            high_s = min(end_s, (low_s // DAY_S + 1) * DAY_S)
            change = ClockChange(
                recurrence=recurrence,
                pattern=pattern,
                at_us=second * SECOND_US,
                skips=after > before,
                low_s=low_s,
                high_s=high_s,
                end_s=end_s,
                is_end_due=is_end_due,
            )
            yield from _told(change, pattern.whole)
            low_s = high_s


def _told(change: ClockChange, whole: Recurrence) -> Iterator[OddNight]:
    """One night, or several where the window ends among its times."""
    window = (change.low_s * SECOND_US - 1, change.high_s * SECOND_US - 1)
    if change.is_cut_by_window():
        walls_us = whole.between_us(*window, DAY_S)
        walls_s = [us // SECOND_US for us in walls_us]
        walls_s = [each for each in walls_s if _is_in_window(change, each)]
        for _, group in groupby(walls_s, lambda each: _passes(change, each)):
            alike = list(group)
            yield night_of(change, alike[:TIMES_SHOWN_MAX], len(alike))
    elif change.has_in_window(change.at_us):
        walls_us = whole.between_us(*window, TIMES_SHOWN_MAX)
        if walls_us:
            count = whole.count_between_us(*window)
            yield night_of(change, [us // SECOND_US for us in walls_us], count)


def _is_in_window(change: ClockChange, wall_s: int) -> bool:
    instants_us = change.instants_us(wall_s) or [change.at_us]
    return any(change.has_in_window(each) for each in instants_us)


def _passes(change: ClockChange, wall_s: int) -> list[bool]:
    """For each instant of a local time inside the window, whether it comes after the change."""
    instants_us = filter(change.has_in_window, change.instants_us(wall_s))
    return [each >= change.at_us for each in instants_us]


def _months_later(instant_us: int, months: int) -> int:
    """The same day and time so many months on, or that month's last day."""
    moment = from_us(instant_us)
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    day = min(moment.day, monthrange(year, month + 1)[1])
    return to_us(moment.replace(year=year, month=month + 1, day=day))
