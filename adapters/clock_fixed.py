"""The time authority with a fixed error bound: the machine's clock, trusted to that bound."""

import time
from collections.abc import Callable

from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading
from scheduling.limits import CLOCK_BRACKET_US, CLOCK_TRIES_MAX, EPSILON_US_DEFAULT


def boot_clock_of(clocks: object) -> int:
    """The id of the clock that goes on through a suspend and is never set.

    On Linux CLOCK_MONOTONIC stops in a suspend, on macOS it is the one that goes on. On a system
    where neither is so a suspend looks like a step, and nothing is decided for ten seconds.
    """
    found = getattr(clocks, "CLOCK_BOOTTIME", None)
    return int(found if found is not None else clocks.CLOCK_MONOTONIC)  # type: ignore[attr-defined]


_BOOT_CLOCK: int = boot_clock_of(time)


def _boot_ns() -> int:
    return time.clock_gettime_ns(_BOOT_CLOCK)


class FixedClock(TimeAuthorityPort):
    """`epsilon_us` is the error that the machine's time synchronisation promises to keep."""

    def __init__(
        self,
        epsilon_us: int = EPSILON_US_DEFAULT,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        boot_ns: Callable[[], int] = _boot_ns,
    ) -> None:
        if epsilon_us < 0:
            raise ValueError(f"epsilon_us: {epsilon_us} is negative; give the bound of the error")
        self._epsilon_us = epsilon_us
        self._wall_ns = wall_ns
        self._boot_ns = boot_ns

    def now(self) -> ClockReading:
        """Wall time between two readings of boot time, which lie as close as a few tries bring.

        A process that is put aside between the readings would otherwise see a step.
        """
        tightest = self._bracket()
        for _ in range(CLOCK_TRIES_MAX - 1):
            if tightest[0] <= CLOCK_BRACKET_US * 1_000:
                break
            tightest = min(tightest, self._bracket())
        width_ns, wall_ns, boot_ns = tightest
        return ClockReading(wall_ns // 1_000, (boot_ns + width_ns // 2) // 1_000, self._epsilon_us)

    def _bracket(self) -> tuple[int, int, int]:
        """How far apart the boot readings are, the wall time, the first boot time."""
        before_ns = self._boot_ns()
        wall_ns = self._wall_ns()
        return self._boot_ns() - before_ns, wall_ns, before_ns
