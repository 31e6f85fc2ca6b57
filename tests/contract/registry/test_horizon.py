"""apply, horizons and kept payloads: a new version that differs in what was asked for alone."""

from dataclasses import replace

import pytest

from ports.changes import ChangeKind, ChangeResult, PutTrigger, SetHorizon
from ports.errors import ProblemKind
from ports.records import TriggerDefinition
from scheduling.limits import HORIZON_S_DEFAULT, HORIZON_S_MAX
from scheduling.vocabulary import TriggerState
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, a_definition, at


def _set(horizon_s: int | None, *, note: str | None = None) -> SetHorizon:
    return SetHorizon(tenant_id=TENANT, name="job", catchup_horizon_s=horizon_s, note=note)


def _keep(**changes: object) -> PutTrigger:
    definition = a_definition(**changes)
    return PutTrigger(tenant_id=TENANT, name="job", definition=definition, keep_payload=True)


def _definition(crank: HandCrank) -> TriggerDefinition:
    trigger = crank.trigger()
    found = crank.store.registry.definition(TENANT, trigger.trigger_id, version=trigger.version)
    assert found is not None
    return found


def _one(crank: HandCrank, change: SetHorizon | PutTrigger) -> ChangeResult:
    return crank.apply(change)[0]


def test_horizon_is_a_new_version_that_differs_in_it_alone(crank: HandCrank) -> None:
    crank.put(smear_s=5, max_fires=9)
    before = _definition(crank)
    result = _one(crank, _set(7_200))
    assert (result.kind, result.version, result.revision) == (ChangeKind.EDITED, 2, 2)
    assert result.next_due_us == crank.trigger().next_due_us
    assert _definition(crank) == replace(
        before, catchup_horizon_s=7_200, horizon_source=f"chosen by {ACTOR}"
    )


def test_no_horizon_is_the_default_again(crank: HandCrank) -> None:
    crank.put()
    crank.apply(_set(60), _set(None))
    definition = _definition(crank)
    assert definition.catchup_horizon_s == HORIZON_S_DEFAULT
    assert definition.horizon_source == "default"


@pytest.mark.parametrize("horizon_s", [60, None])
def test_horizon_that_is_set_changes_nothing(
    crank: HandCrank, peek: StorePeek, horizon_s: int | None
) -> None:
    crank.put()
    crank.apply(_set(60), _set(horizon_s))
    before = peek.content()
    assert _one(crank, _set(horizon_s)).kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_default_chosen_by_a_person_stays_chosen(crank: HandCrank) -> None:
    crank.put()
    assert _one(crank, _set(HORIZON_S_DEFAULT)).kind is ChangeKind.EDITED
    assert _definition(crank).horizon_source == f"chosen by {ACTOR}"


def test_horizon_keeps_the_payload(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(payload=b"canary-in-the-payload")
    crank.apply(_set(60))
    (claimed,) = crank.claim(crank.commit_at(60))
    assert (claimed.version, claimed.payload) == (2, b"canary-in-the-payload")
    assert not peek.holds(b"canary-in-the-payload")


def test_horizon_holds_from_now_on(crank: HandCrank) -> None:
    crank.put(recurrence=("0 * * * *",), catchup_horizon_s=60)
    crank.to(2 * 3_600 + 120)
    crank.apply(_set(86_400))
    assert crank.lines() == ["3600..7200 x2 expired_past_horizon"]


def test_horizon_of_a_paused_trigger_keeps_its_pause_and_its_note(crank: HandCrank) -> None:
    crank.put()
    crank.pause(note="holiday")
    crank.apply(_set(60, note="ticket 7"))
    trigger = crank.trigger()
    assert (trigger.state, trigger.pause_note) == (TriggerState.PAUSED, "holiday")


def test_horizon_is_audited_with_the_one_before_and_the_note(crank: HandCrank) -> None:
    crank.put()
    crank.apply(_set(60, note="ticket 7"))
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.subject, entry.note) == ("trigger_edited", "job", "ticket 7")
    assert entry.prior_value == (
        '{"state": "live", "version": 1, "revision": 1,'
        ' "catchup_horizon_s": 3600, "horizon_source": "default"}'
    )


@pytest.mark.parametrize("horizon_s", [-1, HORIZON_S_MAX + 1])
def test_horizon_out_of_bounds_is_refused(
    crank: HandCrank, peek: StorePeek, horizon_s: int
) -> None:
    crank.put()
    problem = refusal_of(crank, peek, _set(horizon_s))
    assert (problem.kind, problem.field) == (ProblemKind.INVALID, "catchup_horizon_s")


def test_horizon_of_no_trigger_is_not_found(crank: HandCrank, peek: StorePeek) -> None:
    assert refusal_of(crank, peek, _set(60)).kind is ProblemKind.NOT_FOUND


def test_horizon_of_a_trigger_whose_payload_is_lost_is_a_conflict(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put(payload=b"lost")
    peek.delete_payload_key(TENANT)
    for change in (_set(60), _keep(smear_s=3)):
        problem = refusal_of(crank, peek, change)
        assert (problem.kind, problem.field) == (ProblemKind.CONFLICT, "payload")


@pytest.mark.parametrize("payload", [None, b"", b"kept"])
def test_put_that_keeps_the_payload_seals_it_again(
    crank: HandCrank, peek: StorePeek, payload: bytes | None
) -> None:
    crank.put(payload=payload)
    assert _one(crank, _keep()).kind is ChangeKind.UNCHANGED
    result = _one(crank, _keep(smear_s=0, attempt_budget=2))
    assert (result.kind, result.version) == (ChangeKind.EDITED, 2)
    (claimed,) = crank.claim(crank.commit_at(60))
    assert (claimed.version, claimed.payload) == (2, payload)


def test_put_that_keeps_the_payload_of_nothing_creates_without_one(crank: HandCrank) -> None:
    assert _one(crank, _keep()).kind is ChangeKind.CREATED
    (claimed,) = crank.claim(crank.commit_at(60))
    assert (claimed.due_us, claimed.payload) == (at(60), None)
