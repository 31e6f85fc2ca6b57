"""Excluded local dates: their instants were never due."""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date

from scheduling.engine import DAY_S, Engine, Point, TimeLine
from scheduling.months import day_number
from scheduling.wall_clock import WallClock
from scheduling.zones import START_S


class ExcludedSpans:
    """The stretches of time that are an excluded local date, shared by all who exclude them."""

    __slots__ = ("begins", "ends")

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        joined: list[list[int]] = []
        for begin, end in sorted(spans):
            if joined and begin <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, end])
        self.begins = tuple(begin for begin, _ in joined)
        self.ends = tuple(end for _, end in joined)


def excluded_spans(clock: WallClock, dates: tuple[date, ...]) -> ExcludedSpans:
    """The spans of some local dates: an instant is excluded by the date its own clock shows.

    clock:  with skipped times owned by nobody and repeated ones by both passes
    """
    spans = []
    for day in dates:
        low = day_number(day) * DAY_S
        nearest = max(bisect_right(clock.highs, low) - 1, 0)
        for segment in range(nearest, min(nearest + 4, len(clock.lows))):
            begin = max(low, clock.lows[segment]) - clock.offsets[segment]
            end = min(low + DAY_S, clock.highs[segment]) - clock.offsets[segment]
            if begin < end and end > START_S:
                spans.append((max(begin, START_S), end))
    return ExcludedSpans(spans)


class ExcludingEngine(Engine):
    """Another engine without what falls into the spans."""

    __slots__ = ("_removed", "inner", "spans")

    def __init__(self, inner: Engine, spans: ExcludedSpans) -> None:
        self.inner = inner
        self.spans = spans
        self._removed: tuple[int, ...] | None = None

    def next_s(self, after: int) -> int | None:
        begins, ends = self.spans.begins, self.spans.ends
        while (second := self.inner.next_s(after)) is not None:
            at = bisect_right(begins, second) - 1
            if at < 0 or second >= ends[at]:
                return second
            after = ends[at] - 1
        return None

    def previous_s(self, before: int) -> int | None:
        begins, ends = self.spans.begins, self.spans.ends
        while (second := self.inner.previous_s(before)) is not None:
            at = bisect_right(begins, second) - 1
            if at < 0 or second >= ends[at]:
                return second
            before = begins[at]
        return None

    def count_s(self, after: int, through: int) -> int:
        if after >= through:
            return 0
        removed = self._removed_through(through) - self._removed_through(after)
        return self.inner.count_s(after, through) - removed

    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        begins, ends = self.spans.begins, self.spans.ends
        while True:
            at = bisect_right(ends, after + 1)
            if at == len(begins):
                yield from self.inner.iterate(after, line)
                return
            stop = line.point(begins[at])
            for point in self.inner.iterate(after, line):
                if point >= stop:
                    after = max(ends[at], line.second(point)) - 1
                    break
                yield point
            else:
                return

    def _removed_through(self, second: int) -> int:
        """How many of the inner instants up to `second` are excluded."""
        if self._removed is None:  # two threads may both count, to the same end
            total, removed = 0, [0]
            for begin, end in zip(self.spans.begins, self.spans.ends, strict=True):
                total += self.inner.count_s(begin - 1, end - 1)
                removed.append(total)
            self._removed = tuple(removed)
        at = bisect_right(self.spans.begins, second) - 1
        if at < 0:
            return 0
        begin, end = self.spans.begins[at], self.spans.ends[at]
        return self._removed[at] + self.inner.count_s(begin - 1, min(second, end - 1))
