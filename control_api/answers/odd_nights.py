"""The nights on which a clock change touches a recurrence, and what it does about them. Pure."""

from datetime import timedelta
from typing import Any, Final, NamedTuple

from control_api.answers.zone_times import instant_json, local_text, utc_text, wall_text
from scheduling import Recurrence, compile_recurrence
from scheduling.grammar import CronForm, EveryForm, read_expression
from scheduling.instants import EPOCH, SECOND_US
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import wall_clock
from scheduling.zones import Zone, load_zone

TIMES_SHOWN_MAX: Final = 3
NIGHTS_MAX: Final = 20  # no zone has changed its clock so often in one year
_HOUR_US: Final = 3_600 * SECOND_US
_DAY_US: Final = 24 * _HOUR_US


class OddNight(NamedTuple):
    """One change of a zone's clock, and the recurrence's local times inside it.

    at_us:                the change
    skips:                the clock jumps forward over [low, high), else it repeats that range
    low_s, high_s:        seconds of wall time, counted as if the wall showed UTC
    walls_s:              the first few of the recurrence's times in that range
    times_count:          how many there are
    gap, fold:            the rules that they follow
    """

    at_us: int
    skips: bool
    low_s: int
    high_s: int
    walls_s: tuple[int, ...]
    times_count: int
    gap: GapRule
    fold: FoldRule

    def text(self, recurrence: Recurrence) -> str:
        """`Sun 2027-03-28: the clock skips 02:00 to 03:00; 02:30 moves to 03:00:00 +02:00`."""
        day = wall_text(recurrence.zone, self.at_us, weekday=True)[:14]
        verb = "skips" if self.skips else "repeats"
        window = f"{_wall(self.low_s)} to {_wall(self.high_s)}"
        return f"{day}: the clock {verb} {window}; {self._fate(recurrence)}"

    def json(self, recurrence: Recurrence) -> dict[str, Any]:
        return {
            "changes_at": instant_json(self.at_us),
            "clock": "skips" if self.skips else "repeats",
            "from_local": _wall(self.low_s),
            "to_local": _wall(self.high_s),
            "times": [
                {
                    "local": _wall(wall_s),
                    "instants": [instant_json(each) for each in self._instants(recurrence, wall_s)],
                }
                for wall_s in self.walls_s
            ],
            "count": self.times_count,
            "text": self.text(recurrence),
        }

    def _fate(self, recurrence: Recurrence) -> str:
        times = ", ".join(_wall(each) for each in self.walls_s)
        left = self.times_count - len(self.walls_s)
        times += f" and {left} more" if left else ""
        one = self.times_count == 1
        instants_us = self._instants(recurrence, self.walls_s[0])
        if self.skips and not instants_us:
            return f"{times} {'is' if one else 'are'} left out"
        if self.skips:
            moved = local_text(recurrence.zone, instants_us[0])
            return f"{times} {'moves' if one else 'move'} to {moved}" + ("" if one else ", as one")
        passes = {
            FoldRule.FIRST: "once, in the first pass",
            FoldRule.LAST: "once, in the last pass",
            FoldRule.BOTH: "in both passes",
        }
        beginning = "" if one else "from "
        when = " and ".join(utc_text(each)[11:] for each in instants_us)
        verb = "counts" if one else "count"
        return f"{times} {verb} {passes[self.fold]} ({beginning}{when})"

    def _instants(self, recurrence: Recurrence, wall_s: int) -> list[int]:
        """When one of its local times is due on this night; nothing where it is left out."""
        clock = wall_clock(recurrence.zone, self.gap, self.fold)
        return [each * SECOND_US for each in clock.instants_of(wall_s)]


def odd_nights(recurrence: Recurrence, after_us: int, through_us: int) -> list[OddNight]:
    """The changes of the zone in (after, through] that fall on times of the recurrence.

    What follows elapsed time all day (`every`, or a cron pattern that is the same in every hour)
    is touched by none.
    """
    patterns = _patterns(recurrence)
    zone = load_zone(recurrence.zone)
    nights: list[OddNight] = []
    for at in range(1, len(zone.offsets)):
        if len(nights) >= NIGHTS_MAX:
            break
        if after_us < zone.starts[at] * SECOND_US <= through_us:
            nights += _nights(patterns, zone, at)
    return nights


def mark_of(recurrence: Recurrence, instant_us: int) -> str | None:
    """Whether an instant stands in for a skipped time, or is one pass of a repeated one."""
    zone = load_zone(recurrence.zone)
    clock = wall_clock(recurrence.zone, GapRule.SKIP, FoldRule.BOTH)
    second = instant_us // SECOND_US
    at = clock.segment_of(second)
    passes = clock.instants_of(second + zone.offsets[at])
    if len(passes) > 1:
        return "first pass of a repeated time" if second == passes[0] else "second pass"
    if at == 0 or zone.starts[at] != second:
        return None
    for night in _nights(_patterns(recurrence), zone, at):
        if night.skips and night.gap is GapRule.SHIFT_FORWARD:
            return f"moved from {_wall(night.walls_s[0])}, which the clock skips"
    return None


class _Pattern(NamedTuple):
    """The expressions that follow one pair of rules, read where wall time and instants are one."""

    whole: Recurrence | None
    gap: GapRule
    fold: FoldRule


def _patterns(recurrence: Recurrence) -> tuple[_Pattern, _Pattern]:
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
        _Pattern(_on_the_wall(fixed, recurrence), recurrence.gap, recurrence.fold),
        _Pattern(_on_the_wall(intervals, recurrence), GapRule.SKIP, FoldRule.BOTH),
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


def _nights(patterns: tuple[_Pattern, ...], zone: Zone, at: int) -> list[OddNight]:
    """One change of a zone as each pattern meets it."""
    second = zone.starts[at]
    before, after = second + zone.offsets[at - 1], second + zone.offsets[at]
    low_s, high_s = min(before, after), max(before, after)
    window = (low_s * SECOND_US - 1, high_s * SECOND_US - 1)
    nights = []
    for whole, gap, fold in patterns:
        found = [] if whole is None else whole.between_us(*window, TIMES_SHOWN_MAX)
        if whole is not None and found:
            night = OddNight(
                at_us=second * SECOND_US,
                skips=after > before,
                low_s=low_s,
                high_s=high_s,
                walls_s=tuple(us // SECOND_US for us in found),
                times_count=whole.count_between_us(*window),
                gap=gap,
                fold=fold,
            )
            nights.append(night)
    return nights


def _wall(wall_s: int) -> str:
    moment = EPOCH + timedelta(seconds=wall_s)
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
