"""What the kernel tells about its clock, and systems that do not tell."""

import ctypes
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.clock_fixed import FixedClock, boot_clock_of
from adapters.kernel_clock import KernelClock, kernel_clock


def library(status: int, maxerror: int, *, answer: int = 0) -> Any:
    """A C library whose adjtimex answers this."""

    def adjtimex(pointer: Any) -> int:
        state = pointer._obj
        assert state.modes == 0, "nothing is set"
        state.status, state.maxerror = status, maxerror
        return answer

    return lambda name: SimpleNamespace(adjtimex=adjtimex)


@pytest.mark.parametrize(
    ("status", "maxerror", "answer", "expected"),
    [
        pytest.param(0x1, 2_500, 0, KernelClock(True, 2_500), id="synchronised"),
        pytest.param(0x41, 16_000_000, 5, KernelClock(False, 16_000_000), id="not_synchronised"),
        pytest.param(0, 0, -1, None, id="refused"),
    ],
)
def test_kernel_clock_reads_status_and_bound(
    status: int, maxerror: int, answer: int, expected: KernelClock | None
) -> None:
    load = library(status, maxerror, answer=answer)
    assert kernel_clock(platform="linux", load=load) == expected


def test_kernel_clock_without_the_call_is_unknown() -> None:
    assert kernel_clock(platform="linux", load=lambda name: SimpleNamespace()) is None


@pytest.mark.parametrize("platform", ["darwin", "freebsd14", "win32"])
def test_kernel_clock_of_another_system_is_unknown_and_loads_nothing(platform: str) -> None:
    def load(_name: None) -> Any:
        raise AssertionError("loaded")

    assert kernel_clock(platform=platform, load=load) is None


def test_kernel_clock_of_this_machine_has_a_bound_or_is_unknown() -> None:
    found = kernel_clock()
    assert (found is None) or (sys.platform.startswith("linux") and found.max_error_us >= 0)
    assert ctypes.sizeof(ctypes.c_long) >= 4


@pytest.mark.parametrize(
    ("clocks", "expected"),
    [
        pytest.param({"CLOCK_BOOTTIME": 7, "CLOCK_MONOTONIC": 1}, 7, id="linux"),
        pytest.param({"CLOCK_MONOTONIC": 6, "CLOCK_UPTIME_RAW": 8}, 6, id="macos"),
        pytest.param({"CLOCK_BOOTTIME": 0, "CLOCK_MONOTONIC": 6}, 0, id="an_id_of_zero"),
    ],
)
def test_boot_clock_is_the_one_that_goes_on_through_a_suspend(
    clocks: dict[str, int], expected: int
) -> None:
    assert boot_clock_of(SimpleNamespace(**clocks)) == expected


def test_clock_without_boot_time_reads_on() -> None:
    fallback = boot_clock_of(SimpleNamespace(CLOCK_MONOTONIC=time.CLOCK_MONOTONIC))
    clock = FixedClock(boot_ns=lambda: time.clock_gettime_ns(fallback))
    first, second = clock.now(), clock.now()
    assert 0 <= second.boot_us - first.boot_us < 60_000_000
