"""The clock gate of changes: an edit settles what is due, so it must not trust a bad clock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ports.errors import ChangeProblem, ChangeRefused, ProblemKind
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading, GateState, GateVerdict, observe

_LOOK_EVERY_S: Final = 1.0


class ChangeGate:
    """What one process has seen of its clock, for all of its changes. Thread-safe."""

    def __init__(self, clock: TimeAuthorityPort) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = GateState()

    def now_us(self) -> int:
        """The clock's earliest. ChangeRefused while it was stepped just now, or is uncertain."""
        reading, verdict = self._look()
        if not verdict.is_open:
            text = "clock: it was set or is uncertain just now: try again in ten seconds"
            raise ChangeRefused((ChangeProblem(text, ProblemKind.UNCERTAIN, "clock"),))
        return reading.earliest_us

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside it the clock is looked at every second.

        Between two looks far apart a slewed clock may drift by more than a step of a second or
        two, which would then pass for drift.
        """
        stop = threading.Event()
        thread = threading.Thread(target=self._watch, args=(stop,), name="api-clock", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(_LOOK_EVERY_S):
            self._look()

    def _look(self) -> tuple[ClockReading, GateVerdict]:
        with self._lock:
            reading = self._clock.now()
            self._state, verdict = observe(self._state, reading)
        return reading, verdict
