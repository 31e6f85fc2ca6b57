"""A claim that expired past the trigger's next due time: the missed policy says what follows."""

import pytest

from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, Lane, MissedPolicy, TransportResult
from tests.support.hand_crank import BUSY, HandCrank

# A claim lives 15 s, ten for the target and five more: to 25, when 20 is due already.
EVERY_TEN = "*/10 * * * * *"


def _expire(crank: HandCrank, policy: MissedPolicy) -> None:
    crank.put(recurrence=(EVERY_TEN,), missed_policy=policy)
    crank.claim(crank.commit_at(10))
    crank.to(26)
    crank.sweep()


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (MissedPolicy.FIRE_ALL, FireState.HELD),
        (MissedPolicy.FIRE_ONCE_NOW, FireState.UNKNOWN),
        (MissedPolicy.SKIP, FireState.UNKNOWN),
    ],
)
def test_expired_claim_past_the_next_due_time_is_tried_again_under_fire_all_alone(
    crank: HandCrank, policy: MissedPolicy, expected: FireState
) -> None:
    _expire(crank, policy)
    assert crank.fire(10).state is expected


def test_expired_claim_tried_again_is_attempted_and_ends(crank: HandCrank) -> None:
    _expire(crank, MissedPolicy.FIRE_ALL)
    crank.to(28)
    again = crank.sweep()
    assert [(message.lane, message.n) for message in again] == [(Lane.ON_TIME, 2)]
    (finished,) = crank.attempt(again)
    assert finished.state is FireState.ACCEPTED


def test_expired_claim_tried_again_keeps_its_budget(crank: HandCrank) -> None:
    _expire(crank, MissedPolicy.FIRE_ALL)
    for now, state in ((28, FireState.HELD), (31, FireState.UNDELIVERED)):
        crank.to(now)
        (finished,) = crank.attempt(crank.sweep(), result=BUSY)
        assert finished.state is state


def test_expired_claim_whose_answer_comes_late_is_accepted(crank: HandCrank) -> None:
    _expire(crank, MissedPolicy.FIRE_ALL)
    answer = AttemptResult(TransportResult.RESPONSE, 200)
    assert crank.finish(crank.key(10), result=answer).state is FireState.ACCEPTED


def test_attempt_that_times_out_past_the_next_due_time_ends_under_fire_all(
    crank: HandCrank,
) -> None:
    crank.put(recurrence=(EVERY_TEN,), missed_policy=MissedPolicy.FIRE_ALL)
    crank.claim(crank.commit_at(10))
    crank.to(21)
    timed_out = AttemptResult(TransportResult.AMBIGUOUS, error="timed out")
    assert crank.finish(crank.key(10), result=timed_out).state is FireState.UNKNOWN
