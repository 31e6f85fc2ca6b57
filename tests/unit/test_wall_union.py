"""Unions counted by inclusion and exclusion."""

from datetime import UTC, datetime, timedelta

import pytest

from scheduling import compile_recurrence
from scheduling.day_set import day_set
from scheduling.wall_pattern import WallPattern
from scheduling.wall_union import unite

WHOLE_HOURS, MINUTE_0, SECOND_0 = (1 << 24) - 1, 1, 1


def _pattern(hours: int, days: tuple[str, str, str], minutes: int = MINUTE_0) -> WallPattern:
    return WallPattern(SECOND_0, minutes, hours, day_set(*days))


def test_union_of_disjoint_patterns_is_their_sum() -> None:
    weekdays = _pattern(1 << 9, ("*", "*", "1-5"))
    saturdays = _pattern(1 << 9, ("*", "*", "6"))
    union = unite([weekdays, saturdays])
    assert union is not None
    assert union.count(0, 28 * 86_400) == 4 * 6
    assert union.has(9 * 3_600)
    assert not union.has(3 * 86_400 + 9 * 3_600)  # 1970-01-04 was a Sunday


def test_union_counts_what_three_share_once() -> None:
    patterns = [_pattern(0b1111, ("*", "*", days)) for days in ("*", "MON-FRI", "FRI,SUN")]
    union = unite(patterns)
    assert union is not None
    assert union.count(0, 28 * 86_400) == 28 * 4


def test_union_that_overlaps_in_too_many_ways_is_left_to_the_days() -> None:
    patterns = [
        _pattern(WHOLE_HOURS, ("*", "*", "*"), MINUTE_0 | 2 << number) for number in range(10)
    ]
    assert unite(patterns) is None


@pytest.mark.parametrize("zone", ["UTC", "Europe/London", "Pacific/Apia"])
def test_union_of_many_overlaps_is_counted_exactly(zone: str) -> None:
    texts = [f"0,{number} * * * *" for number in range(1, 11)]
    recurrence = compile_recurrence(texts, zone)
    after = datetime(2011, 12, 1, 3, 30, tzinfo=UTC)
    through = after + timedelta(days=200)
    listed = recurrence.between(after, through, 10**6)
    assert recurrence.count_between(after, through) == len(listed)
