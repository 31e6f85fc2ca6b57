"""Wall seconds and instants under each pair of rules."""

from datetime import UTC, datetime

import pytest

from scheduling.instants import from_us, to_us
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import wall_clock

SECOND_US = 1_000_000


@pytest.mark.parametrize(
    ("zone", "wall", "gap", "fold", "expected"),
    [
        # New York, 2026-03-08 02:00 -> 03:00 at 07:00Z
        ("America/New_York", "2026-03-08T02:30", "shift_forward", "first", ["07:00"]),
        ("America/New_York", "2026-03-08T02:00", "shift_forward", "first", ["07:00"]),
        ("America/New_York", "2026-03-08T02:30", "skip", "first", []),
        ("America/New_York", "2026-03-08T03:00", "skip", "first", ["07:00"]),
        ("America/New_York", "2026-03-08T01:59", "skip", "both", ["06:59"]),
        # New York, 2026-11-01 02:00 -> 01:00 at 06:00Z
        ("America/New_York", "2026-11-01T01:00", "skip", "first", ["05:00"]),
        ("America/New_York", "2026-11-01T01:00", "skip", "last", ["06:00"]),
        ("America/New_York", "2026-11-01T01:59", "skip", "both", ["05:59", "06:59"]),
        ("America/New_York", "2026-11-01T02:00", "skip", "first", ["07:00"]),
        # Apia, 2011-12-30 does not exist: the 31st begins at 10:00Z of the 30th
        ("Pacific/Apia", "2011-12-30T00:00", "shift_forward", "first", ["10:00"]),
        ("Pacific/Apia", "2011-12-30T23:59", "shift_forward", "first", ["10:00"]),
        ("Pacific/Apia", "2011-12-30T12:00", "skip", "first", []),
        # Kwajalein, 1969-09-30 13:00Z: 00:00 of 1 October becomes 01:00 of 30 September
        ("Pacific/Kwajalein", "1969-09-30T12:00", "skip", "both", ["01:00", "00:00"]),
    ],
)
def test_wall_time_falls_on_its_instants(
    zone: str, wall: str, gap: str, fold: str, expected: list[str]
) -> None:
    clock = wall_clock(zone, GapRule(gap), FoldRule(fold))
    wall_s = to_us(datetime.fromisoformat(wall).replace(tzinfo=UTC)) // SECOND_US
    found = clock.instants_of(wall_s)
    assert [from_us(second * SECOND_US).isoformat()[11:16] for second in found] == expected
    assert found == sorted(found)


def test_wall_clocks_of_links_are_shared() -> None:
    rules = (GapRule.SKIP, FoldRule.BOTH)
    assert wall_clock("US/Eastern", *rules) is wall_clock("America/New_York", *rules)
