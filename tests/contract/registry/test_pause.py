"""apply, pausing: silence at once, and a cause on everything that was waiting."""

from ports.changes import ChangeKind
from scheduling.limits import SWEEP_ROWS_MAX
from scheduling.vocabulary import Cause, FireState, MissedPolicy, OverlapPolicy, TriggerState
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, HandCrank
from tests.support.store_builders import at


def test_pause_decides_nothing_from_then_on(crank: HandCrank) -> None:
    crank.put()
    crank.to(30)
    result = crank.pause(note="holiday")
    assert (result.kind, result.revision, result.next_due_us) == (ChangeKind.PAUSED, 2, None)
    trigger = crank.trigger()
    assert (trigger.state, trigger.pause_note) == (TriggerState.PAUSED, "holiday")
    crank.commit_at(60, 3_600)
    assert crank.lines() == []


def test_pause_of_a_paused_trigger_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.pause()
    before = peek.content()
    assert crank.pause(note="again").kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_pause_decides_what_was_due_and_stops_what_waits(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    crank.to(130)
    result = crank.pause()
    assert (result.settled_rows, result.stopped_fires) == (1, 2)
    assert crank.lines() == ["60 paused", "120 paused"]


def test_pause_stops_an_instant_whose_smeared_time_is_still_ahead(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    crank.to(60)
    crank.pause()
    assert crank.lines() == ["60 paused"]


def test_pause_lets_a_running_attempt_end(crank: HandCrank) -> None:
    crank.put()
    crank.claim(crank.commit_at(60))
    assert crank.pause().stopped_fires == 0
    assert crank.finish(crank.key(60)).state is FireState.ACCEPTED


def test_pause_ends_retries_as_their_last_try_left_them(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.attempt(crank.commit_at(120), result=LOST)
    crank.to(120)
    assert crank.pause().stopped_fires == 2
    assert crank.lines() == ["60 undelivered", "120 unknown"]


def test_pause_turns_an_unplanned_gap_into_one_range_row(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400, max_fires=1_000)
    crank.commit_at(320 * 60)
    assert crank.plan_gaps() == 200
    result = crank.pause()
    assert result.stopped_fires == 202
    assert crank.store.history.gaps() == []
    remainder = crank.fire(250 * 60)
    assert (remainder.cause, remainder.instant_count) == (Cause.PAUSED, 118)
    assert (remainder.key, remainder.through_us) == (crank.key(201 * 60), at(318 * 60))
    assert crank.trigger().fired_count == 0
    covered = sum(fire.instant_count for fire in crank.fires())
    assert covered == 320


def test_pause_stops_in_batches_and_the_sweep_does_the_rest(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.commit_at(700 * 60)
    while crank.plan_gaps():
        pass
    assert crank.pause().stopped_fires == SWEEP_ROWS_MAX
    assert crank.claim(crank.release()) == []
    assert crank.sweep() == []
    assert {fire.cause for fire in crank.fires()} == {Cause.PAUSED}


def test_pause_frees_the_slot_of_a_fire_that_never_went(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.commit_at(60)
    crank.pause()
    crank.resume()
    crank.commit_at(120)
    assert crank.lines() == ["60 paused", "120 ready"]


def test_pause_leaves_the_slot_to_a_fire_that_may_be_running(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.attempt(crank.commit_at(60), result=LOST)
    crank.pause()
    crank.resume()
    crank.commit_at(120)
    assert crank.lines() == ["60 unknown", "120 overlap"]


def test_pause_of_a_finished_trigger_and_its_resume_leave_it_finished(crank: HandCrank) -> None:
    crank.put(max_fires=1)
    crank.attempt(crank.commit_at(60))
    assert crank.pause().kind is ChangeKind.PAUSED
    assert crank.trigger().state is TriggerState.PAUSED
    crank.to(600)
    assert crank.resume().next_due_us is None
    assert crank.trigger().state is TriggerState.FINISHED
    assert crank.lines() == ["60 accepted"]


def test_pause_that_gives_a_fire_back_lets_a_finished_trigger_go_on(crank: HandCrank) -> None:
    crank.put(max_fires=1)
    crank.commit_at(60)
    crank.pause()
    assert crank.lines() == ["60 paused"]
    crank.to(310)
    crank.resume()
    assert crank.trigger().state is TriggerState.LIVE
    crank.commit_at(360)
    assert crank.lines() == ["60 paused", "120..300 x4 paused", "360 ready"]
    assert crank.trigger().state is TriggerState.FINISHED


def test_pause_is_audited_with_its_note_and_announced(crank: HandCrank) -> None:
    crank.put()
    crank.pause(note="holiday")
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.note) == ("trigger_paused", "holiday")
    assert '"kind": "paused"' in crank.store.outbox.pending(limit=10)[-1].body
