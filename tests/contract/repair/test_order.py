"""Nothing is overtaken: what became ready, or waits, goes before newer fires of its trigger."""

from typing import Any, Final

from scheduling.vocabulary import (
    Cause,
    FireState,
    Lane,
    MissedPolicy,
    OverlapPolicy,
    ResumeRule,
)
from tests.support.hand_crank import BUSY, HandCrank
from tests.support.store_builders import at

ALLOW, SKIP = OverlapPolicy.ALLOW, OverlapPolicy.SKIP
CATCH_UP: Final[dict[str, Any]] = {
    "missed_policy": MissedPolicy.FIRE_ALL,
    "catchup_horizon_s": 3_600,
}


def test_commit_lets_what_an_edit_settled_go_before_newer_instants(crank: HandCrank) -> None:
    crank.put()
    crank.to(61)
    crank.put(recurrence=("*/10 * * * * *",))
    messages = crank.commit_at(70)
    assert [message.key for message in messages] == [crank.key(60), crank.key(70)]


def test_commit_lets_a_kept_smeared_fire_go_before_newer_instants(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    crank.to(60)
    crank.put(recurrence=("*/50 * * * * *",))
    assert crank.fire(60).due_us > at(60)
    messages = crank.commit_at(180)
    assert messages[0].key == crank.key(60)
    assert crank.fire(60).state is FireState.READY


def test_commit_gives_the_slot_to_what_an_edit_settled(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP)
    crank.to(61)
    crank.put(recurrence=("*/10 * * * * *",), overlap_policy=SKIP)
    (message,) = crank.commit_at(70)
    assert message.key == crank.key(60)
    assert crank.fire(70).cause is Cause.OVERLAP


def test_release_waits_for_an_older_fire_that_nobody_marked(crank: HandCrank) -> None:
    """Its releaser may have died before it published."""
    crank.begin(quota_dispatch_per_s=1)
    crank.put(**CATCH_UP)
    crank.to(400)
    crank.commit()
    (first,) = crank.release()
    crank.to(420)
    assert crank.release() == []
    crank.publish([first])
    assert [message.key for message in crank.release()] == [crank.key(120)]


def test_release_does_not_pass_an_older_fire_that_waits_for_the_slot(crank: HandCrank) -> None:
    """The newer version allows overlap, the older fires do not."""
    crank.put(overlap_policy=SKIP, **CATCH_UP)
    crank.to(10)
    crank.pause()
    crank.to(200)
    crank.put(overlap_policy=ALLOW, **CATCH_UP)
    crank.to(400)
    crank.resume(rule=ResumeRule.FIRE_ALL)
    released = crank.publish(crank.release())
    assert [message.key for message in released] == [crank.key(60)]
    assert crank.publish(crank.release()) == []


def test_release_lets_the_slots_own_fire_try_again(crank: HandCrank) -> None:
    crank.put(overlap_policy=SKIP, ends_us=at(120), **CATCH_UP)
    crank.to(400)
    crank.commit()
    crank.attempt(crank.publish(crank.release()), result=BUSY)
    crank.to(402)
    crank.sweep()
    (again,) = crank.release()
    assert (again.key, again.lane, again.n) == (crank.key(60), Lane.CATCH_UP, 2)


def test_commit_starts_what_an_edit_settled_before_what_it_buffered(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * * *",), overlap_policy=OverlapPolicy.BUFFER_ALL)
    crank.to(20)
    crank.put(recurrence=("0 * * * *",))
    assert crank.lines() == ["10 held due_later", "20 held overlap"]
    (message,) = crank.sweep()
    assert message.key == crank.key(10)


def test_release_does_not_pass_a_gap_that_is_still_to_be_planned(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.to(200 * 60)
    crank.commit()
    crank.to(203 * 60)
    crank.commit()
    assert crank.release() == []
    crank.plan_gaps()
    assert crank.release()[0].key == crank.key(60)


def test_commit_lets_what_two_edits_settled_go_in_their_order(crank: HandCrank) -> None:
    """The first was kept for its smear and has come when the second edit finds a younger one."""
    crank.put(smear_s=5, overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.to(60)
    crank.put(recurrence=("*/10 * * * * *",), overlap_policy=OverlapPolicy.BUFFER_ONE)
    assert at(60) < crank.fire(60).due_us < at(70)
    crank.to(70)
    crank.put(recurrence=("0 * * * *",), overlap_policy=OverlapPolicy.BUFFER_ONE)
    (message,) = crank.sweep()
    assert message.key == crank.key(60)
    assert crank.lines() == ["60 ready", "70 held overlap"]
