"""sweep: repairs each thing that its docstring names, its owner's only, and is idle-cheap."""

from collections.abc import Callable

import pytest

from ports.records import LaneMessage
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, Lane, MissedPolicy, OverlapPolicy
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, OK, OWNER, HandCrank
from tests.support.store_builders import START_US, at

HOURLY = ("0 * * * *",)


def test_sweep_of_an_empty_store_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    version, before = crank.store.data_version(), peek.content()
    assert crank.sweep() == []
    assert (crank.store.data_version(), peek.content()) == (version, before)


def test_sweep_with_nothing_to_repair_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    """Fires in every state that is in order, and triggers that rest."""
    crank.put("runs", recurrence=HOURLY)
    crank.put("slot", recurrence=HOURLY, overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.put("missed", recurrence=("30 * * * *",))
    crank.put("paused")
    crank.pause("paused")
    crank.attempt(crank.commit_at(3_600, name="runs"))
    crank.claim(crank.commit_at(3_600, name="slot"))
    crank.commit("missed")
    version, before = crank.store.data_version(), peek.content()
    assert crank.sweep() == []
    assert (crank.store.data_version(), peek.content()) == (version, before)


def test_sweep_publishes_ready_and_queued_rows_again_after_five_seconds(crank: HandCrank) -> None:
    crank.put(recurrence=("0,1 1 * * *",))
    messages = crank.commit_at(3_600, 3_660)
    crank.store.ledger.mark_queued(messages[:1], now_us=crank.now_us)
    crank.to(3_665)
    assert crank.sweep() == []
    crank.to(3_665.000001)
    assert crank.sweep() == messages
    crank.to(3_670)
    assert crank.sweep() == messages


def test_sweep_publishes_in_order_of_instants(crank: HandCrank) -> None:
    crank.put(recurrence=("*/20 * * * * *",), missed_policy=MissedPolicy.FIRE_ALL)
    messages = crank.commit_at(20, 40, 60)
    crank.to(70)
    assert crank.sweep() == messages


def test_sweep_leaves_other_owners_partitions_alone(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.store.leases.release(OWNER, now_us=crank.now_us)
    crank.store.leases.heartbeat("other", now_us=crank.now_us, ttl_us=6 * SECOND_US, epsilon_us=0)
    crank.to(100)
    before = peek.content()
    assert crank.sweep() == []
    assert peek.content() == before
    assert len(crank.store.repair.sweep("other", now_us=crank.now_us)) == 1


def test_sweep_makes_a_retry_ready_when_its_time_has_come(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    crank.attempt(crank.commit_at(3_600), result=BUSY)
    not_before_us = crank.fires()[0].not_before_us
    assert not_before_us is not None
    crank.now_us = not_before_us - 1
    assert crank.sweep() == []
    crank.now_us = not_before_us
    assert crank.sweep() == [LaneMessage(crank.key(3_600), Lane.ON_TIME, 2)]
    (fire,) = crank.fires()
    assert (fire.state, fire.held_reason, fire.not_before_us) == ("ready", None, None)


def test_sweep_frees_a_slot_past_its_run_timeout_and_starts_the_buffered(
    crank: HandCrank,
) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE, run_timeout_s=100)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    crank.to(159)
    assert crank.sweep() == []
    crank.to(160)
    assert crank.sweep() == [LaneMessage(crank.key(120), Lane.ON_TIME, 1)]
    assert crank.lines() == ["60 accepted", "120 ready"]


def test_sweep_starts_a_buffered_fire_whose_slot_is_free(crank: HandCrank) -> None:
    """The fire in the slot was dropped at its claim, which has nobody to hand the next one to."""
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ALL, missed_policy=MissedPolicy.SKIP)
    messages = crank.commit_at(60, 120, 180)
    crank.to(200)
    assert crank.claim(messages) == []
    crank.to(210)
    assert crank.sweep() == [LaneMessage(crank.key(120), Lane.ON_TIME, 1)]
    assert crank.lines() == ["60 skipped_by_policy", "120 ready", "180 held overlap"]


def test_sweep_ends_a_retry_of_a_fire_whose_trigger_was_paused_meanwhile(
    crank: HandCrank,
) -> None:
    crank.put(recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    crank.pause()
    crank.finish(crank.key(3_600), result=LOST)
    crank.to(3_700)
    assert crank.sweep() == []
    assert crank.lines() == ["3600 unknown"]


def _kept_by_an_edit(crank: HandCrank, policy: OverlapPolicy) -> list[LaneMessage]:
    """A run holds the slot since 60 when the smeared fire of 120 that an edit kept is due."""
    crank.put(overlap_policy=policy)
    messages = crank.commit_at(60)
    crank.attempt(messages, result=OK)
    crank.put(overlap_policy=policy, smear_s=50)
    crank.to(120)
    crank.put(overlap_policy=policy, recurrence=HOURLY)
    crank.to(171)
    return crank.sweep()


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        pytest.param(OverlapPolicy.ALLOW, "120 ready", id="allow"),
        pytest.param(OverlapPolicy.SKIP, "120 overlap", id="skip"),
        pytest.param(OverlapPolicy.BUFFER_ONE, "120 held overlap", id="buffer_one"),
        pytest.param(OverlapPolicy.BUFFER_ALL, "120 held overlap", id="buffer_all"),
    ],
)
def test_fire_kept_by_an_edit_meets_the_overlap_policy_when_it_is_due(
    crank: HandCrank, policy: OverlapPolicy, line: str
) -> None:
    messages = _kept_by_an_edit(crank, policy)
    assert crank.lines() == ["60 accepted", line]
    assert len(messages) == int(policy is OverlapPolicy.ALLOW)


