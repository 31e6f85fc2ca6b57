"""A compiled recurrence: the questions that can be asked of it, on integers and on datetimes."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from typing import Literal

from scheduling.calendars import ExclusionCalendar
from scheduling.engine import DATETIMES, MICROSECONDS, Engine, Point, TimeLine
from scheduling.instants import EPOCH, SECOND_US, to_us
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import ClockSource
from scheduling.zones import END_S, START_S

RecurrenceClass = Literal["wall", "interval"]


class Recurrence:
    """Made by `compile_recurrence`; immutable, small and safe to share between threads.

    The `_us` methods take and give microseconds since the epoch and are the core; the others take
    aware datetimes (a naive one is a ValueError) and give datetimes in UTC. Every instant is a
    whole second inside the window, between the years 1900 and 2499.
    A recurrence pickles as its definition and is compiled again where it arrives.
    """

    __slots__ = (
        "_engine",
        "_first_s",
        "_last_s",
        "calendars",
        "clocks",
        "ends_at",
        "exclusions",
        "expression",
        "fold",
        "gap",
        "identity",
        "recurrence_class",
        "starts_at",
        "zone",
    )

    def __init__(
        self,
        engine: Engine,
        expression: str | tuple[str, ...],
        *,
        zone: str,
        gap: GapRule,
        fold: FoldRule,
        starts_at: datetime | None,
        ends_at: datetime | None,
        exclusions: tuple[date, ...],
        calendars: tuple[ExclusionCalendar, ...],
        identity: tuple[str, str] | None,
        recurrence_class: RecurrenceClass,
        clocks: ClockSource,
    ) -> None:
        self._engine = engine
        self.expression = expression
        self.zone = zone
        self.gap = gap
        self.fold = fold
        self.starts_at = starts_at
        self.ends_at = ends_at
        self.exclusions = exclusions
        self.calendars = calendars
        self.identity = identity
        self.recurrence_class: RecurrenceClass = recurrence_class
        self.clocks = clocks
        self._first_s = START_S
        self._last_s = END_S - 1
        if starts_at is not None:
            self._first_s = max(START_S, -(-to_us(starts_at) // SECOND_US))
        if ends_at is not None:
            self._last_s = min(END_S - 1, to_us(ends_at) // SECOND_US)

    def next_after_us(self, instant_us: int) -> int | None:
        """The first instant later than `instant_us`."""
        after = max(instant_us // SECOND_US, self._first_s - 1)
        if after >= self._last_s:  # also where the window begins beyond the tables' end
            return None
        second = self._engine.next_s(after)
        return None if second is None or second > self._last_s else second * SECOND_US

    def previous_before_us(self, instant_us: int) -> int | None:
        """The last instant earlier than `instant_us`."""
        before = min(-(-instant_us // SECOND_US), self._last_s + 1)
        if before <= self._first_s:
            return None
        second = self._engine.previous_s(before)
        return None if second is None or second < self._first_s else second * SECOND_US

    def between_us(self, after_us: int, through_us: int, limit: int) -> list[int]:
        """The first `limit` instants of (after, through], ascending."""
        return list(self._window(after_us, through_us, limit, MICROSECONDS))

    def count_between_us(self, after_us: int, through_us: int) -> int:
        """How many instants lie in (after, through]; they are counted, not expanded."""
        after = max(after_us // SECOND_US, self._first_s - 1)
        through = min(through_us // SECOND_US, self._last_s)
        return self._engine.count_s(after, through) if after < through else 0

    def iterate_us(self, after_us: int) -> Iterator[int]:
        """Every instant later than `after_us`, ascending, computed as it is asked for."""
        after = max(after_us // SECOND_US, self._first_s - 1)
        if after >= self._last_s:
            return iter(())
        instants = self._engine.iterate(after, MICROSECONDS)
        if self._last_s == END_S - 1:
            return instants
        return takewhile(((self._last_s + 1) * SECOND_US).__gt__, instants)

    def next_after(self, instant: datetime) -> datetime | None:
        """The first instant later than `instant`, fractions of a second included."""
        found = self.next_after_us(to_us(instant))
        return None if found is None else EPOCH + timedelta(0, found // SECOND_US)

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last instant earlier than `instant`."""
        found = self.previous_before_us(to_us(instant))
        return None if found is None else EPOCH + timedelta(0, found // SECOND_US)

    def between(self, after: datetime, through: datetime, limit: int) -> list[datetime]:
        """The first `limit` instants of (after, through], ascending."""
        return list(self._window(to_us(after), to_us(through), limit, DATETIMES))

    def count_between(self, after: datetime, through: datetime) -> int:
        """How many instants lie in (after, through]; they are counted, not expanded."""
        return self.count_between_us(to_us(after), to_us(through))

    def describe(self) -> str:
        """One English sentence that says all of it."""
        from scheduling.describe import describe  # it reads compiled recurrences itself

        return describe(self)

    def __repr__(self) -> str:
        return f"Recurrence({self.expression!r}, {self.zone!r})"

    def __reduce__(self) -> tuple[object, ...]:
        from scheduling.compiler import recompile  # the compiler makes recurrences

        rules = (self.gap, self.fold, self.starts_at, self.ends_at)
        rest = (self.exclusions, self.calendars, self.identity, self.clocks)
        return recompile, (self.expression, self.zone, *rules, *rest)

    def _window(
        self, after_us: int, through_us: int, limit: int, line: TimeLine[Point]
    ) -> Iterator[Point]:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit: {limit!r}: must be a whole number of at least 1")
        after = max(after_us // SECOND_US, self._first_s - 1)
        through = min(through_us // SECOND_US, self._last_s)
        if after >= through:
            return iter(())
        inside = line.point(through + 1).__gt__
        return islice(takewhile(inside, self._engine.iterate(after, line)), limit)
