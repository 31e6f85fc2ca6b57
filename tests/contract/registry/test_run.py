"""apply, manual runs: a fire of its own, due now, beside the schedule and never in its way."""

from typing import Any

import pytest

from ports.changes import ChangeKind, ChangeResult, PutTenant, PutTrigger, RunTrigger
from ports.errors import ChangeRefused, ProblemKind
from scheduling.keys import FireKey
from scheduling.limits import NOTE_CHARS_MAX, PAYLOAD_BYTES_MAX
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    Lane,
    MissedPolicy,
    Origin,
    TriggerState,
)
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, BUSY, OWNER, HandCrank
from tests.support.store_builders import TENANT, a_definition, a_tenant, at


def _problem(crank: HandCrank, **facts: Any) -> tuple[ProblemKind, str]:
    with pytest.raises(ChangeRefused) as caught:
        crank.run(**facts)
    (problem,) = caught.value.details
    return problem.kind, problem.field


def test_run_is_a_fire_of_origin_manual_whose_instant_is_its_acceptance(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    crank.to(10.5)
    (result,) = crank.apply(RunTrigger(tenant_id=TENANT, name="job"))
    key = FireKey(TENANT, crank.ids["job"], at(10.5), 1)
    assert result == ChangeResult(
        kind=ChangeKind.ACCEPTED,
        subject="job",
        tenant_id=TENANT,
        trigger_id=crank.ids["job"],
        version=1,
        revision=1,
        fire_key=key,
    )
    fire = crank.row(key)
    assert (fire.origin, fire.lane, fire.version) == (Origin.MANUAL, Lane.ON_TIME, 1)
    assert (fire.due_us, fire.decided_us, fire.committed_us) == (at(10.5),) * 3
    assert (fire.state, fire.held_reason) == (FireState.HELD, HeldReason.DUE_LATER)
    assert crank.trigger().fired_count == 0


def test_run_wakes_the_owner_at_once_and_is_sent(crank: HandCrank) -> None:
    crank.put(payload=b"usual")
    crank.to(10)
    key = crank.run()
    assert crank.store.repair.next_wake_us(OWNER) == at(10)
    (claimed,) = crank.claim(crank.sweep())
    assert (claimed.key, claimed.n, claimed.origin) == (key, 1, Origin.MANUAL)
    assert (claimed.payload, claimed.due_us) == (b"usual", at(10))
    assert crank.finish(key).state is FireState.ACCEPTED
    assert crank.store.repair.next_wake_us(OWNER) is None


def test_run_is_let_go_by_a_commit_of_its_partition_too(crank: HandCrank) -> None:
    crank.put()
    crank.to(10)
    key = crank.run()
    assert [message.key for message in crank.commit_at(60)] == [key, crank.key(60)]


def test_run_follows_the_instants_that_were_due_before_it(crank: HandCrank) -> None:
    crank.put()
    crank.to(60)
    key = crank.run()
    assert crank.sweep() == []
    assert [message.key for message in crank.commit().ready] == [crank.key(60)]
    assert [message.key for message in crank.sweep()] == [key]


def test_run_goes_before_an_instant_whose_smeared_time_comes_later(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    due_us = crank.trigger().next_due_us
    assert due_us is not None
    crank.to(60)
    key = crank.run()
    crank.now_us = due_us
    assert [message.key for message in crank.commit().ready] == [key, crank.key(60)]


def test_runs_of_one_instant_have_numbers_of_their_tenant(crank: HandCrank) -> None:
    crank.apply(PutTenant(tenant=a_tenant("zeta")))
    crank.put("job")
    crank.put("other")
    crank.to(10)
    keys = [crank.run("job"), crank.run("job"), crank.run("other")]
    assert [key.sequence for key in keys] == [1, 2, 3]
    assert {key.scheduled_us for key in keys} == {at(10)}
    assert [message.key for message in crank.publish(crank.sweep())] == keys


def test_run_takes_its_payload_for_itself_alone(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(payload=b"usual")
    crank.run(payload=b"special canary")
    crank.run(payload=b"")
    crank.run()
    claimed = crank.claim(crank.sweep())
    assert [fire.payload for fire in claimed] == [b"special canary", b"", b"usual"]
    (scheduled,) = crank.claim(crank.commit_at(60))
    assert scheduled.payload == b"usual"
    assert not peek.holds(b"special canary")


def test_run_gives_a_trigger_without_a_payload_one(crank: HandCrank) -> None:
    crank.put()
    crank.run(payload=b"special")
    assert [fire.payload for fire in crank.claim(crank.sweep())] == [b"special"]


def test_run_uses_the_version_that_stands(crank: HandCrank) -> None:
    crank.put(payload=b"one")
    crank.put(payload=b"two")
    crank.run()
    (fire,) = crank.claim(crank.sweep())
    assert (fire.version, fire.payload) == (2, b"two")


@pytest.mark.parametrize("policy", MissedPolicy)
def test_run_that_is_claimed_late_is_sent_all_the_same(
    crank: HandCrank, policy: MissedPolicy
) -> None:
    crank.put(missed_policy=policy)
    crank.to(30)
    key = crank.run()
    messages = crank.sweep()
    crank.commit_at(60, 120, 180)
    crank.to(1_000)
    assert [fire.key for fire in crank.claim(messages)] == [key]


def test_run_is_absorbed_by_nothing_and_absorbs_nothing(crank: HandCrank) -> None:
    """A missed instant waits on the catch-up lane; the run leaves it there."""
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    key = crank.run()
    crank.commit_at(1_200)
    assert crank.row(key).state is FireState.READY
    assert crank.lines() == ["600 coalesced>1200", "900 ready", "1200 ready"]


def test_run_at_an_instant_leaves_that_instants_pending_fire_alone(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.to(600)
    key = crank.run()
    crank.commit_at(900)
    crank.cancel(key)
    crank.commit_at(1_200)
    assert crank.lines() == ["600 coalesced>1200", "600 cancelled", "1200 ready"]


def test_run_is_tried_again_beyond_the_next_due_time(crank: HandCrank) -> None:
    crank.put(attempt_budget=20)
    crank.to(58)
    key = crank.run()
    crank.attempt(crank.sweep(), result=BUSY)
    crank.commit_at(60, 120)
    again = [message for message in crank.sweep() if message.key == key]
    assert [fire.n for fire in crank.claim(again)] == [2]
    assert crank.finish(key, 2, result=BUSY).state is FireState.HELD


def test_run_ends_with_its_retry_window(crank: HandCrank) -> None:
    crank.put(attempt_budget=20, retry_window_s=60)
    key = crank.run()
    crank.attempt(crank.sweep(), result=BUSY)
    crank.to(61)
    (again,) = [message for message in crank.sweep() if message.key == key]
    assert crank.claim([again]) == []
    assert crank.row(key).state is FireState.UNDELIVERED


def test_run_is_not_counted_by_max_fires(crank: HandCrank) -> None:
    crank.put(max_fires=1)
    crank.to(10)
    crank.run()
    crank.attempt(crank.sweep())
    assert crank.trigger().fired_count == 0
    crank.attempt(crank.commit_at(60))
    assert (crank.trigger().state, crank.trigger().fired_count) == (TriggerState.FINISHED, 1)
    crank.store.due_index.rebuild(now_us=crank.now_us)
    assert crank.trigger().fired_count == 1


def test_run_covers_no_instant(crank: HandCrank) -> None:
    crank.put()
    crank.to(60)
    crank.run()
    assert crank.store.history.covering(TENANT, crank.ids["job"], instant_us=at(60)) is None
    crank.commit()
    assert crank.fire(60).key.sequence == 0


def test_run_of_a_paused_trigger_goes_and_may_be_accepted_before_the_pause(
    crank: HandCrank,
) -> None:
    crank.put()
    before = crank.run()
    result = crank.pause()
    assert result.stopped_fires == 0
    during = crank.run()
    claimed = crank.claim(crank.sweep())
    assert [fire.key for fire in claimed] == [before, during]
    assert crank.finish(before, result=BUSY).state is FireState.HELD
    crank.to(30)
    assert [fire.n for fire in crank.claim(crank.sweep())] == [2]


def test_run_whose_trigger_is_paused_after_its_publication_is_claimed(crank: HandCrank) -> None:
    crank.put()
    key = crank.run()
    messages = crank.publish(crank.sweep())
    crank.pause()
    assert [fire.key for fire in crank.claim(messages)] == [key]


def test_run_of_a_paused_trigger_leaves_the_sweep_nothing_to_stop(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    crank.pause()
    crank.run()
    crank.publish(crank.sweep())
    before = peek.content()
    assert crank.sweep() == []
    assert peek.content() == before


def test_resume_leaves_a_run_that_waits_alone(crank: HandCrank) -> None:
    crank.put()
    crank.pause()
    key = crank.run()
    crank.resume()
    assert [message.key for message in crank.sweep()] == [key]


def test_run_of_a_finished_trigger_goes_and_leaves_it_finished(crank: HandCrank) -> None:
    crank.put(ends_us=at(30))
    assert crank.trigger().state is TriggerState.FINISHED
    crank.to(100)
    key = crank.run()
    assert [finished.state for finished in crank.attempt(crank.sweep())] == [FireState.ACCEPTED]
    assert crank.row(key).state is FireState.ACCEPTED
    assert crank.trigger().state is TriggerState.FINISHED


def test_run_of_a_quarantined_trigger_goes(
    crank: HandCrank, harness: StoreHarness, peek: StorePeek
) -> None:
    crank.put(payload=b"usual")
    peek.set_rule((TENANT, crank.ids["job"]), "nonsense", version=1)
    crank.store = harness.open()
    crank.commit_at(60)
    assert crank.trigger().state is TriggerState.QUARANTINED
    key = crank.run()
    assert [(fire.key, fire.payload) for fire in crank.claim(crank.sweep())] == [(key, b"usual")]
    assert crank.finish(key).state is FireState.ACCEPTED
    assert crank.trigger().state is TriggerState.QUARANTINED


def test_deletion_stops_a_run_that_waits(crank: HandCrank) -> None:
    crank.put()
    key = crank.run()
    assert crank.delete().stopped_fires == 1
    fire = crank.row(key)
    assert (fire.state, fire.cause) == (FireState.NOT_DISPATCHED, Cause.DELETED)
    assert crank.sweep() == []


def test_deletion_after_a_runs_publication_keeps_it_from_being_claimed(crank: HandCrank) -> None:
    crank.put()
    crank.run()
    messages = crank.publish(crank.sweep())
    crank.delete()
    assert crank.claim(messages) == []


def test_run_of_an_unknown_or_deleted_trigger_is_not_found(crank: HandCrank) -> None:
    assert _problem(crank, name="nothing") == (ProblemKind.NOT_FOUND, "name")
    crank.put()
    crank.delete()
    assert _problem(crank) == (ProblemKind.NOT_FOUND, "name")


def test_run_of_another_tenants_trigger_is_not_found(crank: HandCrank) -> None:
    crank.apply(PutTenant(tenant=a_tenant("zeta")))
    crank.put()
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(RunTrigger(tenant_id="zeta", name="job"))
    assert caught.value.details[0].kind is ProblemKind.NOT_FOUND


def test_run_of_another_revision_is_stale(crank: HandCrank) -> None:
    crank.put()
    assert _problem(crank, expected_revision=2) == (ProblemKind.STALE, "revision")
    assert crank.run(expected_revision=1).sequence == 1


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        pytest.param({"note": "n" * (NOTE_CHARS_MAX + 1)}, "note", id="note"),
        pytest.param({"payload": b"p" * (PAYLOAD_BYTES_MAX + 1)}, "payload", id="payload"),
    ],
)
def test_run_over_a_limit_is_refused(
    crank: HandCrank, peek: StorePeek, facts: dict[str, object], field: str
) -> None:
    crank.put()
    before = peek.content()
    assert _problem(crank, **facts) == (ProblemKind.INVALID, field)
    assert peek.content() == before


def test_run_at_its_limits_is_accepted(crank: HandCrank) -> None:
    crank.put()
    crank.run(note="n" * NOTE_CHARS_MAX, payload=b"p" * PAYLOAD_BYTES_MAX)
    (claimed,) = crank.claim(crank.sweep())
    assert claimed.payload == b"p" * PAYLOAD_BYTES_MAX


def test_run_as_a_dry_run_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    before = peek.content()
    (result,) = crank.apply(RunTrigger(tenant_id=TENANT, name="job"), dry_run=True)
    assert result.kind is ChangeKind.ACCEPTED
    assert peek.content() == before


def test_run_leaves_revision_and_schedule_as_they_are(crank: HandCrank) -> None:
    crank.put()
    before = crank.trigger()
    crank.run()
    assert crank.trigger() == before


def test_run_is_audited_with_its_note_and_not_announced(crank: HandCrank) -> None:
    crank.put()
    announced = crank.store.outbox.pending(limit=10)
    key = crank.run(note="after the outage")
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.at_us, entry.actor, entry.action) == (crank.now_us, ACTOR, "trigger_run")
    assert (entry.tenant_id, entry.subject, entry.note) == (TENANT, "job", "after the outage")
    assert str(key) in (entry.prior_value or "")
    assert crank.store.outbox.pending(limit=10) == announced


def test_run_of_a_trigger_made_in_the_same_call_follows_it(crank: HandCrank) -> None:
    _, result = crank.apply(
        PutTrigger(tenant_id=TENANT, name="job", definition=a_definition()),
        RunTrigger(tenant_id=TENANT, name="job"),
    )
    assert result.kind is ChangeKind.ACCEPTED
    assert len(crank.claim(crank.sweep())) == 1