def test_fire_kept_by_an_edit_starts_when_the_run_before_it_ends(crank: HandCrank) -> None:
    _kept_by_an_edit(crank, OverlapPolicy.BUFFER_ONE)
    finished = crank.report(crank.key(60), FireState.SUCCEEDED)
    assert finished is not None
    assert [message.key for message in finished.ready] == [crank.key(120)]


def test_ready_gives_what_was_published_or_never_was_of_acquired_partitions(
    crank: HandCrank,
) -> None:
    crank.put()
    messages = crank.commit_at(60, 120)
    crank.store.ledger.mark_queued(messages[:1], now_us=crank.now_us)
    partition_id = crank.trigger().partition_id
    repair = crank.store.repair
    assert repair.ready(OWNER, acquired=(partition_id,)) == messages[1:]
    assert repair.ready(OWNER, acquired=((partition_id + 1) % 256,)) == []
    assert repair.ready(OWNER, acquired=()) == []


def _retry(crank: HandCrank) -> int:
    crank.put(recurrence=HOURLY)
    crank.attempt(crank.commit_at(3_600), result=BUSY)
    not_before_us = crank.fires()[0].not_before_us
    assert not_before_us is not None
    return not_before_us


def _claimed(crank: HandCrank) -> int:
    crank.put(recurrence=HOURLY)
    (claimed,) = crank.claim(crank.commit_at(3_600))
    return claimed.claimed_until_us


def _running(crank: HandCrank) -> int:
    crank.put(recurrence=HOURLY, overlap_policy=OverlapPolicy.SKIP)
    crank.attempt(crank.commit_at(3_600))
    return at(3_600 + 600)


@pytest.mark.parametrize("situation", [_retry, _claimed, _running])
def test_next_wake_is_when_the_first_thing_comes(
    crank: HandCrank, situation: Callable[[HandCrank], int]
) -> None:
    assert crank.store.repair.next_wake_us(OWNER) is None
    wanted_us = situation(crank)
    assert crank.store.repair.next_wake_us(OWNER) == wanted_us
    assert crank.store.repair.next_wake_us("other") is None
    assert wanted_us > START_US
