"""report_outcome: succeeded or failed, once; it frees the slot and starts what was buffered."""

import pytest

from ports.records import LaneMessage
from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, Lane, OverlapPolicy
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, OK, REFUSED, HandCrank
from tests.support.store_builders import at

SUCCEEDED = FireState.SUCCEEDED
FAILED = FireState.FAILED


@pytest.mark.parametrize("outcome", [SUCCEEDED, FAILED])
def test_outcome_ends_an_accepted_fire(crank: HandCrank, outcome: FireState) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    finished = crank.report(crank.key(60), outcome)
    assert finished is not None
    assert (finished.state, finished.ready) == (outcome, ())
    assert crank.fires()[0].state is outcome


def test_outcome_counts_once(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    crank.report(crank.key(60), SUCCEEDED)
    before = peek.content()
    crank.to(90)
    for outcome in (SUCCEEDED, FAILED):
        again = crank.report(crank.key(60), outcome)
        assert again is not None
        assert again.state is SUCCEEDED
    assert peek.content() == before


def test_outcome_may_come_before_the_response(crank: HandCrank) -> None:
    crank.put()
    crank.claim(crank.commit_at(60))
    crank.report(crank.key(60), SUCCEEDED)
    assert crank.finish(crank.key(60)).state is SUCCEEDED
    assert crank.lines() == ["60 succeeded"]


def test_outcome_of_a_fire_that_waits_for_a_retry_ends_it(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=LOST)
    crank.report(crank.key(60), FAILED)
    crank.to(100)
    assert crank.sweep() == []
    assert crank.lines() == ["60 failed"]


@pytest.mark.parametrize("result", [LOST, BUSY], ids=["unknown", "undelivered"])
def test_late_outcome_says_what_no_response_could(crank: HandCrank, result: AttemptResult) -> None:
    crank.put(attempt_budget=1)
    crank.attempt(crank.commit_at(60), result=result)
    crank.to(3_000)
    crank.report(crank.key(60), SUCCEEDED)
    assert crank.lines()[0] == "60 succeeded"


@pytest.mark.parametrize("result", [OK, LOST, BUSY], ids=["accepted", "unknown", "undelivered"])
def test_outcome_after_its_window_is_not_taken(
    crank: HandCrank, peek: StorePeek, result: AttemptResult
) -> None:
    """The window counts from the first attempt, not from the instant."""
    crank.put(attempt_budget=1, outcome_window_s=120, ends_us=at(60))
    messages = crank.commit_at(60)
    crank.to(70)
    crank.attempt(messages, result=result)
    before, (fire,) = peek.content(), crank.fires()
    crank.now_us = at(190) + 1
    told = crank.report(crank.key(60), SUCCEEDED)
    assert told == (crank.key(60), fire.state, ())
    assert peek.content() == before
    crank.to(190)
    crank.report(crank.key(60), SUCCEEDED)
    assert crank.lines() == ["60 succeeded"]


def test_outcome_of_a_refused_fire_changes_nothing(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=REFUSED)
    told = crank.report(crank.key(60), SUCCEEDED)
    assert told is not None
    assert told.state is FireState.REFUSED
    assert crank.lines() == ["60 refused"]


def test_outcome_of_a_fire_that_never_went_changes_nothing(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    told = crank.report(crank.key(60), SUCCEEDED)
    assert told is not None
    assert told.state is FireState.READY
    assert crank.lines() == ["60 ready"]


def test_outcome_of_no_such_fire_is_none(crank: HandCrank) -> None:
    crank.put()
    assert crank.report(crank.key(60), SUCCEEDED) is None


@pytest.mark.parametrize("state", [FireState.ACCEPTED, FireState.UNKNOWN])
def test_outcome_that_is_none_is_refused(crank: HandCrank, state: FireState) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    with pytest.raises(ValueError, match="use succeeded or failed"):
        crank.report(crank.key(60), state)


def test_outcome_frees_the_slot_and_starts_the_oldest_buffered_fire(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ALL)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120, 180)
    finished = crank.report(crank.key(60), SUCCEEDED)
    assert finished is not None
    assert finished.ready == (LaneMessage(crank.key(120), Lane.ON_TIME, 1),)
    assert crank.lines() == ["60 succeeded", "120 ready", "180 held overlap"]


def test_refused_run_frees_the_slot_and_starts_the_buffered_fire(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.claim(crank.commit_at(60))
    crank.commit_at(120)
    assert crank.finish(crank.key(60), result=REFUSED).ready == (
        LaneMessage(crank.key(120), Lane.ON_TIME, 1),
    )


def test_outcome_repeated_starts_nothing_more(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ALL)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120, 180)
    crank.report(crank.key(60), SUCCEEDED)
    again = crank.report(crank.key(60), SUCCEEDED)
    assert again is not None
    assert again.ready == ()
    assert crank.lines()[2] == "180 held overlap"


def test_outcome_that_comes_after_the_run_timeout_leaves_the_next_runs_slot(
    crank: HandCrank,
) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, run_timeout_s=50, recurrence=("every 40s",))
    crank.attempt(crank.commit_at(40))
    crank.attempt(crank.commit_at(80, 120))
    crank.report(crank.key(40), SUCCEEDED)
    crank.commit_at(160)
    assert crank.lines() == ["40 succeeded", "80 overlap", "120 accepted", "160 overlap"]


def test_paused_triggers_buffered_fire_does_not_start(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    crank.pause()
    finished = crank.report(crank.key(60), SUCCEEDED)
    assert finished is not None
    assert finished.ready == ()
    assert crank.lines() == ["60 succeeded", "120 paused"]
