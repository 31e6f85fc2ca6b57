"""A list of recurrences: sorted, each instant once."""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby

from scheduling.cron_engine import CronEngine, count_walls
from scheduling.engine import DAY_S, Engine, MemberEngine, Point, TimeLine
from scheduling.wall_union import unite


class UnionEngine(Engine):
    """The instants of at least two engines together."""

    __slots__ = ("members",)

    def __init__(self, members: tuple[MemberEngine, ...]) -> None:
        self.members = members

    def next_s(self, after: int) -> int | None:
        found = [second for one in self.members if (second := one.next_s(after)) is not None]
        return min(found, default=None)

    def previous_s(self, before: int) -> int | None:
        found = [second for one in self.members if (second := one.previous_s(before)) is not None]
        return max(found, default=None)

    def count_s(self, after: int, through: int) -> int:
        crons = [one for one in self.members if isinstance(one, CronEngine)]
        if len(crons) == len(self.members) and len({id(one.clock) for one in crons}) == 1:
            walls = unite([one.pattern for one in crons])
            if walls is not None:
                return count_walls(walls, crons[0].clock, after, through)
        return self._count_by_days(after, through) if after < through else 0

    def _count_by_days(self, after: int, through: int) -> int:
        """Days that look alike are counted once, so the time goes by days, not by instants."""
        begin, end = after + 1, through + 1
        counted: dict[object, int] = {}
        total = 0
        for start in range(begin // DAY_S * DAY_S, end, DAY_S):
            if start < begin or start + DAY_S > end:
                bits = self._day_bits(start) & ((1 << min(end - start, DAY_S)) - 1)
                total += (bits >> max(begin - start, 0)).bit_count()
                continue
            key = self._day_key(start)
            count = counted.get(key) if key is not None else None
            if count is None:
                count = self._day_bits(start).bit_count()
                if key is not None:
                    counted[key] = count
            total += count
        return total

    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        for point, _ in groupby(merge(*(one.iterate(after, line) for one in self.members))):
            yield point

    def _day_key(self, start: int) -> object:
        keys = tuple(one.day_key(start) for one in self.members)
        return None if None in keys else keys

    def _day_bits(self, start: int) -> int:
        bits = 0
        for one in self.members:
            bits |= one.day_bits(start)
        return bits
