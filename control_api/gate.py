"""The clock gate of changes: an edit settles what is due, so it must not trust a bad clock."""

import threading

from ports.errors import ChangeProblem, ChangeRefused, ProblemKind
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import GateState, observe


class ChangeGate:
    """What one process has seen of its clock, for all of its changes. Thread-safe."""

    def __init__(self, clock: TimeAuthorityPort) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = GateState()

    def now_us(self) -> int:
        """The clock's earliest. ChangeRefused while it was stepped just now, or is uncertain."""
        with self._lock:
            reading = self._clock.now()
            self._state, verdict = observe(self._state, reading)
        if not verdict.is_open:
            text = "clock: it was set or is uncertain just now: try again in ten seconds"
            raise ChangeRefused((ChangeProblem(text, ProblemKind.UNCERTAIN, "clock"),))
        return reading.earliest_us
