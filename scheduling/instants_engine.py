"""`at`: instants known one by one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from scheduling.engine import DAY_S, MemberEngine, Point, TimeLine


class InstantsEngine(MemberEngine):
    """One instant, or two where a wall time repeats and both passes count."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: tuple[int, ...]) -> None:
        self.seconds = seconds

    def next_s(self, after: int) -> int | None:
        at = bisect_right(self.seconds, after)
        return self.seconds[at] if at < len(self.seconds) else None

    def previous_s(self, before: int) -> int | None:
        at = bisect_left(self.seconds, before)
        return self.seconds[at - 1] if at else None

    def count_s(self, after: int, through: int) -> int:
        return max(bisect_right(self.seconds, through) - bisect_right(self.seconds, after), 0)

    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        for second in self.seconds[bisect_right(self.seconds, after) :]:
            yield line.point(second)

    def day_key(self, start: int) -> object:
        return tuple(second - start for second in self.seconds if 0 <= second - start < DAY_S)

    def day_bits(self, start: int) -> int:
        return sum(1 << second - start for second in self.seconds if 0 <= second - start < DAY_S)
