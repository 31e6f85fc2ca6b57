"""One change of the clock as a recurrence meets it, and the words for it. Pure."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, Literal, NamedTuple

from control_api.answers.zone_times import instant_json, local_text, utc_text, wall_time
from scheduling import Recurrence
from scheduling.instants import EPOCH, SECOND_US, to_us
from scheduling.months import date_of
from scheduling.vocabulary import FoldRule, GapRule

DAY_S: Final = 86_400
_DAY_US: Final = DAY_S * SECOND_US


class OddTime(NamedTuple):
    """A local time of the recurrence, in seconds as if the wall showed UTC, and when it is due.

    No instants: it is left out.
    """

    wall_s: int
    instants_us: tuple[int, ...]


class OddNight(NamedTuple):
    """One local date on which the clock changes, and the recurrence's times in the change.

    on:                    the date of the local times
    kind:                  `gap`: the clock skips the range; `fold`: it repeats it
    at_us:                 when the clock changes
    from_local, to_local:  the range of local times, as `02:00`; its end is no part of it
    times:                 the first few of the recurrence's times in that range
    times_count:           how many there are
    text:                  all of it for people
    """

    on: date
    kind: Literal["gap", "fold"]
    at_us: int
    from_local: str
    to_local: str
    times: tuple[OddTime, ...]
    times_count: int
    text: str

    def json(self) -> dict[str, Any]:
        return {
            "date": self.on.isoformat(),
            "kind": self.kind,
            "changes_at": instant_json(self.at_us),
            "from_local": self.from_local,
            "to_local": self.to_local,
            "times": [
                {
                    "local": wall_of(time.wall_s),
                    "instants": [instant_json(each) for each in time.instants_us],
                }
                for time in self.times
            ],
            "count": self.times_count,
            "text": self.text,
        }


class Pattern(NamedTuple):
    """The expressions that follow one pair of rules, read where wall time and instants are one."""

    whole: Recurrence | None
    gap: GapRule
    fold: FoldRule


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A pattern at a change of the clock: the wall seconds [low, high) of one date.

    end_s:       where all of the skipped or repeated range ends
    is_end_due:  whether some expression of the recurrence has a time there anyway
    """

    recurrence: Recurrence
    pattern: Pattern
    at_us: int
    skips: bool
    low_s: int
    high_s: int
    end_s: int
    is_end_due: bool

    @property
    def on(self) -> date:
        return date_of(self.low_s // DAY_S)

    def instants_us(self, wall_s: int) -> list[int]:
        """When a local time would be due without window and exclusions."""
        recurrence, pattern = self.recurrence, self.pattern
        clock = recurrence.clocks(recurrence.zone, pattern.gap, pattern.fold)
        return [each * SECOND_US for each in clock.instants_of(wall_s)]

    def has_in_window(self, instant_us: int) -> bool:
        starts_at, ends_at = self.recurrence.starts_at, self.recurrence.ends_at
        return (starts_at is None or to_us(starts_at) <= instant_us) and (
            ends_at is None or instant_us <= to_us(ends_at)
        )

    def is_cut_by_window(self) -> bool:
        """Whether the window begins or ends close by."""
        bounds = (self.recurrence.starts_at, self.recurrence.ends_at)
        return any(bound and abs(to_us(bound) - self.at_us) < 2 * _DAY_US for bound in bounds)


def night_of(change: ClockChange, walls_s: list[int], count: int) -> OddNight:
    """What becomes of the recurrence's local times in a change, all of which fare alike.

    walls_s:  the first few of them
    count:    how many there are
    """
    would_be_us = change.instants_us(walls_s[0])
    due_on = change.on
    if would_be_us:
        due_on = wall_time(change.recurrence.zone, would_be_us[0]).date()
    excluded = _excluded_text(change.recurrence, due_on)
    times = tuple(
        OddTime(
            wall_s,
            () if excluded else tuple(filter(change.has_in_window, change.instants_us(wall_s))),
        )
        for wall_s in walls_s
    )
    verb = "skips" if change.skips else "repeats"
    whole_day = change.high_s - change.low_s == DAY_S
    what = "the whole day" if whole_day else f"{wall_of(change.low_s)} to {_end(change)}"
    fate = _fate(change, times, count, excluded=excluded)
    return OddNight(
        on=change.on,
        kind="gap" if change.skips else "fold",
        at_us=change.at_us,
        from_local=wall_of(change.low_s),
        to_local=_end(change),
        times=times,
        times_count=count,
        text=f"{change.on:%a} {change.on}: the clock {verb} {what}; {fate}",
    )


def _fate(
    change: ClockChange, times: tuple[OddTime, ...], count: int, *, excluded: str | None
) -> str:
    subject = ", ".join(wall_of(time.wall_s) for time in times)
    left = count - len(times)
    subject += f" and {left} more" if left else ""
    one, instants_us = count == 1, times[0].instants_us
    if excluded:
        return f"{subject} {'is' if one else 'are'} left out: {excluded}"
    if not instants_us:
        return f"{subject} {'is' if one else 'are'} left out"
    if change.skips:
        moved = local_text(change.recurrence.zone, instants_us[0])
        return f"{subject} {'moves' if one else 'move'} to {moved}{_joined(change, one)}"
    passes = "in both passes"
    if len(instants_us) == 1:
        which = "first" if instants_us[0] < change.at_us else "last"
        passes = f"once, in the {which} pass"
    beginning = "" if one else "from "
    when = " and ".join(utc_text(each)[11:] for each in instants_us)
    return f"{subject} {'counts' if one else 'count'} {passes} ({beginning}{when})"


def _joined(change: ClockChange, one: bool) -> str:
    """What becomes one fire with what at the end of a gap."""
    if change.is_end_due:
        return f", as one with {wall_of(change.end_s)}"
    return "" if one else ", as one"


def _excluded_text(recurrence: Recurrence, day: date) -> str | None:
    """Why nothing is due on a date, None where it is not excluded."""
    names = [each.calendar_id for each in recurrence.calendars if day in each.dates]
    if names:
        return f"{day} is excluded by calendar {' and '.join(names)}"
    return f"{day} is excluded" if day in recurrence.exclusions else None


def wall_of(wall_s: int) -> str:
    """The time of day of a wall second: `02:30`, with seconds only where there are any."""
    moment = EPOCH + timedelta(seconds=wall_s)
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"


def _end(change: ClockChange) -> str:
    """The end of the range; midnight belongs to the day before."""
    return wall_of(change.high_s) if change.high_s % DAY_S else "24:00"
