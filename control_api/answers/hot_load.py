"""Fires due per second of a window, counted trigger by trigger within bounds. Pure.

A window with too many instants is halved, again and again, so what is told of it is complete.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from scheduling import Recurrence
from scheduling.instants import SECOND_US
from scheduling.limits import (
    HOT_ADVISED_MAX,
    HOT_INSTANTS_MAX,
    HOT_SMEARED_MAX,
    HOT_TRIGGERS_MAX,
    SMEAR_S_MAX,
)
from scheduling.rules import Rules, due_us

_REMEMBERED_MAX: Final = 2_000  # schedules shared by triggers of one definition
_WINDOW_S_MIN: Final = 60
_EVER_US: Final = -(2**62)
_FAR_S: Final = SMEAR_S_MAX  # no smear reaches further, whatever the next instant
Seconds: TypeAlias = "array[int]"  # ascending, since the window's start


class HotBounds(NamedTuple):
    """How much one forecast may cost.

    triggers:  more are left out
    instants:  of distinct schedules, kept in memory; more shorten the window
    smeared:   of smeared triggers, each a hash; more shorten the window
    advised:   of all triggers, each a hash; more shorten the stretch that the advice counts
    """

    triggers: int = HOT_TRIGGERS_MAX
    instants: int = HOT_INSTANTS_MAX
    smeared: int = HOT_SMEARED_MAX
    advised: int = HOT_ADVISED_MAX


class Schedule(NamedTuple):
    """What triggers of one definition share.

    texts, zone:  as they were written
    seconds:      its instants, those of the hours before and after the window included
    """

    texts: tuple[str, ...]
    zone: str
    seconds: Seconds


class Load(NamedTuple):
    """One trigger.

    schedule:    without what is decided or no longer allowed
    due:         its due seconds, where a smear moves them
    whole:       the instants of the schedule; those after `cursor_s` are undecided, and
    fires_left:  so many of them may still fire
    """

    name: str
    tenant_id: str
    trigger_id: str
    schedule: Schedule
    smear_s: int
    due: Seconds
    whole: Seconds
    cursor_s: int
    fires_left: int | None

    def undecided(self, from_s: int, until_s: int) -> Iterator[tuple[int, int]]:
        """Instants before `until_s` that smear may move to `from_s` or later.

        With how far each may be moved: to the next instant, and by SMEAR_S_MAX at most.
        """
        seconds = self.whole
        first = bisect_right(seconds, self.cursor_s)
        last = bisect_left(seconds, until_s, lo=first)
        if self.fires_left is not None:
            last = min(last, first + self.fires_left)
        for index in range(max(first, bisect_right(seconds, from_s) - 1), last):
            second = seconds[index]
            following = seconds[index + 1] if index + 1 < len(seconds) else second + _FAR_S
            reach_s = min(following - second, _FAR_S)
            if second + reach_s > from_s:
                yield second, reach_s


_BOUNDS: Final = HotBounds()


class HotLoad:
    """The loads of a window that begins at a whole second."""

    def __init__(self, start_us: int, window_s: int, bounds: HotBounds = _BOUNDS) -> None:
        self.start_us = start_us // SECOND_US * SECOND_US
        self.window_s = window_s
        self.loads: list[Load] = []
        self._kept = 0
        self._smeared = 0
        self.bounds = bounds
        self._known: dict[object, Schedule] = {}

    def add(
        self, name: str, rules: Rules, *, cursor_us: int = _EVER_US, fires_left: int | None = None
    ) -> None:
        """Count one live trigger.

        cursor_us:   instants up to it are decided, and not counted
        fires_left:  how many instants after it `max_fires` still allows
        """
        whole = self._schedule(rules)
        cursor_s = (cursor_us - self.start_us) // SECOND_US
        schedule = _cut(whole, cursor_s, fires_left)
        load = Load(
            name=name,
            tenant_id=rules.tenant_id,
            trigger_id=rules.trigger_id,
            schedule=schedule,
            smear_s=rules.smear_us // SECOND_US,
            due=schedule.seconds,
            whole=whole.seconds,
            cursor_s=cursor_s,
            fires_left=fires_left,
        )
        if rules.smear_us:
            load = load._replace(due=self._smeared_seconds(load, rules))
            self._smeared += len(load.due)
        self.loads.append(load)
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
        return self._kept > self.bounds.instants or self._smeared > self.bounds.smeared

    def _halve(self) -> None:
        self.window_s //= 2
        distinct = {id(each.schedule.seconds): each.schedule.seconds for each in self.loads}
        self._kept = sum(self._inside(each) for each in distinct.values())
        self._smeared = sum(
            bisect_left(each.due, self.window_s) for each in self.loads if each.smear_s
        )

    def _inside(self, seconds: Seconds) -> int:
        return bisect_left(seconds, self.window_s) - bisect_left(seconds, 0)

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
        start_us, limit = self.start_us, self.window_s + 2 * _FAR_S
        first_us = start_us - _FAR_S * SECOND_US
        instants_us = rules.recurrence.between_us(first_us - 1, first_us + limit * SECOND_US, limit)
        seconds = array("i", [(each - start_us) // SECOND_US for each in instants_us])
        self._kept += self._inside(seconds)
        return Schedule(texts, zone, seconds)

    def _smeared_seconds(self, load: Load, rules: Rules) -> Seconds:
        """Due seconds inside the window, those of instants shortly before it included."""
        start_us = self.start_us
        instants = [
            (start_us + second * SECOND_US, reach_s * SECOND_US)
            for second, reach_s in load.undecided(0, self.window_s)
        ]
        due = [
            (due_us(rules, instant_us, instant_us + reach_us) - start_us) // SECOND_US
            for instant_us, reach_us in instants
        ]
        return array("i", [each for each in due if 0 <= each < self.window_s])


def count_seconds(lists: Iterable[Seconds], until_s: int) -> Counter[int]:
    """How often each second of [0, until_s) comes; lists that triggers share are read once."""
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
    return Counter({second: count for second, count in counts.items() if 0 <= second < until_s})


def _cut(schedule: Schedule, cursor_s: int, fires_left: int | None) -> Schedule:
    """Without what is decided or no longer allowed; the schedule itself in the common case."""
    seconds = schedule.seconds
    first = bisect_right(seconds, max(cursor_s, -1))
    if cursor_s < 0 and (fires_left is None or fires_left >= len(seconds) - first):
        return schedule
    last = len(seconds) if fires_left is None else first + fires_left
    return schedule._replace(seconds=seconds[first:last])


def _key(recurrence: Recurrence, texts: tuple[str, ...]) -> object:
    """Equal for recurrences with the same instants; None where that is not worth telling."""
    if recurrence.exclusions or recurrence.calendars or any("H" in text for text in texts):
        return None
    window = (recurrence.starts_at, recurrence.ends_at)
    return (texts, recurrence.zone, recurrence.gap, recurrence.fold, window)
