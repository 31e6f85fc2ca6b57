"""Enumerators for tests: a plain list, a fixed period, one that counts its calls, a broken one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from scheduling.errors import RuleError
from scheduling.rules import Enumerator


class ListEnumerator:
    """The instants given, and no others."""

    def __init__(self, instants_us: Iterable[int]) -> None:
        self.instants_us = sorted(set(instants_us))

    def next_after_us(self, instant_us: int, /) -> int | None:
        index = bisect_right(self.instants_us, instant_us)
        return self.instants_us[index] if index < len(self.instants_us) else None

    def previous_before_us(self, instant_us: int, /) -> int | None:
        index = bisect_left(self.instants_us, instant_us)
        return self.instants_us[index - 1] if index else None

    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]:
        first = bisect_right(self.instants_us, after_us)
        return self.instants_us[first : bisect_right(self.instants_us, through_us)][:limit]

    def count_between_us(self, after_us: int, through_us: int, /) -> int:
        counted = bisect_right(self.instants_us, through_us)
        return max(0, counted - bisect_right(self.instants_us, after_us))


class PeriodEnumerator:
    """Every multiple of a period, for ever."""

    def __init__(self, period_us: int) -> None:
        self.period_us = period_us

    def next_after_us(self, instant_us: int, /) -> int | None:
        return (instant_us // self.period_us + 1) * self.period_us

    def previous_before_us(self, instant_us: int, /) -> int | None:
        return (instant_us - 1) // self.period_us * self.period_us

    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]:
        count = min(limit, self.count_between_us(after_us, through_us))
        first_us = (after_us // self.period_us + 1) * self.period_us
        return [first_us + n * self.period_us for n in range(count)]

    def count_between_us(self, after_us: int, through_us: int, /) -> int:
        return max(0, through_us // self.period_us - after_us // self.period_us)


class CountingEnumerator:
    """Counts the calls on another enumerator, and the instants that it listed."""

    def __init__(self, inner: Enumerator) -> None:
        self._inner = inner
        self.calls = 0
        self.listed = 0

    def next_after_us(self, instant_us: int, /) -> int | None:
        self.calls += 1
        return self._inner.next_after_us(instant_us)

    def previous_before_us(self, instant_us: int, /) -> int | None:
        self.calls += 1
        return self._inner.previous_before_us(instant_us)

    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]:
        self.calls += 1
        instants_us = self._inner.between_us(after_us, through_us, limit)
        self.listed += len(instants_us)
        return instants_us

    def count_between_us(self, after_us: int, through_us: int, /) -> int:
        self.calls += 1
        return self._inner.count_between_us(after_us, through_us)


class BrokenEnumerator:
    """A rule that raises whatever it is asked."""

    def next_after_us(self, instant_us: int, /) -> int | None:
        raise RuleError("the zone is gone")

    def previous_before_us(self, instant_us: int, /) -> int | None:
        raise RuleError("the zone is gone")

    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]:
        raise RuleError("the zone is gone")

    def count_between_us(self, after_us: int, through_us: int, /) -> int:
        raise RuleError("the zone is gone")
