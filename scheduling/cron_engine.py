"""A cron expression in a zone: the wall pattern laid over the wall clock's segments."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Protocol

from scheduling.day_set import bit_values
from scheduling.engine import DAY_S, MemberEngine, Point, TimeLine
from scheduling.months import END_DAY
from scheduling.wall_clock import WallClock
from scheduling.wall_pattern import WallPattern


class CronEngine(MemberEngine):
    """`clock` already knows the gap and fold rule; see WallClock for `low`, `high`, `natural`."""

    __slots__ = ("clock", "pattern")

    def __init__(self, pattern: WallPattern, clock: WallClock) -> None:
        self.pattern = pattern
        self.clock = clock

    def next_s(self, after: int) -> int | None:
        clock, next_from = self.clock, self.pattern.next_from
        lows, highs = clock.lows, clock.highs
        segment = bisect_right(clock.starts, after) - 1
        begin = max(after + 1 + clock.offsets[segment], lows[segment])
        wall: int | None = min(begin, highs[segment])  # in a pass that does not count: its end
        while True:
            wall = next_from(wall)  # type: ignore[arg-type]
            if wall is None:
                return None
            if wall < highs[segment]:
                return max(wall - clock.offsets[segment], clock.starts[segment])
            last = segment
            segment += 1
            if segment == len(lows):
                return None
            if lows[segment] >= highs[last]:
                segment = bisect_right(highs, wall, segment)
                if segment == len(lows):
                    return None
                wall = max(wall, lows[segment])
            else:
                wall = lows[segment]

    def previous_s(self, before: int) -> int | None:
        clock, previous_to = self.clock, self.pattern.previous_to
        lows, highs = clock.lows, clock.highs
        segment = bisect_left(clock.starts, before) - 1
        end = min(before + clock.offsets[segment], highs[segment])
        wall: int | None = max(end, lows[segment]) - 1  # in a pass that does not count: its start
        while True:
            wall = previous_to(wall)  # type: ignore[arg-type]
            if wall is None:
                return None
            if wall >= lows[segment]:
                return max(wall - clock.offsets[segment], clock.starts[segment])
            if segment == 0:
                return None
            if highs[segment - 1] > lows[segment]:
                segment -= 1
                wall = highs[segment] - 1
            else:
                segment = bisect_right(lows, wall, 0, segment) - 1
                if segment < 0:
                    return None
                wall = min(wall, highs[segment] - 1)

    def count_s(self, after: int, through: int) -> int:
        return count_walls(self.pattern, self.clock, after, through)

    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        clock, pattern = self.clock, self.pattern
        lows, highs, offsets = clock.clean_lows, clock.clean_highs, clock.offsets
        hours = [3_600 * hour * line.unit for hour in bit_values(pattern.hours)]
        minutes = [60 * minute * line.unit for minute in bit_values(pattern.minutes)]
        seconds = [second * line.unit for second in bit_values(pattern.seconds)]
        if len(seconds) == 1:  # as in all five-field expressions: one loop and one sum less
            minutes, seconds = [minute + seconds[0] for minute in minutes], []
        clean, segment = self._clean_day((after + offsets[clock.segment_of(after)]) // DAY_S + 1)
        yield from self._pieces(after, clean * DAY_S - offsets[segment] - 1, line)
        for day in pattern.days.days_from(clean):
            if day < clean:
                continue  # already yielded with the odd days around a change
            wall = day * DAY_S
            if wall + DAY_S > highs[segment] or wall < lows[segment]:
                done = clean * DAY_S - offsets[segment] - 1
                clean, segment = self._clean_day(day)
                if clean > day:
                    yield from self._pieces(done, clean * DAY_S - offsets[segment] - 1, line)
                    continue
            clean = day + 1
            start = line.origin + (wall - offsets[segment]) * line.unit
            for hour in hours:
                hour += start
                if seconds:
                    for minute in minutes:
                        minute += hour
                        for second in seconds:
                            yield minute + second
                else:
                    for minute in minutes:
                        yield minute + hour

    def day_key(self, start: int) -> object:
        clock = self.clock
        segment = clock.segment_of(start)
        offset = clock.offsets[segment]
        wall = start + offset
        if wall < clock.clean_lows[segment] or wall + DAY_S > clock.clean_highs[segment]:
            return None
        day, days = wall // DAY_S, self.pattern.days
        return offset, days.has(day), wall % DAY_S > 0 and days.has(day + 1)

    def day_bits(self, start: int) -> int:
        clock, bits = self.clock, 0
        whole = self.pattern.day_bits()
        for segment in range(clock.segment_of(start), clock.segment_of(start + DAY_S - 1) + 1):
            offset, natural = clock.offsets[segment], clock.naturals[segment]
            low, high = clock.lows[segment], clock.highs[segment]
            if clock.starts[segment] < start:
                low = max(low, start + offset)
            high = min(high, start + DAY_S + offset)
            if low < natural:
                bits |= self._clamps(low, natural) << (natural - offset - start)
                low = natural
            for day in range(low // DAY_S, (high - 1) // DAY_S + 1):
                if self.pattern.days.has(day):
                    wall = day * DAY_S
                    piece = whole & ((1 << max(high - wall, 0)) - 1)
                    piece = piece >> max(low - wall, 0) << max(low - wall, 0)
                    shift = wall - offset - start
                    bits |= piece << shift if shift >= 0 else piece >> -shift
        return bits

    def _clamps(self, low: int, natural: int) -> bool:
        """Whether a skipped time asks for the first instant after the gap."""
        wall = self.pattern.next_from(low)
        return wall is not None and wall < natural

    def _clean_day(self, day: int) -> tuple[int, int]:
        """The first day from `day` on that lies whole inside one segment, and the segment."""
        clock = self.clock
        while True:
            segment = bisect_right(clock.clean_highs, day * DAY_S)
            if segment == len(clock.offsets):
                return END_DAY, segment - 1
            if (
                clock.clean_lows[segment] <= day * DAY_S
                and (day + 1) * DAY_S <= clock.clean_highs[segment]
            ):
                return day, segment
            day += 1

    def _pieces(self, after: int, through: int, line: TimeLine[Point]) -> Iterator[Point]:
        """The instants of (after, through], segment by segment."""
        clock = self.clock
        through = min(through, clock.starts[-1] - 1)
        first, last = clock.segment_of(after), clock.segment_of(through)
        for segment in range(first, last + 1):
            offset, natural = clock.offsets[segment], clock.naturals[segment]
            low, high = clock.lows[segment], clock.highs[segment]
            if segment == first:
                low = max(low, after + 1 + offset)
            if segment == last:
                high = min(high, through + 1 + offset)
            if low < natural:
                clamps = self._clamps(low, natural)
                if clamps:
                    yield line.point(clock.starts[segment])
                low = natural + clamps
            start, unit = line.point(-offset), line.unit
            for wall in self.pattern.expand(low, high):
                yield start + wall * unit


class WallSeconds(Protocol):
    """A set of wall seconds that can be counted."""

    def count(self, low: int, high: int) -> int:
        """How many wall seconds of [low, high) are in the set."""

    def has(self, wall: int) -> bool:
        """Whether one is."""


def count_walls(walls: WallSeconds, clock: WallClock, after: int, through: int) -> int:
    """How many instants of (after, through] a set of wall seconds has on a clock.

    One stretch of wall time is counted, then what each uneven or clamped segment changes in it.
    """
    if after >= through:
        return 0
    first, last = clock.segment_of(after), clock.segment_of(through)
    begin = max(after + 1 + clock.offsets[first], clock.lows[first])
    end = min(through + 1 + clock.offsets[last], clock.highs[last])
    if first == last:
        return walls.count(begin, end) if begin < end else 0
    begin, end = min(begin, clock.highs[first]), max(end, clock.lows[last])
    total = walls.count(begin, end) if begin <= end else -walls.count(end, begin)
    for segment in _between(clock.uneven, first, last):
        low, high = clock.lows[segment], clock.highs[segment - 1]
        total += walls.count(low, high) if low < high else -walls.count(high, low)
    for segment in _between(clock.clamped, first, last):
        low, natural = clock.lows[segment], clock.naturals[segment]
        if skipped := walls.count(low, natural):
            total -= skipped - 1 + walls.has(natural)
    return total


def _between(segments: tuple[int, ...], first: int, last: int) -> tuple[int, ...]:
    """Those of the ascending numbers that lie in (first, last]."""
    return segments[bisect_right(segments, first) : bisect_right(segments, last)]
