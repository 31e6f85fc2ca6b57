"""apply, deleting: the name is free again, what waited has its cause, history stays."""

from ports.changes import ChangeKind, DeleteTrigger, PutTrigger
from scheduling.keys import trigger_id_of
from scheduling.vocabulary import Cause, FireState, MissedPolicy, TriggerState
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, a_definition, a_tenant, at


def test_delete_takes_the_trigger_out_of_sight_and_out_of_the_due_index(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    crank.to(30)
    result = crank.delete(note="gone")
    assert (result.kind, result.revision, result.next_due_us) == (ChangeKind.DELETED, 2, None)
    assert result.from_us == at(30)
    assert crank.store.registry.triggers(limit=10) == []
    assert crank.store.registry.find_triggers("job") == []
    assert peek.due_index() == []
    crank.commit_at(60)
    assert crank.lines() == []


def test_delete_stops_what_waits_and_keeps_what_ran(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    crank.commit_at(120)
    assert crank.delete().stopped_fires == 1
    assert crank.lines() == ["60 accepted", "120 deleted"]


def test_delete_turns_an_unplanned_gap_into_a_range_row(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.commit_at(150 * 60)
    crank.delete()
    assert crank.store.history.gaps() == []
    row = crank.fire(600)
    assert (row.cause, row.instant_count) == (Cause.DELETED, 148)


def test_outcome_of_a_deleted_triggers_run_still_counts(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    crank.delete()
    finished = crank.report(crank.key(60), FireState.SUCCEEDED)
    assert finished is not None
    assert finished.state is FireState.SUCCEEDED


def test_made_again_is_a_new_trigger(crank: HandCrank) -> None:
    first = crank.put()
    crank.commit_at(60)
    crank.delete()
    second = crank.put()
    assert first.trigger_id == trigger_id_of(TENANT, "job", generation=0)
    assert second.trigger_id == trigger_id_of(TENANT, "job", generation=1)
    assert (second.kind, second.version, second.revision) == (ChangeKind.CREATED, 1, 1)
    crank.commit_at(120)
    assert crank.lines() == ["120 ready"]


def test_delete_and_create_in_one_call_apply_in_their_order(crank: HandCrank) -> None:
    crank.put()
    results = crank.apply(
        DeleteTrigger(tenant_id=TENANT, name="job"),
        PutTrigger(tenant_id=TENANT, name="job", definition=a_definition()),
    )
    assert [result.kind for result in results] == [ChangeKind.DELETED, ChangeKind.CREATED]
    assert results[0].trigger_id != results[1].trigger_id


def test_deleted_trigger_is_found_by_its_id_where_it_is_asked_for(crank: HandCrank) -> None:
    first = crank.put()
    crank.to(30)
    crank.delete()
    crank.put()
    registry = crank.store.registry
    old_id = str(first.trigger_id)
    assert registry.find_triggers(old_id) == []
    (found,) = registry.find_triggers(old_id, deleted=True)
    assert (found.name, found.state, found.version) == ("job", TriggerState.DELETED, 1)
    assert (found.decided_through_us, found.next_due_us) == (at(30), None)
    assert registry.find_triggers(old_id, tenant_id="zeta", deleted=True) == []
    assert [each.state for each in registry.find_triggers("job", deleted=True)] == ["live"]


def test_delete_makes_room_under_the_quota_in_the_same_call(crank: HandCrank) -> None:
    crank.begin(quota_triggers=2)
    put = [
        PutTrigger(tenant_id=TENANT, name=name, definition=a_definition())
        for name in ("one", "two", "three")
    ]
    results = crank.apply(put[0], put[1], DeleteTrigger(tenant_id=TENANT, name="one"), put[2])
    assert [result.kind for result in results] == ["created", "created", "deleted", "created"]
    assert a_tenant(quota_triggers=2, revision=2) in crank.store.registry.tenants()


def test_delete_is_audited_with_its_note_and_announced(crank: HandCrank) -> None:
    crank.put()
    crank.delete(note="gone")
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.note) == ("trigger_deleted", "gone")
    assert '"kind": "deleted"' in crank.store.outbox.pending(limit=10)[-1].body
