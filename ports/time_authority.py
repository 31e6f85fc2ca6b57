"""The time authority port: what time it is, and how surely."""

from abc import ABC, abstractmethod

from scheduling.clock_gate import ClockReading


class TimeAuthorityPort(ABC):
    """Early and late are judged by this clock alone."""

    @abstractmethod
    def now(self) -> ClockReading:
        """Wall time, boot time and the error bound, read together."""
