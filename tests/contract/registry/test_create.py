"""apply, creating: a new trigger is live from now, with everything that a change implies."""

import json

import pytest

from ports.changes import ChangeKind, PutTrigger
from scheduling.keys import partition_of, trigger_id_of
from scheduling.vocabulary import (
    FoldRule,
    GapRule,
    MissedPolicy,
    OverlapPolicy,
    TriggerState,
)
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, a_definition, at


def test_create_tells_what_it_made(crank: HandCrank) -> None:
    crank.to(30)
    result = crank.put()
    trigger_id = trigger_id_of(TENANT, "job", generation=0)
    assert (result.kind, result.subject, result.tenant_id) == (ChangeKind.CREATED, "job", TENANT)
    assert (result.trigger_id, result.version, result.revision) == (trigger_id, 1, 1)
    assert (result.from_us, result.next_due_us) == (at(30), at(60))
    assert (result.settled_rows, result.stopped_fires) == (0, 0)


def test_create_makes_a_live_trigger(crank: HandCrank) -> None:
    crank.to(30)
    crank.put()
    trigger = crank.trigger()
    assert (trigger.state, trigger.version, trigger.revision) == (TriggerState.LIVE, 1, 1)
    assert trigger.partition_id == partition_of(trigger.trigger_id)
    assert (trigger.decided_through_us, trigger.next_due_us) == (at(30), at(60))
    assert (trigger.fired_count, trigger.created_us) == (0, at(30))


def test_create_begins_after_now_and_makes_no_past_instant(crank: HandCrank) -> None:
    crank.to(60)
    crank.put()
    crank.commit()
    assert crank.lines() == []
    crank.commit_at(120)
    assert crank.lines() == ["120 ready"]


def test_create_is_audited_and_announced(crank: HandCrank) -> None:
    crank.put()
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.actor, entry.action, entry.subject) == (ACTOR, "trigger_created", "job")
    assert entry.prior_value is None
    (event,) = crank.store.outbox.pending(limit=10)
    assert (event.trigger_id, event.event) == (crank.ids["job"], "TriggerChanged")
    assert json.loads(event.body)["revision"] == 1


def test_create_of_a_rule_without_future_is_finished(crank: HandCrank) -> None:
    result = crank.put(recurrence=("at 2026-03-01T00:00",))
    assert result.next_due_us is None
    assert crank.trigger().state is TriggerState.FINISHED


def test_definition_reads_back_whole_without_its_payload(crank: HandCrank) -> None:
    definition = a_definition(
        recurrence=("30 1 * * *", "every 90m"),
        zone="Europe/Berlin",
        gap_rule=GapRule.SKIP,
        fold_rule=FoldRule.BOTH,
        starts_us=at(0),
        ends_us=at(10_000_000),
        exclusions=("2026-04-01", "2026-12-24"),
        max_fires=7,
        smear_s=3,
        missed_policy=MissedPolicy.FIRE_ALL,
        overlap_policy=OverlapPolicy.BUFFER_ALL,
        catchup_horizon_s=7_200,
        horizon_source="chosen by bob",
        attempt_budget=4,
        retry_window_s=1_800,
        run_timeout_s=90,
        outcome_window_s=120,
        response_is_outcome=True,
        payload=b"{}",
    )
    (result,) = crank.apply(PutTrigger(tenant_id=TENANT, name="job", definition=definition))
    assert result.trigger_id is not None
    read = crank.store.registry.definition(TENANT, result.trigger_id, version=1)
    assert read is not None
    assert (read.payload, read.has_payload) == (None, True)
    for field in type(definition).__slots__:
        if field not in ("payload", "has_payload"):
            assert getattr(read, field) == getattr(definition, field), field


def test_definition_of_an_unknown_version_is_none(crank: HandCrank) -> None:
    result = crank.put()
    assert result.trigger_id is not None
    assert crank.store.registry.definition(TENANT, result.trigger_id, version=2) is None
    assert crank.store.registry.definition(TENANT, "t-none", version=1) is None


def test_payload_is_sealed_at_rest_and_reaches_the_claim(crank: HandCrank, peek: StorePeek) -> None:
    canary = b"canary-4f1c7a2e-in-the-payload"
    crank.put(payload=canary)
    (claimed,) = crank.claim(crank.commit_at(60))
    assert claimed.payload == canary
    crank.store.close()
    assert not peek.holds(canary)
    assert peek.holds(crank.ids["job"].encode())


@pytest.mark.parametrize("payload", [None, b"", b"\x00\xff"])
def test_payload_of_any_bytes_arrives_as_it_was(crank: HandCrank, payload: bytes | None) -> None:
    crank.put(payload=payload)
    (claimed,) = crank.claim(crank.commit_at(60))
    assert claimed.payload == payload
