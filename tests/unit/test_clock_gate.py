"""The clock gate: steps, slews, suspends and a bad epsilon."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.clock_gate import ClockReading, GateReason, GateState, GateVerdict, observe
from scheduling.instants import SECOND_US
from tests.support.manual_clock import ManualClock

OPEN, STEPPED, EPSILON = GateReason.OPEN, GateReason.STEPPED, GateReason.EPSILON


def _started(**changes: int) -> tuple[ManualClock, GateState]:
    clock = ManualClock(wall_us=10**15, boot_us=10**9)
    for name, value in changes.items():
        setattr(clock, name, value)
    state, _ = observe(GateState(), clock.now())
    return clock, state


def test_reading_spans_epsilon_on_both_sides() -> None:
    reading = ClockReading(wall_us=1_000, boot_us=7, epsilon_us=30)
    assert (reading.earliest_us, reading.latest_us) == (970, 1_030)


def test_gate_first_reading_is_open() -> None:
    reading = ManualClock(wall_us=5).now()
    state, verdict = observe(GateState(), reading)
    assert (state, verdict) == (GateState(reading, None), GateVerdict(OPEN))
    assert verdict.is_open


@pytest.mark.parametrize(
    ("step_us", "reason"),
    [
        pytest.param(5_000, OPEN, id="forward_by_epsilon"),
        pytest.param(5_001, STEPPED, id="forward_beyond_epsilon"),
        pytest.param(-5_000, OPEN, id="back_by_epsilon"),
        pytest.param(-5_001, STEPPED, id="back_beyond_epsilon"),
        pytest.param(3_600 * SECOND_US, STEPPED, id="forward_an_hour"),
        pytest.param(-3_600 * SECOND_US, STEPPED, id="back_an_hour"),
    ],
)
def test_gate_step_beyond_epsilon_closes(step_us: int, reason: GateReason) -> None:
    clock, state = _started()
    _, verdict = observe(state, clock.step(step_us))
    assert verdict == GateVerdict(reason, step_us if reason is STEPPED else 0)
    assert verdict.is_open == (reason is OPEN)


@pytest.mark.parametrize("step_us", [60 * SECOND_US, -60 * SECOND_US])
def test_gate_stays_closed_for_ten_seconds_of_boot_time(step_us: int) -> None:
    clock, state = _started()
    state, _ = observe(state, clock.step(step_us))
    state, verdict = observe(state, clock.advance(10 * SECOND_US - 1))
    assert verdict == GateVerdict(STEPPED)
    state, verdict = observe(state, clock.advance(1))
    assert verdict == GateVerdict(OPEN)
    assert state.closed_until_boot_us is None


def test_gate_second_step_starts_the_ten_seconds_again() -> None:
    clock, state = _started()
    state, _ = observe(state, clock.step(SECOND_US))
    state, _ = observe(state, clock.advance(9 * SECOND_US))
    state, verdict = observe(state, clock.step(-SECOND_US))
    assert verdict == GateVerdict(STEPPED, -SECOND_US)
    state, verdict = observe(state, clock.advance(9 * SECOND_US))
    assert verdict.reason is STEPPED
    _, verdict = observe(state, clock.advance(SECOND_US))
    assert verdict.reason is OPEN


def test_gate_wall_clock_cannot_shorten_the_ten_seconds() -> None:
    clock, state = _started()
    state, _ = observe(state, clock.step(SECOND_US))
    state, verdict = observe(state, clock.step(10 * SECOND_US))
    assert verdict.reason is STEPPED
    assert state.closed_until_boot_us == clock.boot_us + 10 * SECOND_US


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("every_us", [20_000, SECOND_US, 3_600 * SECOND_US])
def test_gate_slew_of_500_ppm_stays_open(sign: int, every_us: int) -> None:
    clock, state = _started(epsilon_us=0)
    for _ in range(200):
        clock.step(sign * every_us // 2_000)
        state, verdict = observe(state, clock.advance(every_us))
        assert verdict == GateVerdict(OPEN)


def test_gate_faster_than_a_slew_is_a_step() -> None:
    clock, state = _started(epsilon_us=0)
    clock.step(501)
    _, verdict = observe(state, clock.advance(SECOND_US))
    assert verdict == GateVerdict(STEPPED, 501)


@pytest.mark.parametrize("asleep_us", [SECOND_US, 86_400 * SECOND_US])
def test_gate_suspend_moves_both_clocks_and_stays_open(asleep_us: int) -> None:
    clock, state = _started()
    _, verdict = observe(state, clock.advance(asleep_us))
    assert verdict == GateVerdict(OPEN)


@pytest.mark.parametrize(
    ("epsilon_us", "reason"),
    [
        pytest.param(0, OPEN, id="none"),
        pytest.param(100_000, OPEN, id="100_ms"),
        pytest.param(100_001, EPSILON, id="over_100_ms"),
    ],
)
def test_gate_epsilon_over_100_ms_closes(epsilon_us: int, reason: GateReason) -> None:
    clock, state = _started()
    clock.epsilon_us = epsilon_us
    state, verdict = observe(state, clock.advance(SECOND_US))
    assert verdict == GateVerdict(reason)
    clock.epsilon_us = 5_000
    _, verdict = observe(state, clock.advance(SECOND_US))
    assert verdict == GateVerdict(OPEN)


@pytest.mark.parametrize(
    ("before_us", "after_us"),
    [pytest.param(50_000, 5_000, id="shrinking"), pytest.param(5_000, 50_000, id="growing")],
)
def test_gate_step_is_judged_by_the_wider_epsilon(before_us: int, after_us: int) -> None:
    clock, state = _started(epsilon_us=before_us)
    clock.epsilon_us = after_us
    _, verdict = observe(state, clock.step(50_000))
    assert verdict == GateVerdict(OPEN)
    _, verdict = observe(state, clock.step(1))
    assert verdict == GateVerdict(STEPPED, 50_001)


def test_gate_step_while_epsilon_is_bad_is_named_a_step() -> None:
    clock, state = _started()
    clock.epsilon_us = 200_000
    _, verdict = observe(state, clock.step(SECOND_US))
    assert verdict == GateVerdict(STEPPED, SECOND_US)


@given(
    moves=st.lists(
        st.tuples(
            st.integers(0, 30 * SECOND_US), st.sampled_from((0, 0, 0, 5_000, 10**6, -(10**6)))
        ),
        max_size=40,
    )
)
def test_gate_any_history_is_closed_for_ten_seconds_after_each_step(
    moves: list[tuple[int, int]],
) -> None:
    clock, state = _started()
    stepped_at_us: int | None = None
    for passed_us, step_us in moves:
        clock.step(step_us)
        state, verdict = observe(state, clock.advance(passed_us))
        if abs(step_us) > 5_000 + passed_us // 2_000:
            stepped_at_us = clock.boot_us
        is_closed = stepped_at_us is not None and clock.boot_us < stepped_at_us + 10 * SECOND_US
        assert verdict.is_open != is_closed
