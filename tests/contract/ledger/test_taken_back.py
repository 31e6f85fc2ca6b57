"""finish, of an attempt that could not be made: the claim is undone."""

from collections.abc import Iterable

import pytest

from ports.records import FinishRequest, FinishResult, LaneMessage
from scheduling.limits import UNTRIED_WAIT_US_MIN
from scheduling.retry import AttemptResult
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    Lane,
    MissedPolicy,
    OverlapPolicy,
    TransportResult,
)
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, OK, HandCrank
from tests.support.store_builders import at

UNTRIED = AttemptResult(TransportResult.UNTRIED, error="no files")
HOURLY = ("0 * * * *",)
WAIT_S = UNTRIED_WAIT_US_MIN / 1_000_000


def _put_back(crank: HandCrank, messages: Iterable[LaneMessage]) -> list[FinishResult]:
    """Claim, and say that the attempts could not be made."""
    return [
        result
        for fire in crank.claim(messages)
        for result in crank.store.ledger.finish(
            [FinishRequest(fire.key, fire.n, UNTRIED, crank.now_us, fire.claimed_until_us)]
        )
    ]


def test_untried_fire_is_held_as_if_it_had_never_been_claimed(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    assert _put_back(crank, crank.commit_at(3_600)) == [
        FinishResult(crank.key(3_600), FireState.HELD)
    ]
    fire = crank.fire(3_600)
    assert (fire.state, fire.held_reason) == (FireState.HELD, HeldReason.NO_RESOURCES)
    assert fire.not_before_us == at(3_600) + UNTRIED_WAIT_US_MIN
    assert (fire.attempts, fire.next_attempt_n, fire.first_dispatched_us) == (0, 1, None)
    assert crank.store.history.attempts(fire.key) == []
    assert crank.store.history.oldest_undispatched_due_us() == at(3_600)


def test_untried_fire_is_tried_when_its_time_comes(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    _put_back(crank, crank.commit_at(3_600))
    crank.to(3_600 + WAIT_S - 0.1)
    assert crank.sweep() == []
    crank.to(3_600 + WAIT_S)
    (message,) = crank.sweep()
    assert (message.key, message.n, message.lane) == (crank.key(3_600), 1, Lane.ON_TIME)
    crank.attempt([message])
    fire = crank.fire(3_600)
    assert (fire.state, fire.attempts) == (FireState.ACCEPTED, 1)
    assert fire.first_dispatched_us == at(3_600 + WAIT_S)


def test_untried_as_often_as_you_like_costs_no_try(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY, attempt_budget=1)
    messages = crank.commit_at(3_600)
    for _ in range(7):
        _put_back(crank, messages)
        crank.now_us = crank.fire(3_600).not_before_us or 0
        messages = crank.sweep()
    crank.attempt(messages)
    assert (crank.fire(3_600).state, crank.fire(3_600).attempts) == (FireState.ACCEPTED, 1)


def test_untried_fire_that_is_late_waits_longer(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    messages = crank.commit_at(3_600)
    crank.to(3_640)
    _put_back(crank, messages)
    assert crank.fire(3_600).not_before_us == at(3_650)


def test_untried_result_that_is_repeated_leaves_the_next_claim_alone(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    (first,) = crank.claim(crank.commit_at(3_600))
    told = [FinishRequest(first.key, 1, UNTRIED, crank.now_us, first.claimed_until_us)]
    crank.store.ledger.finish(told)
    assert crank.store.ledger.finish(told) == []
    crank.to(3_600 + WAIT_S)
    crank.claim(crank.sweep())
    assert crank.store.ledger.finish(told) == [FinishResult(first.key, FireState.DISPATCHING)]
    assert len(crank.store.history.attempts(first.key)) == 1
    assert crank.finish(first.key).state is FireState.ACCEPTED


def test_untried_after_the_claim_expired_stays_a_try_that_was_not_sent(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    (fire,) = crank.claim(crank.commit_at(3_600))
    crank.to(3_620)
    crank.sweep()
    told = FinishRequest(fire.key, 1, UNTRIED, crank.now_us, fire.claimed_until_us)
    assert crank.store.ledger.finish([told]) == [FinishResult(fire.key, FireState.HELD)]
    (attempt,) = crank.store.history.attempts(fire.key)
    assert attempt.transport_result == TransportResult.NOT_SENT
    row = crank.fire(3_600)
    assert (row.held_reason, row.next_attempt_n, row.attempts) == (HeldReason.BACKOFF, 2, 1)


def test_untried_retry_keeps_its_number_and_ends_with_the_retries(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.to(63)
    _put_back(crank, crank.sweep())
    fire = crank.fire(60)
    assert (fire.held_reason, fire.next_attempt_n, fire.attempts) == (
        HeldReason.NO_RESOURCES,
        2,
        1,
    )
    assert fire.first_dispatched_us == at(60)
    crank.to(121)
    assert crank.sweep() == []
    fire = crank.fire(60)
    assert (fire.state, fire.attempts) == (FireState.UNDELIVERED, 1)


def test_untried_too_late_is_judged_by_its_missed_policy(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.SKIP, recurrence=HOURLY)
    _put_back(crank, crank.commit_at(3_600))
    crank.to(3_600 + 61)
    assert crank.claim(crank.sweep()) == []
    fire = crank.fire(3_600)
    assert (fire.state, fire.cause) == (FireState.NOT_DISPATCHED, Cause.SKIPPED_BY_POLICY)
    assert fire.attempts == 0


def test_untried_fire_that_is_cancelled_was_never_dispatched(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    _put_back(crank, crank.commit_at(3_600))
    crank.cancel(crank.key(3_600))
    fire = crank.fire(3_600)
    assert (fire.state, fire.cause, fire.attempts) == (
        FireState.NOT_DISPATCHED,
        Cause.CANCELLED,
        0,
    )


def test_untried_fire_keeps_its_slot_without_a_run_in_it(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, run_timeout_s=30)
    _put_back(crank, crank.commit_at(60))
    crank.to(91)  # past what the run's timeout would have been
    crank.attempt(crank.sweep())
    assert crank.fire(60).state is FireState.ACCEPTED
    crank.commit_at(120)  # the run began at 91 and may last until 121
    assert crank.fire(120).cause is Cause.OVERLAP


def test_untried_catch_up_fire_may_be_absorbed_again(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(recurrence=HOURLY)
    crank.to(3_600 + 1_800)
    crank.commit()
    pending = peek.due_index()
    assert pending[0].pending_catch_up_us == at(3_600)
    _put_back(crank, crank.publish(crank.release()))
    assert [row.pending_catch_up_us for row in peek.due_index()] == [at(3_600)]
    crank.to(3_600 + 1_830)
    assert crank.sweep() == []  # back to its lane's rate
    assert crank.fire(3_600).held_reason is HeldReason.LANE_RATE
    crank.attempt(crank.release(), result=OK)
    assert crank.fire(3_600).state is FireState.ACCEPTED


@pytest.mark.parametrize("given_us", [None, 0], ids=["none", "another"])
def test_untried_without_its_claim_changes_nothing(crank: HandCrank, given_us: int | None) -> None:
    crank.put(recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    told = FinishRequest(crank.key(3_600), 1, UNTRIED, crank.now_us, given_us)
    assert crank.store.ledger.finish([told]) == [
        FinishResult(crank.key(3_600), FireState.DISPATCHING)
    ]
    assert crank.fire(3_600).state is FireState.DISPATCHING
