"""Several cron expressions as one set of wall seconds, for counting: by inclusion and exclusion.

What two expressions have in common is again a pattern, and mostly nothing, so few are left.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from scheduling.day_set import DaySet
from scheduling.wall_pattern import WallPattern

_TERMS_MAX: Final = 64


class WallUnion:
    """The patterns with a sign each: +1 for one, -1 for what two share, +1 for three, ..."""

    __slots__ = ("_terms",)

    def __init__(self, terms: list[tuple[int, WallPattern]]) -> None:
        self._terms = terms

    def count(self, low: int, high: int) -> int:
        """How many wall seconds of [low, high) match any of the patterns."""
        return sum(sign * pattern.count(low, high) for sign, pattern in self._terms)

    def has(self, wall: int) -> bool:
        """Whether a wall second matches any of the patterns."""
        return any(pattern.has(wall) for sign, pattern in self._terms if sign > 0)


def unite(patterns: Sequence[WallPattern]) -> WallUnion | None:
    """The union of patterns; None where they overlap in too many ways to be worth it."""
    terms: list[tuple[int, WallPattern]] = []
    for pattern in patterns:
        shared = [
            (-sign, common)
            for sign, earlier in terms
            if (common := _common(earlier, pattern)) is not None
        ]
        terms += [(1, pattern), *shared]
        if len(terms) > _TERMS_MAX:
            return None
    return WallUnion(terms)


def _common(one: WallPattern, other: WallPattern) -> WallPattern | None:
    hours, minutes = one.hours & other.hours, one.minutes & other.minutes
    seconds = one.seconds & other.seconds
    if not (hours and minutes and seconds):
        return None
    days = _common_days(one.days, other.days)
    return None if days is None else WallPattern(seconds, minutes, hours, days)


@lru_cache(maxsize=1024)
def _common_days(one: DaySet, other: DaySet) -> DaySet | None:
    return one if one is other else one.common(other)
