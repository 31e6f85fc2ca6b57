"""Overlap inside the commit: who holds the trigger's slot, and what becomes of the others."""

from collections.abc import Callable
from typing import Any

import pytest

from ports.records import LaneMessage
from scheduling.limits import OVERLAP_BUFFER_MAX
from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, Lane, MissedPolicy, OverlapPolicy
from tests.support.hand_crank import BUSY, LOST, OK, REFUSED, HandCrank

SKIP = OverlapPolicy.SKIP
BUFFER_ONE = OverlapPolicy.BUFFER_ONE
BUFFER_ALL = OverlapPolicy.BUFFER_ALL


def test_allow_lets_runs_overlap(crank: HandCrank) -> None:
    crank.put()
    crank.claim(crank.commit_at(60))
    crank.commit_at(120)
    assert crank.lines() == ["60 dispatching", "120 ready"]


def test_skip_with_a_free_slot_takes_it(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP)
    crank.commit_at(60)
    assert crank.lines() == ["60 ready"]


def _ready(crank: HandCrank) -> None:
    crank.commit_at(60)


def _queued(crank: HandCrank) -> None:
    crank.store.ledger.mark_queued(crank.commit_at(60), now_us=crank.now_us)


def _dispatching(crank: HandCrank) -> None:
    crank.claim(crank.commit_at(60))


def _accepted(crank: HandCrank) -> None:
    crank.attempt(crank.commit_at(60))


def _unknown(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, attempt_budget=1)
    crank.attempt(crank.commit_at(60), result=LOST)


@pytest.mark.parametrize(
    "situation",
    [_ready, _queued, _dispatching, _accepted, _unknown],
    ids=lambda each: each.__name__.strip("_"),
)
def test_slot_is_taken_until_the_outcome(
    crank: HandCrank, situation: Callable[[HandCrank], None]
) -> None:
    crank.put(overlap_policy=SKIP)
    situation(crank)
    crank.commit_at(120)
    assert crank.lines()[1:] == ["120 overlap"]


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        pytest.param({}, REFUSED, id="refused"),
        pytest.param({"attempt_budget": 1}, BUSY, id="undelivered"),
        pytest.param({"response_is_outcome": True}, OK, id="response_is_outcome"),
    ],
)
def test_slot_is_free_after_an_end_without_a_run(
    crank: HandCrank, changes: dict[str, Any], result: AttemptResult
) -> None:
    crank.put(overlap_policy=SKIP, **changes)
    crank.attempt(crank.commit_at(60), result=result)
    crank.commit_at(120)
    assert crank.lines()[1:] == ["120 ready"]


@pytest.mark.parametrize("outcome", [FireState.SUCCEEDED, FireState.FAILED])
def test_slot_is_free_after_the_outcome(crank: HandCrank, outcome: FireState) -> None:
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.commit_at(60))
    crank.report(crank.key(60), outcome)
    crank.commit_at(120)
    assert crank.lines()[1:] == ["120 ready"]


def test_slot_is_free_after_the_run_timeout_counted_from_first_dispatch(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, run_timeout_s=100)
    messages = crank.commit_at(60)
    crank.to(90)
    crank.attempt(messages)
    crank.commit_at(120, 180, 240)
    assert crank.lines() == ["60 accepted", "120 overlap", "180 overlap", "240 ready"]


def test_slot_of_a_fire_that_was_dropped_at_its_claim_is_free(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, missed_policy=MissedPolicy.SKIP)
    messages = crank.commit_at(60)
    crank.to(121)
    crank.claim(messages)
    crank.commit()
    assert crank.lines() == ["60 skipped_by_policy", "120 ready"]


def test_commit_ends_unambiguous_retries_in_the_slot_and_starts_the_next(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.commit_at(60), result=BUSY)
    assert crank.lines() == ["60 held backoff"]
    crank.commit_at(120)
    assert crank.lines() == ["60 undelivered", "120 ready"]


