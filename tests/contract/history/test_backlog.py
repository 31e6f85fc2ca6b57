"""History: what waits, on each lane."""

from typing import Any

import pytest

from ports.store import Store
from scheduling.vocabulary import FireState, HeldReason, Lane, Origin
from tests.contract.factories import StoreHarness
from tests.support.history_records import a_fire, a_gap, a_range

NOTHING = {"on_time": 0, "catch_up": 0, "backfill": 0}


def _backlog(**counts: int) -> dict[str, int]:
    return NOTHING | counts


@pytest.fixture
def waiting(harness: StoreHarness, store: Store) -> Store:
    """Every state once on every lane of acme's t1; less of t2, and of beta's t3."""
    for tenant_id, trigger_id in (("acme", "t1"), ("acme", "t2"), ("beta", "t3")):
        harness.plant_trigger(tenant_id, trigger_id=trigger_id, name=f"name of {trigger_id}")
    harness.plant(
        *(
            a_fire("t1", 100 * lane_number + number, lane=lane, state=state)
            for lane_number, lane in enumerate(Lane)
            for number, state in enumerate(FireState)
        ),
        a_fire("t2", 1, lane=Lane.BACKFILL, state=FireState.HELD),
        a_fire("t2", 2, sequence=1, origin=Origin.MANUAL, state=FireState.QUEUED),
        a_range("t2", 5, 9),
        a_fire("t3", 7, tenant_id="beta", state=FireState.HELD, held_reason=HeldReason.OVERLAP),
        a_gap("t1", 0),
        a_gap("t1", 2_000, planned_through_us=2_500, planned_count=150),
        a_gap("t2", 0, planned_through_us=1_000, planned_count=200),
        a_gap("t3", 0, tenant_id="beta", planned_count=199),
    )
    return store


@pytest.mark.parametrize(
    ("subject", "counts"),
    [
        pytest.param({}, _backlog(on_time=5, catch_up=3 + 200 + 50 + 1, backfill=4), id="all"),
        pytest.param(
            {"tenant_id": "acme"}, _backlog(on_time=4, catch_up=253, backfill=4), id="tenant"
        ),
        pytest.param({"tenant_id": "beta"}, _backlog(on_time=1, catch_up=1), id="other_tenant"),
        pytest.param({"tenant_id": "nobody"}, NOTHING, id="unknown_tenant"),
        pytest.param(
            {"tenant_id": "acme", "trigger_id": "t1"},
            _backlog(on_time=3, catch_up=253, backfill=3),
            id="trigger",
        ),
        pytest.param({"trigger_id": "t2"}, _backlog(on_time=1, backfill=1), id="trigger_by_id"),
        pytest.param(
            {"tenant_id": "beta", "trigger_id": "t2"}, NOTHING, id="trigger_of_another_tenant"
        ),
        pytest.param({"trigger_id": "t9"}, NOTHING, id="unknown_trigger"),
    ],
)
def test_backlog_counts_waiting_fires_and_what_gaps_still_hold(
    waiting: Store, subject: dict[str, Any], counts: dict[str, int]
) -> None:
    assert waiting.history.backlog(**subject) == counts


def test_backlog_of_an_empty_store_is_nothing_on_every_lane(store: Store) -> None:
    assert store.history.backlog() == NOTHING
