"""A time authority that moves only when it is told to."""

from dataclasses import dataclass

from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading


@dataclass(slots=True)
class ManualClock(TimeAuthorityPort):
    """Wall, boot and epsilon in microseconds, all of them settable."""

    wall_us: int = 0
    boot_us: int = 0
    epsilon_us: int = 5_000

    def now(self) -> ClockReading:
        return ClockReading(self.wall_us, self.boot_us, self.epsilon_us)

    def advance(self, duration_us: int) -> ClockReading:
        """Time passes: wall and boot move together, as they do through a suspend."""
        self.wall_us += duration_us
        self.boot_us += duration_us
        return self.now()

    def step(self, size_us: int) -> ClockReading:
        """Somebody sets the wall clock, forward or back."""
        self.wall_us += size_us
        return self.now()
