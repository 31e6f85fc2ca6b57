"""claim, tries again: one that comes too late, because lanes or dispatchers were away, is none."""

import pytest

from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, MissedPolicy, OverlapPolicy, TransportResult
from tests.support.hand_crank import BUSY, HandCrank
from tests.support.store_builders import at

TIMED_OUT = AttemptResult(TransportResult.AMBIGUOUS, error="timed out")


@pytest.mark.parametrize(
    ("result", "expected"), [(BUSY, FireState.UNDELIVERED), (TIMED_OUT, FireState.UNKNOWN)]
)
def test_claim_after_the_next_due_time_ends_the_tries(
    crank: HandCrank, result: AttemptResult, expected: FireState
) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=result)
    crank.to(63)
    again = crank.sweep()
    assert [message.n for message in again] == [2]
    crank.to(120)
    assert crank.claim(again) == []
    assert crank.fire(60).state is expected


def test_claim_after_the_retry_window_ends_the_tries(crank: HandCrank) -> None:
    crank.put(recurrence=("0 * * * *",), retry_window_s=30)
    crank.attempt(crank.commit_at(3_600), result=BUSY)
    crank.to(3_603)
    again = crank.sweep()
    crank.to(3_631)
    assert crank.claim(again) == []
    assert crank.fire(3_600).state is FireState.UNDELIVERED


def test_claim_within_the_retry_window_tries_again(crank: HandCrank) -> None:
    crank.put(recurrence=("0 * * * *",), retry_window_s=30)
    crank.attempt(crank.commit_at(3_600), result=BUSY)
    crank.to(3_603)
    again = crank.sweep()
    crank.to(3_630)
    assert [fire.n for fire in crank.claim(again)] == [2]


def test_claim_of_a_try_whose_slot_ended_gives_its_new_slot_an_end(crank: HandCrank) -> None:
    """Else a run whose outcome is never told would hold the slot for ever."""
    crank.put(
        overlap_policy=OverlapPolicy.SKIP,
        missed_policy=MissedPolicy.FIRE_ALL,
        run_timeout_s=30,
        ends_us=at(120),
    )
    crank.to(400)
    crank.commit()
    crank.attempt(crank.publish(crank.release()), result=BUSY)
    crank.to(440)
    crank.sweep()
    crank.attempt(crank.publish(crank.release()))
    assert crank.fire(60).state is FireState.ACCEPTED
    crank.to(471)
    crank.sweep()
    assert [message.key for message in crank.release()] == [crank.key(120)]


def test_claim_too_late_frees_a_slot_that_was_taken_again_for_it(crank: HandCrank) -> None:
    crank.put(
        overlap_policy=OverlapPolicy.SKIP,
        missed_policy=MissedPolicy.FIRE_ALL,
        run_timeout_s=30,
        retry_window_s=60,
        ends_us=at(120),
    )
    crank.to(400)
    crank.commit()
    crank.attempt(crank.publish(crank.release()), result=TIMED_OUT)
    crank.to(440)
    crank.sweep()
    again = crank.publish(crank.release())
    assert [message.n for message in again] == [2]
    crank.to(461)
    assert crank.claim(again) == []
    assert crank.fire(60).state is FireState.UNKNOWN
    assert [message.key for message in crank.release()] == [crank.key(120)]
