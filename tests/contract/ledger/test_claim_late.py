"""claim: an on-time first attempt past its grace is judged again, by its missed policy."""

import pytest

from scheduling.vocabulary import FireState, Lane, MissedPolicy, OverlapPolicy, TriggerState
from tests.support.hand_crank import BUSY, HandCrank

SKIP = MissedPolicy.SKIP
ONCE = MissedPolicy.FIRE_ONCE_NOW
ALL = MissedPolicy.FIRE_ALL


@pytest.mark.parametrize("policy", MissedPolicy)
def test_first_attempt_within_its_grace_is_sent(crank: HandCrank, policy: MissedPolicy) -> None:
    crank.put(missed_policy=policy)
    messages = crank.commit_at(60)
    crank.to(120)
    assert len(crank.claim(messages)) == 1


@pytest.mark.parametrize(
    ("policy", "is_sent", "line"),
    [
        pytest.param(SKIP, False, "60 skipped_by_policy", id="skip"),
        pytest.param(ONCE, True, "60 dispatching", id="fire_once_now"),
        pytest.param(ALL, True, "60 dispatching", id="fire_all"),
    ],
)
def test_late_first_attempt_without_a_newer_fire_goes_by_policy(
    crank: HandCrank, policy: MissedPolicy, is_sent: bool, line: str
) -> None:
    crank.put(missed_policy=policy)
    messages = crank.commit_at(60)
    crank.to(120.000001)
    assert len(crank.claim(messages)) == int(is_sent)
    assert crank.lines() == [line]


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        pytest.param(SKIP, "60 skipped_by_policy", id="skip"),
        pytest.param(ONCE, "60 coalesced>120", id="fire_once_now"),
        pytest.param(ALL, "60 dispatching", id="fire_all"),
    ],
)
def test_late_first_attempt_with_a_newer_fire_goes_by_policy(
    crank: HandCrank, policy: MissedPolicy, line: str
) -> None:
    crank.put(missed_policy=policy)
    messages = crank.commit_at(60, 120)
    crank.to(121)
    crank.claim(messages)
    assert crank.lines() == [line, "120 dispatching"]


def test_late_fire_that_is_dropped_gives_its_place_back_to_a_finished_trigger(
    crank: HandCrank,
) -> None:
    crank.put(missed_policy=SKIP, max_fires=1)
    messages = crank.commit_at(60)
    assert crank.trigger().state is TriggerState.FINISHED
    crank.to(121)
    crank.claim(messages)
    trigger = crank.trigger()
    assert (trigger.state, trigger.fired_count) == (TriggerState.LIVE, 0)
    crank.commit()
    assert crank.lines() == ["60 skipped_by_policy", "120 ready"]
    assert crank.trigger().state is TriggerState.FINISHED


def test_late_fires_of_a_long_silence_leave_one_run(crank: HandCrank) -> None:
    """Dispatchers were away for ten minutes while the decider went on."""
    crank.put(max_fires=20)
    messages = crank.commit_at(*range(60, 601, 60))
    crank.to(610)
    (claimed,) = crank.claim(messages)
    assert claimed.key == crank.key(600)
    assert crank.lines()[:2] == ["60 coalesced>120", "120 coalesced>180"]
    assert crank.trigger().fired_count == 1


def test_late_newer_fire_that_was_not_dispatched_is_no_target(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    messages = crank.commit_at(60, 120)
    assert crank.lines() == ["60 ready", "120 overlap"]
    crank.to(130)
    assert len(crank.claim(messages)) == 1


def test_late_retry_is_not_judged_again(crank: HandCrank) -> None:
    crank.put(missed_policy=SKIP, recurrence=("*/10 * * * *",))
    crank.attempt(crank.commit_at(600), result=BUSY)
    crank.to(900)
    assert [fire.n for fire in crank.claim(crank.sweep())] == [2]


def test_catch_up_fire_is_not_judged_again(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    messages = crank.release()
    crank.to(1_190)
    assert [fire.lane for fire in crank.claim(messages)] == [Lane.CATCH_UP]


def test_grace_counts_from_the_due_time_not_the_instant(crank: HandCrank) -> None:
    crank.put(missed_policy=SKIP, recurrence=("* * * * *",), smear_s=50)
    due_us = crank.trigger().next_due_us
    assert due_us is not None
    crank.now_us = due_us
    messages = crank.commit().ready
    crank.now_us = due_us + 60_000_000
    assert len(crank.claim(messages)) == 1


@pytest.mark.parametrize("policy", MissedPolicy)
def test_buffered_fire_is_not_late_for_the_run_it_waited_for(
    crank: HandCrank, policy: MissedPolicy
) -> None:
    crank.put(missed_policy=policy, overlap_policy=OverlapPolicy.BUFFER_ALL)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120, 180, 240)
    crank.to(400)
    finished = crank.report(crank.key(60), FireState.SUCCEEDED)
    assert finished is not None
    crank.to(410)
    assert [fire.key for fire in crank.claim(finished.ready)] == [crank.key(120)]


def test_buffered_fire_is_late_when_dispatchers_are_away_after_it_started(
    crank: HandCrank,
) -> None:
    crank.put(missed_policy=SKIP, overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    crank.to(400)
    finished = crank.report(crank.key(60), FireState.SUCCEEDED)
    assert finished is not None
    crank.to(461)
    assert crank.claim(finished.ready) == []
    assert crank.lines()[1:] == ["120 skipped_by_policy"]
