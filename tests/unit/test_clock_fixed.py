"""The clock with a fixed bound: how wall and boot time are read together."""

from collections.abc import Callable, Iterable

import pytest

from adapters.clock_fixed import FixedClock
from scheduling.clock_gate import ClockReading
from scheduling.limits import CLOCK_TRIES_MAX, EPSILON_US_DEFAULT


def reader(values_us: Iterable[int]) -> Callable[[], int]:
    """A clock that returns these microseconds, as nanoseconds, one a reading."""
    values = iter(values_us)
    return lambda: next(values) * 1_000


def test_reading_takes_the_wall_time_and_the_middle_of_the_bracket() -> None:
    clock = FixedClock(7_000, wall_ns=reader([500]), boot_ns=reader([100, 110]))
    assert clock.now() == ClockReading(500, 105, 7_000)


def test_reading_after_an_interruption_is_taken_again() -> None:
    clock = FixedClock(wall_ns=reader([500, 9_000]), boot_ns=reader([100, 8_100, 8_600, 8_610]))
    assert clock.now() == ClockReading(9_000, 8_605, EPSILON_US_DEFAULT)


def test_reading_on_a_busy_machine_keeps_the_tightest_bracket() -> None:
    widths = [900, 300, 700, 500, 800]
    assert len(widths) == CLOCK_TRIES_MAX
    starts = [10_000 * number for number in range(len(widths))]
    boots = [boot for start, width in zip(starts, widths, strict=True) for boot in
             (start, start + width)]  # fmt: skip
    clock = FixedClock(wall_ns=reader(range(1, 6)), boot_ns=reader(boots))
    assert clock.now() == ClockReading(2, 10_150, EPSILON_US_DEFAULT)


def test_clock_with_a_negative_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="epsilon_us: -1 is negative"):
        FixedClock(-1)
