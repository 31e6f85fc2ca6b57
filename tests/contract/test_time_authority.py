"""Time authority: a reading is sane, and readings agree with each other."""

import time

from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import GateReason, GateState, observe


def test_reading_lies_within_the_machines_own_time(time_authority: TimeAuthorityPort) -> None:
    before_us = time.time_ns() // 1_000
    reading = time_authority.now()
    after_us = time.time_ns() // 1_000
    assert before_us - reading.epsilon_us <= reading.wall_us <= after_us + reading.epsilon_us


def test_reading_has_a_bound_that_lets_it_decide(time_authority: TimeAuthorityPort) -> None:
    reading = time_authority.now()
    assert reading.earliest_us < reading.wall_us < reading.latest_us
    assert observe(GateState(), reading)[1].reason is GateReason.OPEN


def test_readings_in_a_row_never_look_like_a_step(time_authority: TimeAuthorityPort) -> None:
    state = GateState()
    steps = []
    for _ in range(200):
        state, verdict = observe(state, time_authority.now())
        steps.append(verdict.step_us)
    assert steps == [0] * 200


def test_boot_time_never_goes_back(time_authority: TimeAuthorityPort) -> None:
    boots = [time_authority.now().boot_us for _ in range(200)]
    assert boots == sorted(boots)
