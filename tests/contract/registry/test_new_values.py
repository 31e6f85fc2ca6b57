"""The audit of an edit tells each field that changed: what it was, and what it is now."""

import json

import pytest

from ports.changes import (
    Change,
    PauseTrigger,
    PutCalendar,
    PutTarget,
    PutTenant,
    PutTrigger,
    RecordOwnership,
    SetHorizon,
)
from scheduling.vocabulary import OwnershipState
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import (
    TARGET,
    TENANT,
    a_definition,
    a_target,
    a_tenant,
    put_target,
)

CALENDAR = PutCalendar(tenant_id=TENANT, calendar_id="days", dates=("2026-12-25",))
OTHER_SECRET = "whsec_b3RoZXJzZWNyZXRvdGhlcnNlY3JldG90aA=="


@pytest.fixture
def made(crank: HandCrank) -> HandCrank:
    crank.apply(CALENDAR)
    crank.put(calendars=("days",))
    return crank


@pytest.mark.parametrize(
    ("change", "action", "prior", "new"),
    [
        pytest.param(
            PutTenant(tenant=a_tenant(quota_inflight=7, smear_s=5)),
            "tenant_put",
            {"quota_inflight": a_tenant().quota_inflight, "smear_s": a_tenant().smear_s},
            {"quota_inflight": 7, "smear_s": 5},
            id="quota",
        ),
        pytest.param(
            SetHorizon(tenant_id=TENANT, name="job", catchup_horizon_s=7_200, note="ticket 7"),
            "trigger_edited",
            {"catchup_horizon_s": 3_600, "horizon_source": "default"},
            {"catchup_horizon_s": 7_200, "horizon_source": f"chosen by {ACTOR}"},
            id="horizon",
        ),
        pytest.param(
            PutTrigger(
                tenant_id=TENANT,
                name="job",
                definition=a_definition(calendars=("days",), catchup_horizon_s=60),
            ),
            "trigger_edited",
            {"catchup_horizon_s": 3_600},
            {"catchup_horizon_s": 60},
            id="definition",
        ),
        pytest.param(
            put_target(timeout_s=3.0, secret=OTHER_SECRET),
            "target_put",
            {"timeout_s": 10.0},
            {"timeout_s": 3.0},
            id="target",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="days", dates=("2026-12-26",)),
            "calendar_put",
            {"revision": 1, "dates": ["2026-12-25"]},
            {"revision": 2, "dates": ["2026-12-26"]},
            id="calendar",
        ),
    ],
)
def test_edit_tells_the_values_before_and_after(
    made: HandCrank,
    change: Change,
    action: str,
    prior: dict[str, object],
    new: dict[str, object],
) -> None:
    made.apply(change)
    entry = next(each for each in made.store.audit.entries(limit=10) if each.action == action)
    assert entry.prior_value is not None
    assert entry.new_value is not None
    was = json.loads(entry.prior_value)
    assert {name: was[name] for name in new} == prior
    assert json.loads(entry.new_value) == new


def test_state_of_a_targets_owner_is_told_before_and_after(crank: HandCrank) -> None:
    crank.apply(PutTarget(target=a_target(target_id="b", endpoint="https://b.example/")))
    crank.apply(
        RecordOwnership(
            tenant_id=TENANT,
            target_id="b",
            endpoint="https://b.example/",
            ownership=OwnershipState.PROVEN,
            detail="served",
        )
    )
    (entry,) = crank.store.audit.entries(actions=["target_ownership"], limit=2)
    assert (entry.prior_value, entry.new_value) == (
        '{"ownership": "pending"}',
        '{"ownership": "proven"}',
    )


def test_what_is_new_and_what_is_no_edit_has_no_new_value(crank: HandCrank) -> None:
    crank.put()
    crank.apply(CALENDAR, PauseTrigger(tenant_id=TENANT, name="job"))
    assert {each.new_value for each in crank.store.audit.entries(limit=20)} == {None}


def test_secret_is_in_no_value(crank: HandCrank) -> None:
    crank.apply(put_target(secret=OTHER_SECRET))
    (entry, *_) = crank.store.audit.entries(tenant_id=TENANT, subject=TARGET, limit=2)
    assert OTHER_SECRET not in str(entry)
    assert entry.new_value is None
