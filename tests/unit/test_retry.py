"""What follows an attempt: status classes, backoff, Retry-After, budget, window, next due time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.keys import FireKey, attempt_seed
from scheduling.limits import RETRY_BASE_US, RETRY_CAP_US
from scheduling.retry import (
    CLAIM_EXPIRED,
    AttemptResult,
    NextStep,
    RetryPolicy,
    after_attempt,
    backoff_us,
    exhausted_state,
    retry_end_us,
    untried_wait_us,
)
from scheduling.vocabulary import FireState, Lane, MissedPolicy, TransportResult

RESPONSE, NOT_SENT = TransportResult.RESPONSE, TransportResult.NOT_SENT
AMBIGUOUS = TransportResult.AMBIGUOUS
NOW_US = 1_000_000_000
POLICY = RetryPolicy(
    budget=5, window_until_us=NOW_US + 10**10, retry_until_us=None, response_is_outcome=False
)
# 300_001 mod (1 s + 1 us): the first backoff is 0.300001 s.
SEED = 300_001


def _after(result: AttemptResult, n: int = 1, **changes: Any) -> NextStep:
    policy = POLICY._replace(**changes)
    return after_attempt(result, n, policy=policy, now_us=NOW_US, seed=SEED)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        pytest.param((200, 201, 202, 204, 299), FireState.ACCEPTED, id="2xx"),
        pytest.param((100, 103, 199), FireState.REFUSED, id="1xx"),
        pytest.param((300, 301, 302, 304, 307, 308, 399), FireState.REFUSED, id="3xx"),
        pytest.param((400, 401, 403, 404, 409, 410, 422, 451, 499), FireState.REFUSED, id="4xx"),
        pytest.param((408, 425, 429), FireState.HELD, id="retried_4xx"),
        pytest.param((500, 501, 502, 503, 504, 511, 599), FireState.HELD, id="5xx"),
    ],
)
def test_attempt_status_class_decides(statuses: tuple[int, ...], expected: FireState) -> None:
    steps = [_after(AttemptResult(RESPONSE, status)) for status in statuses]
    assert {step.state for step in steps} == {expected}
    not_before_us = NOW_US + SEED if expected is FireState.HELD else None
    assert {step.not_before_us for step in steps} == {not_before_us}


@pytest.mark.parametrize("result", [NOT_SENT, AMBIGUOUS])
def test_attempt_without_an_answer_is_tried_again(result: TransportResult) -> None:
    assert _after(AttemptResult(result)) == NextStep(FireState.HELD, NOW_US + SEED)


@pytest.mark.parametrize("status", [200, 204, 299])
def test_attempt_response_may_be_the_outcome(status: int) -> None:
    step = _after(AttemptResult(RESPONSE, status), response_is_outcome=True)
    assert step == NextStep(FireState.SUCCEEDED)
    assert _after(AttemptResult(RESPONSE, 404), response_is_outcome=True).state is FireState.REFUSED


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(AttemptResult(AMBIGUOUS), FireState.UNKNOWN, id="ambiguous"),
        pytest.param(AttemptResult(NOT_SENT), FireState.UNDELIVERED, id="not_sent"),
        pytest.param(AttemptResult(RESPONSE, 503), FireState.UNDELIVERED, id="answered"),
    ],
)
def test_attempt_budget_spent_ends_by_what_the_last_try_was(
    result: AttemptResult, expected: FireState
) -> None:
    assert _after(result, 4).state is FireState.HELD
    assert _after(result, 5) == NextStep(expected)
    assert _after(result, 6) == NextStep(expected)
    assert exhausted_state(is_ambiguous=result.is_ambiguous) is expected


@pytest.mark.parametrize(
    ("retry_after_us", "waits_us"),
    [
        pytest.param(None, SEED, id="none"),
        pytest.param(SEED - 1, SEED, id="shorter_than_the_backoff"),
        pytest.param(7_000_000, 7_000_000, id="longer_than_the_backoff"),
        pytest.param(-5, SEED, id="nonsense_in_the_past"),
    ],
)
def test_attempt_retry_after_is_honoured(retry_after_us: int | None, waits_us: int) -> None:
    step = _after(AttemptResult(RESPONSE, 429, retry_after_us))
    assert step == NextStep(FireState.HELD, NOW_US + waits_us)


@pytest.mark.parametrize(
    ("window_us", "expected"),
    [
        pytest.param(SEED, FireState.HELD, id="just_inside"),
        pytest.param(SEED - 1, FireState.UNDELIVERED, id="just_outside"),
    ],
)
def test_attempt_retry_window_ends_the_tries(window_us: int, expected: FireState) -> None:
    step = _after(AttemptResult(RESPONSE, 500), window_until_us=NOW_US + window_us)
    assert step.state is expected


def test_attempt_retry_after_beyond_the_window_ends_the_tries() -> None:
    step = _after(AttemptResult(RESPONSE, 503, 10**10 + 1))
    assert step == NextStep(FireState.UNDELIVERED)


@pytest.mark.parametrize(
    ("until_us", "expected"),
    [
        pytest.param(SEED + 1, FireState.HELD, id="just_before_the_next_due_time"),
        pytest.param(SEED, FireState.UNKNOWN, id="at_the_next_due_time"),
        pytest.param(-1, FireState.UNKNOWN, id="after_it"),
    ],
)
def test_attempt_on_time_retries_end_at_the_next_due_time(
    until_us: int, expected: FireState
) -> None:
    step = _after(AttemptResult(AMBIGUOUS), retry_until_us=NOW_US + until_us)
    assert step.state is expected


@pytest.mark.parametrize(
    ("result", "lane", "policy", "expected"),
    [
        (AttemptResult(AMBIGUOUS), Lane.ON_TIME, MissedPolicy.FIRE_ALL, NOW_US),
        (CLAIM_EXPIRED, Lane.ON_TIME, MissedPolicy.FIRE_ALL, None),
        (CLAIM_EXPIRED, Lane.ON_TIME, MissedPolicy.FIRE_ONCE_NOW, NOW_US),
        (CLAIM_EXPIRED, Lane.ON_TIME, MissedPolicy.SKIP, NOW_US),
        (AttemptResult(AMBIGUOUS), Lane.CATCH_UP, MissedPolicy.SKIP, None),
    ],
)
def test_retry_end_is_the_next_due_time_unless_nobody_came_back(
    result: AttemptResult, lane: Lane, policy: MissedPolicy, expected: int | None
) -> None:
    assert retry_end_us(result, NOW_US, lane=lane, missed_policy=policy) == expected


def test_attempt_past_the_next_due_time_still_counts_its_answer() -> None:
    step = _after(AttemptResult(RESPONSE, 200), retry_until_us=NOW_US - 1, window_until_us=0)
    assert step == NextStep(FireState.ACCEPTED)


@given(n=st.integers(1, 1_000), seed=st.integers(0, 2**64 - 1))
def test_backoff_lies_within_its_doubling_ceiling(n: int, seed: int) -> None:
    waits_us = backoff_us(n, seed)
    assert 0 <= waits_us <= min(RETRY_CAP_US, RETRY_BASE_US * 2 ** (n - 1))
    assert waits_us == backoff_us(n, seed)


@pytest.mark.parametrize(
    ("n", "ceiling_us"),
    [(1, 1_000_000), (2, 2_000_000), (5, 16_000_000), (9, 256_000_000), (10, 300_000_000)],
)
def test_backoff_jitter_is_full_and_reaches_both_ends(n: int, ceiling_us: int) -> None:
    assert backoff_us(n, 0) == 0
    assert backoff_us(n, ceiling_us) == ceiling_us
    assert backoff_us(n, ceiling_us + 1) == 0
    waits = [backoff_us(n, attempt_seed(FireKey("acme", "t1", at), n)) for at in range(2_000)]
    assert 0.47 * ceiling_us < sum(waits) / len(waits) < 0.53 * ceiling_us


@pytest.mark.parametrize(
    ("late_s", "wait_s"), [(-1, 2), (0, 2), (8, 2), (10, 2.5), (120, 30), (9_000, 30)]
)
def test_untried_fire_waits_the_longer_the_later_it_is(late_s: int, wait_s: float) -> None:
    assert untried_wait_us(late_s * 1_000_000) == wait_s * 1_000_000
