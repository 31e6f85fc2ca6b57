"""Fires due per second of a window, counted trigger by trigger within bounds. Pure.

A window with too many instants is halved, again and again, so what is told of it is complete.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple, TypeAlias

from scheduling import Recurrence
from scheduling.instants import SECOND_US
from scheduling.limits import HOT_INSTANTS_MAX, HOT_SMEARED_MAX, HOT_TRIGGERS_MAX, SMEAR_S_MAX
from scheduling.rules import Rules, due_us

_REMEMBERED_MAX: Final = 2_000  # schedules shared by triggers of one definition
_ROWS_REMEMBERED_MAX: Final = 50  # of at most 700 KB each
_WINDOW_S_MIN: Final = 60
_EVER_US: Final = -(2**62)
Seconds: TypeAlias = "array[int]"  # ascending, since the window's start


class HotBounds(NamedTuple):
    """How much one forecast may cost.

    triggers:  more are left out
    instants:  of distinct schedules, kept in memory; more shorten the window
    smeared:   of smeared triggers, each a hash; more shorten the window
    """

    triggers: int = HOT_TRIGGERS_MAX
    instants: int = HOT_INSTANTS_MAX
    smeared: int = HOT_SMEARED_MAX


class Schedule(NamedTuple):
    """What triggers of one definition share.

    texts, zone:  as they were written
    seconds:      when it is due, counted from the window's start
    gap_s:        the least distance between two of its instants, at most SMEAR_S_MAX
    """

    texts: tuple[str, ...]
    zone: str
    seconds: Seconds
    gap_s: int


class Load(NamedTuple):
    """One trigger: its schedule, and its due seconds where a smear moves them."""

    name: str
    schedule: Schedule
    smear_s: int
    due: Seconds


_BOUNDS: Final = HotBounds()


class HotLoad:
    """The loads of a window that begins at a whole second."""

    def __init__(self, start_us: int, window_s: int, bounds: HotBounds = _BOUNDS) -> None:
        self.start_us = start_us // SECOND_US * SECOND_US
        self.window_s = window_s
        self.loads: list[Load] = []
        self._kept = 0
        self._smeared = 0
        self._bounds = bounds
        self._known: dict[object, Schedule] = {}
        self._rows: dict[tuple[int, int], _Row] = {}

    def add(
        self, name: str, rules: Rules, *, cursor_us: int = _EVER_US, fires_left: int | None = None
    ) -> None:
        """Count one live trigger.

        cursor_us:   instants up to it are decided, and not counted
        fires_left:  how many instants after it `max_fires` still allows
        """
        schedule = self._schedule(rules)
        due: Seconds | None = None
        if rules.smear_us:
            due = self._smeared_seconds(rules, schedule, cursor_us=cursor_us, fires_left=fires_left)
            self._smeared += len(due)
        schedule = self._cut(schedule, cursor_us, fires_left)
        due = schedule.seconds if due is None else due
        self.loads.append(Load(name, schedule, rules.smear_us // SECOND_US, due))
        while self._is_too_much() and self.window_s >= 2 * _WINDOW_S_MIN:
            self._halve()

    def before(self) -> Counter[int]:
        """Fires per second by their instants, seconds counted from the window's start."""
        return count_seconds((each.schedule.seconds for each in self.loads), self.window_s)

    def after(self) -> Counter[int]:
        """Fires per second as the triggers' smears move them."""
        if not any(each.smear_s for each in self.loads):
            return self.before()
        return count_seconds((each.due for each in self.loads), self.window_s)

    def _is_too_much(self) -> bool:
        return self._kept > self._bounds.instants or self._smeared > self._bounds.smeared

    def _halve(self) -> None:
        self.window_s //= 2
        distinct = {id(each.schedule.seconds): each.schedule.seconds for each in self.loads}
        self._kept = sum(bisect_left(each, self.window_s) for each in distinct.values())
        self._smeared = sum(
            bisect_left(each.due, self.window_s) for each in self.loads if each.smear_s
        )
        self._rows.clear()

    def _cut(self, schedule: Schedule, cursor_us: int, fires_left: int | None) -> Schedule:
        """Without what is decided or no longer allowed; the schedule itself in the common case."""
        seconds, first = schedule.seconds, 0
        if cursor_us >= self.start_us:
            first = bisect_right(seconds, (cursor_us - self.start_us) // SECOND_US)
        if first == 0 and (fires_left is None or fires_left >= len(seconds)):
            return schedule
        last = len(seconds) if fires_left is None else first + fires_left
        return schedule._replace(seconds=seconds[first:last])

    def _schedule(self, rules: Rules) -> Schedule:
        recurrence = rules.recurrence
        if not isinstance(recurrence, Recurrence):
            return self._expanded(rules, (), "")
        written = recurrence.expression
        texts = (written,) if isinstance(written, str) else written
        key = _key(recurrence, texts)
        found = self._known.get(key) if key is not None else None
        if found is None:
            found = self._expanded(rules, texts, recurrence.zone)
            if key is not None:
                if len(self._known) >= _REMEMBERED_MAX:
                    self._known.clear()
                self._known[key] = found
        return found

    def _expanded(self, rules: Rules, texts: tuple[str, ...], zone: str) -> Schedule:
        end_us = self.start_us + self.window_s * SECOND_US
        instants_us = rules.recurrence.between_us(self.start_us - 1, end_us - 1, self.window_s)
        start_us = self.start_us
        seconds = array("I", [(each - start_us) // SECOND_US for each in instants_us])
        gap_s = min((b - a for a, b in pairwise(seconds)), default=SMEAR_S_MAX)
        self._kept += len(seconds)
        return Schedule(texts, zone, seconds, min(gap_s, SMEAR_S_MAX))

    def _smeared_seconds(
        self, rules: Rules, schedule: Schedule, *, cursor_us: int, fires_left: int | None
    ) -> Seconds:
        """Due seconds inside the window, those of instants shortly before it included."""
        row = self._instants(rules, schedule)
        start_us, end_s = self.start_us, self.window_s
        first = bisect_right(row.instants_us, cursor_us)
        instants_us = row.instants_us[first:]
        nexts_us = chain(instants_us[1:], (row.next_us,))  # one too many where there is none
        due = [
            (due_us(rules, instant_us, next_us) - start_us) // SECOND_US
            for instant_us, next_us in islice(zip(instants_us, nexts_us, strict=False), fires_left)
        ]
        return array("I", [each for each in due if 0 <= each < end_s])

    def _instants(self, rules: Rules, schedule: Schedule) -> "_Row":
        key = (id(schedule.seconds), rules.smear_us)
        row = self._rows.get(key)
        if row is None or row.seconds is not schedule.seconds:
            row = self._read(rules, schedule.seconds)
            if len(self._rows) >= _ROWS_REMEMBERED_MAX:
                self._rows.clear()
            self._rows[key] = row
        return row

    def _read(self, rules: Rules, seconds: Seconds) -> "_Row":
        end_us = self.start_us + self.window_s * SECOND_US
        first_us = self.start_us - rules.smear_us
        limit = self.window_s + rules.smear_us // SECOND_US + 1
        found = array("q", rules.recurrence.between_us(first_us, end_us - 1, limit))
        next_us = rules.recurrence.next_after_us(found[-1]) if found else None
        return _Row(seconds, found, next_us)


class _Row(NamedTuple):
    """The instants that a smear may move into the window, and the one after them."""

    seconds: Seconds
    instants_us: "array[int]"
    next_us: int | None


def count_seconds(lists: Iterable[Seconds], until_s: int) -> Counter[int]:
    """How often each second before `until_s` comes; lists that triggers share are read once."""
    shared: dict[int, tuple[Seconds, int]] = {}
    for each in lists:
        _, times = shared.get(id(each), (each, 0))
        shared[id(each)] = (each, times + 1)
    single = chain.from_iterable(each for each, times in shared.values() if times == 1)
    counts = Counter(single)
    for each, times in shared.values():
        if times > 1:
            for second in each:
                counts[second] += times
    return Counter({second: count for second, count in counts.items() if second < until_s})


def _key(recurrence: Recurrence, texts: tuple[str, ...]) -> object:
    """Equal for recurrences with the same instants; None where that is not worth telling."""
    if recurrence.exclusions or recurrence.calendars or any("H" in text for text in texts):
        return None
    window = (recurrence.starts_at, recurrence.ends_at)
    return (texts, recurrence.zone, recurrence.gap, recurrence.fold, window)
