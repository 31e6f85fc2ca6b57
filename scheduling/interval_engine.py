"""`every`: a fixed number of elapsed seconds, in step with an anchor that nothing moves."""

from collections.abc import Iterator
from itertools import accumulate, repeat

from scheduling.engine import DAY_S, MemberEngine, Point, TimeLine
from scheduling.zones import END_S


class IntervalEngine(MemberEngine):
    """The seconds that differ from `anchor` by a multiple of `period`."""

    __slots__ = ("anchor", "period")

    def __init__(self, period: int, anchor: int) -> None:
        self.period = period
        self.anchor = anchor

    def next_s(self, after: int) -> int | None:
        return after + self.period - (after - self.anchor) % self.period

    def previous_s(self, before: int) -> int | None:
        return before - 1 - (before - 1 - self.anchor) % self.period

    def count_s(self, after: int, through: int) -> int:
        if after >= through:
            return 0
        return (through - self.anchor) // self.period - (after - self.anchor) // self.period

    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        first = after + self.period - (after - self.anchor) % self.period
        if first >= END_S:
            return iter(())
        steps = repeat(self.period * line.unit, (END_S - 1 - first) // self.period)
        return accumulate(steps, initial=line.point(first))

    def day_key(self, start: int) -> object:
        return (self.anchor - start) % self.period

    def day_bits(self, start: int) -> int:
        first = (self.anchor - start) % self.period
        if first >= DAY_S:
            return 0
        # Doubling copies of the first bit: 17 steps at most instead of 86400.
        bits, width = 1, self.period
        while width < DAY_S:
            bits |= bits << width
            width *= 2
        return bits << first & ((1 << DAY_S) - 1)