def test_commit_ends_ambiguous_retries_in_the_slot_as_unknown_and_keeps_it(
    crank: HandCrank,
) -> None:
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.commit_at(60), result=LOST)
    crank.commit_at(120)
    assert crank.lines() == ["60 unknown", "120 overlap"]


def test_retry_that_the_sweep_made_ready_is_truncated_too(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.to(100)
    (again,) = crank.sweep()
    crank.commit_at(120)
    assert crank.lines() == ["60 undelivered", "120 ready"]
    assert crank.claim([again]) == []


def test_buffer_one_keeps_the_oldest(crank: HandCrank) -> None:
    crank.put(overlap_policy=BUFFER_ONE)
    crank.claim(crank.commit_at(60))
    assert crank.commit_at(120, 180) == []
    assert crank.lines() == ["60 dispatching", "120 held overlap", "180 overlap"]


def test_buffer_all_is_bounded_and_drops_with_a_row(crank: HandCrank) -> None:
    crank.put(overlap_policy=BUFFER_ALL, run_timeout_s=86_400)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(*range(120, 120 + 60 * (OVERLAP_BUFFER_MAX + 2), 60))
    fates = [line.split(" ", 1)[1] for line in crank.lines()]
    assert fates == ["accepted", *["held overlap"] * OVERLAP_BUFFER_MAX, "overlap", "overlap"]


def test_skipped_and_given_back_under_max_fires(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, max_fires=2)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    assert crank.trigger().fired_count == 1
    crank.report(crank.key(60), FireState.SUCCEEDED)
    crank.commit_at(180)
    assert crank.lines() == ["60 succeeded", "120 overlap", "180 ready"]


def test_buffered_fire_goes_before_a_newer_instant_when_the_slot_is_found_free(
    crank: HandCrank,
) -> None:
    """The run timed out, and the commit is the first to see it."""
    crank.put(overlap_policy=BUFFER_ONE, run_timeout_s=100)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    assert crank.commit_at(180) == [LaneMessage(crank.key(120), Lane.ON_TIME, 1)]
    assert crank.lines() == ["60 accepted", "120 ready", "180 held overlap"]


def test_several_late_instants_of_one_commit_take_one_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, recurrence=("*/2 * * * * *",))
    assert [message.key for message in crank.commit_at(6.5)] == [crank.key(2)]
    assert crank.lines() == ["2 ready", "4 overlap", "6 overlap"]


def test_absorbed_fire_leaves_its_slot_to_the_next(crank: HandCrank) -> None:
    """It was released and took the slot, but nobody had attempted it."""
    crank.put(overlap_policy=SKIP, recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    assert len(crank.release()) == 1
    crank.commit_at(1_500)
    assert crank.lines() == ["600 coalesced>1200", "1200 catch_up held lane_rate"]
    crank.commit_at(1_800)
    assert crank.lines()[1:] == ["1200 coalesced>1800", "1800 ready"]


def test_held_catch_up_waits_for_the_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, missed_policy=MissedPolicy.FIRE_ALL)
    crank.attempt(crank.commit_at(190))
    assert crank.lines() == [
        "60 catch_up held lane_rate",
        "120 catch_up held lane_rate",
        "180 accepted",
    ]
    assert crank.release() == []
    crank.report(crank.key(180), FireState.SUCCEEDED)
    assert [message.key for message in crank.release()] == [crank.key(60)]
    assert crank.release() == []


def test_edit_to_skip_leaves_the_old_versions_instants_to_allow(crank: HandCrank) -> None:
    """Their claim reads their version: a slot that it does not know of would be taken for ever."""
    crank.put()
    crank.to(60)
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.sweep())
    crank.commit_at(120)
    assert crank.lines() == ["60 accepted", "120 ready"]


def test_edit_to_another_policy_resolves_by_the_new_one(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP)
    crank.attempt(crank.commit_at(60))
    crank.to(70)
    crank.put(overlap_policy=OverlapPolicy.ALLOW)
    crank.commit_at(120)
    assert crank.lines() == ["60 accepted", "120 ready"]
