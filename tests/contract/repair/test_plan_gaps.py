"""plan_gaps: a long fire_all becomes held fires slice by slice, as it was when it was found."""

import pytest

from scheduling.instants import SECOND_US
from scheduling.limits import GAP_SLICE_ROWS_MAX
from scheduling.vocabulary import Cause, HeldReason, Lane, MissedPolicy, ResumeRule, TriggerState
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import OWNER, HandCrank
from tests.support.store_builders import TENANT, at, put_target

FIRE_ALL = MissedPolicy.FIRE_ALL


@pytest.fixture
def gap(crank: HandCrank) -> HandCrank:
    """450 minutes to catch up on; the trigger's rule ended with them."""
    crank.put(missed_policy=FIRE_ALL, catchup_horizon_s=86_400, ends_us=at(450 * 60))
    crank.commit_at(460 * 60)
    return crank


def test_plan_writes_a_slice_a_call_until_the_gap_is_gone(gap: HandCrank) -> None:
    sizes = []
    while planned := gap.plan_gaps():
        sizes.append(planned)
        assert planned <= GAP_SLICE_ROWS_MAX
    assert sizes == [200, 200, 50]
    assert gap.store.history.gaps() == []
    assert [fire.key for fire in gap.fires()] == [gap.key(60 * n) for n in range(1, 451)]
    assert {(fire.lane, fire.held_reason) for fire in gap.fires()} == {
        (Lane.CATCH_UP, HeldReason.LANE_RATE)
    }


def test_plan_shows_how_far_it_is(gap: HandCrank) -> None:
    gap.plan_gaps()
    (record,) = gap.store.history.gaps()
    assert (record.after_us, record.through_us) == (at(0), at(450 * 60))
    assert (record.planned_through_us, record.planned_count) == (at(200 * 60), 200)
    assert record.instant_count == 450
    assert gap.store.history.backlog()["catch_up"] == 450


def test_plan_later_gives_the_same_fires(gap: HandCrank) -> None:
    """Its `now` was frozen: a day later nothing has expired."""
    gap.to(3 * 86_400)
    while gap.plan_gaps():
        pass
    assert len(gap.fires()) == 450
    assert {fire.state for fire in gap.fires()} == {"held"}


def test_plan_belongs_to_the_owner(gap: HandCrank, peek: StorePeek) -> None:
    gap.store.leases.release(OWNER, now_us=gap.now_us)
    before = peek.content()
    assert gap.plan_gaps() == 0
    assert peek.content() == before
    gap.store.leases.heartbeat("other", now_us=gap.now_us, ttl_us=6 * SECOND_US, epsilon_us=0)
    assert gap.store.repair.plan_gaps("other", now_us=gap.now_us) == 200


def test_plan_with_nothing_to_do_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    version, before = crank.store.data_version(), peek.content()
    assert crank.plan_gaps() == 0
    assert (crank.store.data_version(), peek.content()) == (version, before)


def test_gaps_of_two_outages_are_disjoint(crank: HandCrank) -> None:
    crank.put(missed_policy=FIRE_ALL, catchup_horizon_s=7 * 86_400)
    crank.commit_at(130 * 60)
    crank.commit_at(260 * 60)
    first, second = crank.store.history.gaps()
    assert first.through_us < second.after_us
    while crank.plan_gaps():
        pass
    assert [fire.key for fire in crank.fires()] == [crank.key(60 * n) for n in range(1, 261)]


def test_gap_reserves_its_fires_under_the_cap(crank: HandCrank) -> None:
    crank.put(missed_policy=FIRE_ALL, catchup_horizon_s=86_400, max_fires=150)
    crank.commit_at(400 * 60)
    (record,) = crank.store.history.gaps()
    assert (record.instant_count, record.through_us) == (150, at(150 * 60))
    trigger = crank.trigger()
    assert (trigger.fired_count, trigger.state) == (150, TriggerState.FINISHED)
    while crank.plan_gaps():
        pass
    assert len(crank.fires()) == 150
    assert crank.trigger().fired_count == 150


@pytest.mark.parametrize(("stop", "cause"), [("pause", Cause.PAUSED), ("delete", Cause.DELETED)])
def test_remainder_of_a_stopped_gap_is_one_range_row_with_the_cause(
    gap: HandCrank, stop: str, cause: Cause
) -> None:
    gap.plan_gaps()
    getattr(gap, stop)()
    assert gap.plan_gaps() == 0
    (remainder,) = [fire for fire in gap.fires() if fire.instant_count != 1]
    assert (remainder.cause, remainder.instant_count) == (cause, 250)
    assert (remainder.key.scheduled_us, remainder.through_us) == (at(201 * 60), at(450 * 60))
    assert {fire.cause for fire in gap.fires()} == {cause}


def test_remainder_of_a_stopped_gap_is_given_back_under_the_cap(crank: HandCrank) -> None:
    crank.put(missed_policy=FIRE_ALL, catchup_horizon_s=86_400, max_fires=150)
    crank.commit_at(400 * 60)
    assert crank.trigger().state is TriggerState.FINISHED
    crank.pause()
    crank.resume()
    trigger = crank.trigger()
    assert (trigger.fired_count, trigger.state) == (0, TriggerState.LIVE)
    assert crank.fire(60).cause is Cause.PAUSED


def test_gap_of_a_resume_holds_a_smeared_instant_until_its_due_time(crank: HandCrank) -> None:
    crank.put(catchup_horizon_s=86_400, smear_s=50)
    crank.pause()
    crank.to(150 * 60)
    crank.resume(rule=ResumeRule.FIRE_ALL)
    while crank.plan_gaps():
        pass
    last = crank.fires()[-1]
    assert last.key == crank.key(150 * 60)
    assert last.due_us > crank.now_us
    assert (last.held_reason, last.not_before_us) == (HeldReason.DUE_LATER, last.due_us)
    crank.now_us = last.due_us
    assert crank.sweep() == []
    assert crank.fires()[-1].held_reason is HeldReason.LANE_RATE


def test_gap_keeps_its_version_through_an_edit(gap: HandCrank) -> None:
    gap.put(recurrence=("0 12 * * *",), payload=b"new")
    gap.apply(put_target())
    while gap.plan_gaps():
        pass
    fires = gap.fires()
    assert (len(fires), {fire.version for fire in fires}) == (450, {1})
    claimed = gap.claim(gap.release())
    assert {(fire.version, fire.payload) for fire in claimed} == {(1, None)}
    assert {fire.key.tenant_id for fire in claimed} == {TENANT}
