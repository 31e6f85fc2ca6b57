"""apply, cancelling: one fire that waits ends, with the cause; nothing else is touched."""

from collections.abc import Callable
from typing import Any

import pytest

from ports.changes import CancelFire, ChangeKind, ChangeResult
from ports.errors import ChangeRefused, ProblemKind
from scheduling.keys import FireKey
from scheduling.limits import NOTE_CHARS_MAX
from scheduling.retry import AttemptResult
from scheduling.vocabulary import (
    Cause,
    FireState,
    Lane,
    MissedPolicy,
    OverlapPolicy,
    TriggerState,
)
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, BUSY, LOST, HandCrank
from tests.support.store_builders import TENANT, at


def _problem(crank: HandCrank, key: FireKey, **facts: str) -> tuple[ProblemKind, str]:
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(CancelFire(key=key, **facts))
    (problem,) = caught.value.details
    return problem.kind, problem.field


@pytest.mark.parametrize("is_queued", [True, False], ids=["queued", "ready"])
def test_cancel_ends_a_fire_before_its_first_attempt(crank: HandCrank, is_queued: bool) -> None:
    crank.put()
    messages = crank.commit_at(60)
    if is_queued:
        crank.publish(messages)
    crank.to(61)
    assert crank.cancel(crank.key(60), note="wrong day") == ChangeResult(
        kind=ChangeKind.CANCELLED,
        subject="job",
        tenant_id=TENANT,
        trigger_id=crank.ids["job"],
        version=1,
        stopped_fires=1,
        fire_key=crank.key(60),
    )
    fire = crank.fire(60)
    assert (fire.state, fire.cause) == (FireState.NOT_DISPATCHED, Cause.CANCELLED)
    assert (fire.cause_detail, fire.changed_us) == (f"by {ACTOR}: wrong day", at(61))
    assert crank.claim(messages) == []
    assert crank.sweep() == []


def test_cancel_without_a_note_names_who_did_it(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    crank.cancel(crank.key(60))
    assert crank.fire(60).cause_detail == f"by {ACTOR}"


def test_cancel_ends_a_manual_run_and_frees_its_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    key = crank.run()
    crank.cancel(key)
    assert crank.row(key).cause is Cause.CANCELLED
    assert crank.trigger().fired_count == 0
    crank.commit_at(60)
    assert crank.lines() == ["0 cancelled", "60 ready"]


def test_cancel_of_a_run_leaves_the_scheduled_fire_of_its_instant(crank: HandCrank) -> None:
    crank.put()
    crank.to(60)
    key = crank.run()
    crank.commit()
    crank.cancel(key)
    assert crank.lines() == ["60 ready", "60 cancelled"]


@pytest.mark.parametrize(
    ("result", "line"),
    [
        pytest.param(BUSY, "60 undelivered", id="target_was_busy"),
        pytest.param(LOST, "60 unknown", id="last_try_may_have_arrived"),
    ],
)
def test_cancel_ends_a_fire_that_was_tried_as_it_stands(
    crank: HandCrank, result: AttemptResult, line: str
) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=result)
    assert crank.cancel(crank.key(60)).kind is ChangeKind.CANCELLED
    assert crank.lines() == [line]
    crank.to(100)
    assert crank.sweep() == []


def test_cancel_of_a_try_that_may_run_leaves_it_its_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.attempt(crank.commit_at(60), result=LOST)
    crank.cancel(crank.key(60))
    crank.commit_at(120)
    assert crank.lines() == ["60 unknown", "120 overlap"]


def test_cancel_leaves_its_slot_to_the_oldest_buffered_fire(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ALL)
    crank.commit_at(60, 120, 180)
    crank.cancel(crank.key(60))
    assert [message.key for message in crank.sweep()] == [crank.key(120)]
    assert crank.lines() == ["60 cancelled", "120 ready", "180 held overlap"]


