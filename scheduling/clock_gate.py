"""The clock gate: an instant is due only when the whole interval [earliest, latest] lies past it.

Wall time is checked against boot time. After a step of more than epsilon either way nothing is
decided for ten seconds, and what was missed then is treated as downtime.
"""

from enum import StrEnum
from typing import NamedTuple

from scheduling.limits import EPSILON_MAX_US, STEP_QUARANTINE_US


class ClockReading(NamedTuple):
    """One reading of the time authority, all in microseconds."""

    wall_us: int
    boot_us: int
    epsilon_us: int

    @property
    def earliest_us(self) -> int:
        return self.wall_us - self.epsilon_us

    @property
    def latest_us(self) -> int:
        return self.wall_us + self.epsilon_us


class GateReason(StrEnum):
    OPEN = "open"
    EPSILON = "epsilon"
    STEPPED = "stepped"


class GateState(NamedTuple):
    """What the gate remembers between readings."""

    last: ClockReading | None = None
    closed_until_boot_us: int | None = None


class GateVerdict(NamedTuple):
    """`step_us` is the size of a step seen just now, signed; 0 when there was none."""

    reason: GateReason
    step_us: int = 0

    @property
    def is_open(self) -> bool:
        return self.reason is GateReason.OPEN


def observe(state: GateState, reading: ClockReading) -> tuple[GateState, GateVerdict]:
    """Judge one reading. Pure: the caller keeps the state."""
    step_us = _step_us(state.last, reading)
    closed_until_us = state.closed_until_boot_us
    if step_us:
        closed_until_us = reading.boot_us + STEP_QUARANTINE_US
    if closed_until_us is not None and reading.boot_us >= closed_until_us:
        closed_until_us = None
    if closed_until_us is not None:
        reason = GateReason.STEPPED
    elif reading.epsilon_us > EPSILON_MAX_US:
        reason = GateReason.EPSILON
    else:
        reason = GateReason.OPEN
    return GateState(reading, closed_until_us), GateVerdict(reason, step_us)


def _step_us(last: ClockReading | None, reading: ClockReading) -> int:
    if last is None:
        return 0
    drift_us = (reading.wall_us - last.wall_us) - (reading.boot_us - last.boot_us)
    # A slewed clock drifts by 500 parts per million at most; more than that is a step.
    slewed_us = abs(reading.boot_us - last.boot_us) // 2_000
    tolerated_us = max(last.epsilon_us, reading.epsilon_us) + slewed_us
    return drift_us if abs(drift_us) > tolerated_us else 0
