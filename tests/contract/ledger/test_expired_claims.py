"""A claim whose time is over is an ambiguous try that counts; its late result may still count."""

import pytest

from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, OverlapPolicy
from tests.support.hand_crank import BUSY, LOST, OK, REFUSED, HandCrank

HOURLY = ("0 * * * *",)
EXPIRED_S = 3_600 + 10 + 5 + 0.000001


@pytest.fixture
def expired(crank: HandCrank) -> HandCrank:
    """Claimed at 3600 and never heard of again; the sweep has seen it."""
    crank.put(recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    crank.to(EXPIRED_S)
    crank.sweep()
    return crank


def test_claim_within_its_time_is_left_alone(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    crank.to(3_615)
    crank.sweep()
    assert crank.lines() == ["3600 dispatching"]


def test_expired_claim_is_an_ambiguous_try_that_counts(expired: HandCrank) -> None:
    (fire,) = expired.fires()
    assert (fire.state, fire.held_reason, fire.next_attempt_n) == ("held", "backoff", 2)
    (attempt,) = expired.store.history.attempts(fire.key)
    assert (attempt.transport_result, attempt.error) == ("ambiguous", "claim expired")


def test_expired_claim_of_the_last_try_is_unknown(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY, attempt_budget=1)
    crank.claim(crank.commit_at(3_600))
    crank.to(EXPIRED_S)
    assert crank.sweep() == []
    assert crank.lines() == ["3600 unknown"]


@pytest.mark.parametrize(
    ("result", "state"),
    [
        pytest.param(OK, FireState.ACCEPTED, id="2xx"),
        pytest.param(REFUSED, FireState.REFUSED, id="4xx"),
        pytest.param(BUSY, FireState.HELD, id="5xx"),
        pytest.param(LOST, FireState.HELD, id="ambiguous"),
    ],
)
def test_late_result_counts_while_the_fire_waits_for_its_retry(
    expired: HandCrank, result: AttemptResult, state: FireState
) -> None:
    expired.to(3_617)
    assert expired.finish(expired.key(3_600), result=result).state is state
    (attempt,) = expired.store.history.attempts(expired.key(3_600))
    assert attempt.http_status == result.http_status
    assert expired.fires()[0].next_attempt_n == 2


def test_late_2xx_takes_the_retry_back(expired: HandCrank) -> None:
    expired.to(3_640)
    (retry,) = expired.sweep()
    expired.finish(expired.key(3_600), 1)
    assert expired.claim([retry]) == []
    assert expired.lines() == ["3600 accepted"]


def test_late_2xx_counts_while_the_retry_is_out_and_the_retry_changes_nothing(
    expired: HandCrank,
) -> None:
    expired.to(3_640)
    expired.claim(expired.sweep())
    assert expired.finish(expired.key(3_600), 1).state is FireState.ACCEPTED
    assert expired.finish(expired.key(3_600), 2, result=REFUSED).state is FireState.ACCEPTED
    statuses = [each.http_status for each in expired.store.history.attempts(expired.key(3_600))]
    assert statuses == [200, 404]


def test_late_5xx_does_not_disturb_the_retry_that_is_out(expired: HandCrank) -> None:
    expired.to(3_640)
    expired.claim(expired.sweep())
    assert expired.finish(expired.key(3_600), 1, result=BUSY).state is FireState.DISPATCHING
    assert expired.finish(expired.key(3_600), 2).state is FireState.ACCEPTED


def test_late_result_of_a_terminal_fire_changes_its_state_no_more(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY, attempt_budget=1)
    crank.claim(crank.commit_at(3_600))
    crank.to(EXPIRED_S)
    crank.sweep()
    assert crank.finish(crank.key(3_600)).state is FireState.UNKNOWN


def test_expired_claim_keeps_the_slot_because_it_may_be_running(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, attempt_budget=1)
    crank.claim(crank.commit_at(60))
    crank.to(80)
    crank.sweep()
    crank.commit_at(120)
    assert crank.lines() == ["60 unknown", "120 overlap"]