def test_cancel_ends_a_buffered_fire(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    crank.cancel(crank.key(120))
    crank.commit_at(180)
    assert crank.lines() == ["60 accepted", "120 cancelled", "180 held overlap"]


def test_cancel_ends_a_catch_up_fire_that_no_newer_one_absorbs_then(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    assert crank.fire(600).lane is Lane.CATCH_UP
    crank.cancel(crank.key(600))
    crank.commit_at(1_200)
    assert crank.release() == []
    assert crank.lines() == ["600 cancelled", "1200 ready"]


def test_cancel_gives_its_place_back_to_a_finished_trigger(crank: HandCrank) -> None:
    crank.put(max_fires=1)
    crank.commit_at(60)
    assert crank.trigger().state is TriggerState.FINISHED
    crank.cancel(crank.key(60))
    trigger = crank.trigger()
    assert (trigger.state, trigger.fired_count) == (TriggerState.LIVE, 0)
    assert trigger.next_due_us == at(120)


def test_cancel_leaves_the_other_fires_and_the_revision_alone(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60, 120)
    before = crank.trigger()
    crank.cancel(crank.key(60))
    assert crank.lines() == ["60 cancelled", "120 ready"]
    assert crank.trigger().revision == before.revision


def test_cancel_of_a_fire_of_a_paused_trigger_ends_its_run(crank: HandCrank) -> None:
    crank.put()
    crank.pause()
    key = crank.run()
    crank.cancel(key)
    assert crank.sweep() == []
    assert crank.row(key).cause is Cause.CANCELLED


def _under_way(crank: HandCrank) -> FireKey:
    crank.claim(crank.commit_at(60))
    return crank.key(60)


def _accepted(crank: HandCrank) -> FireKey:
    crank.attempt(crank.commit_at(60))
    return crank.key(60)


def _cancelled(crank: HandCrank) -> FireKey:
    crank.commit_at(60)
    crank.cancel(crank.key(60))
    return crank.key(60)


def _range_row(crank: HandCrank) -> FireKey:
    crank.put(missed_policy=MissedPolicy.SKIP)
    crank.commit_at(600)
    fire = crank.fire(60)
    assert fire.through_us is not None
    return fire.key


@pytest.mark.parametrize("prepare", [_under_way, _accepted, _cancelled, _range_row])
def test_cancel_where_nothing_waits_is_a_conflict(
    crank: HandCrank, peek: StorePeek, prepare: Callable[[HandCrank], FireKey]
) -> None:
    crank.put()
    key = prepare(crank)
    before = peek.content()
    assert _problem(crank, key) == (ProblemKind.CONFLICT, "key")
    assert peek.content() == before


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"sequence": 1}, id="sequence"),
        pytest.param({"tenant_id": "nobody"}, id="tenant"),
        pytest.param({"trigger_id": "t00"}, id="trigger"),
        pytest.param({"scheduled_us": at(61)}, id="instant"),
    ],
)
def test_cancel_of_an_unknown_fire_is_not_found(crank: HandCrank, other: dict[str, Any]) -> None:
    crank.put()
    crank.commit_at(60)
    key = crank.key(60)._replace(**other)
    assert _problem(crank, key) == (ProblemKind.NOT_FOUND, "key")


def test_cancel_with_a_note_over_the_limit_is_refused(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    problem = _problem(crank, crank.key(60), note="n" * (NOTE_CHARS_MAX + 1))
    assert problem == (ProblemKind.INVALID, "note")
    assert crank.lines() == ["60 ready"]


def test_cancel_is_audited_with_its_note_and_not_announced(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    announced = crank.store.outbox.pending(limit=10)
    crank.cancel(crank.key(60), note="wrong day")
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.actor, entry.action, entry.note) == (ACTOR, "fire_cancelled", "wrong day")
    assert (entry.tenant_id, entry.subject) == (TENANT, "job")
    assert entry.prior_value == f'{{"state": "ready", "fire_key": "{crank.key(60)}"}}'
    assert crank.store.outbox.pending(limit=10) == announced
