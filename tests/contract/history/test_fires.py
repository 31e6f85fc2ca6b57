"""History: pages of fires, against the plain meaning of the filters."""

from collections.abc import Collection
from typing import Any

import pytest

from ports.records import FireRecord
from ports.store import Store
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, Origin
from tests.contract.factories import StoreHarness
from tests.support.history_records import a_fire, a_range

STATES = list(FireState)
CAUSE_OF = {FireState.NOT_DISPATCHED: Cause.OVERLAP}
TRIGGERS = [("acme", "t1"), ("acme", "t2"), ("beta", "t3"), ("zeta", "t4")]
# Every trigger has a row each second from 0 to 39, of all states in turn, every fourth of them to
# be caught up; but for two triggers whose seconds from 10 through 19 are one range row; and some
# second 5s were run again.
POPULATION = [
    a_fire(
        trigger_id,
        second,
        tenant_id=tenant_id,
        state=STATES[(second + shift) % len(STATES)],
        cause=CAUSE_OF.get(STATES[(second + shift) % len(STATES)]),
        lane=Lane.CATCH_UP if second % 4 == 3 else Lane.ON_TIME,
    )
    for shift, (tenant_id, trigger_id) in enumerate(TRIGGERS)
    for second in range(40)
    if not (trigger_id in ("t2", "t3") and 10 <= second <= 19)
] + [
    a_range("t2", 10, 19),
    a_range("t3", 10, 19, tenant_id="beta", cause=Cause.PAUSED, lane=Lane.CATCH_UP),
    a_fire("t1", 5, sequence=1, origin=Origin.MANUAL),
    a_fire("t1", 5, sequence=2, origin=Origin.BACKFILL, lane=Lane.BACKFILL),
    a_fire("t3", 5, sequence=1, tenant_id="beta", state=FireState.HELD),
]
WAITING = (FireState.HELD, FireState.READY, FireState.QUEUED)
TROUBLED = (FireState.FAILED, FireState.UNKNOWN, FireState.NOT_DISPATCHED)

FILTERS: dict[str, dict[str, Any]] = {
    "everything": {},
    "tenant": {"tenant_id": "acme"},
    "trigger": {"tenant_id": "acme", "trigger_id": "t1"},
    "trigger_without_tenant": {"trigger_id": "t3"},
    "unknown_tenant": {"tenant_id": "nobody"},
    "unknown_trigger": {"trigger_id": "t9"},
    "trigger_of_another_tenant": {"tenant_id": "beta", "trigger_id": "t1"},
    "window": {"from_us": 3, "through_us": 7},
    "window_open_below": {"through_us": 7},
    "window_open_above": {"from_us": 30},
    "window_inside_a_range_row": {"from_us": 12, "through_us": 13},
    "window_that_ends_where_a_range_row_begins": {"from_us": 9, "through_us": 10},
    "window_that_begins_where_a_range_row_ends": {"from_us": 19, "through_us": 20},
    "window_behind_a_range_row": {"from_us": 20, "through_us": 21},
    "window_before_everything": {"through_us": -1},
    "window_after_everything": {"from_us": 40},
    "window_of_one_trigger": {"tenant_id": "acme", "trigger_id": "t2", "from_us": 15},
    "window_of_one_tenant": {"tenant_id": "beta", "from_us": 15, "through_us": 22},
    "waiting": {"states": WAITING},
    "waiting_of_one_tenant": {"states": WAITING, "tenant_id": "beta"},
    "waiting_of_one_trigger": {"states": WAITING, "tenant_id": "beta", "trigger_id": "t3"},
    "waiting_in_a_window": {"states": WAITING, "from_us": 4, "through_us": 30},
    "troubled": {"states": TROUBLED},
    "troubled_of_one_tenant": {"states": TROUBLED, "tenant_id": "acme"},
    "troubled_in_a_window": {"states": TROUBLED, "from_us": 15, "through_us": 21},
    "good_ends": {"states": (FireState.ACCEPTED, FireState.SUCCEEDED)},
    "good_ends_in_a_window": {"states": (FireState.ACCEPTED,), "from_us": 12, "through_us": 30},
    "causes": {"causes": (Cause.PAUSED, Cause.SKIPPED_BY_POLICY)},
    "cause": {"causes": (Cause.PAUSED,)},
    "cause_of_nothing": {"causes": (Cause.SHED,)},
    "cause_of_one_tenant": {"causes": (Cause.SKIPPED_BY_POLICY,), "tenant_id": "acme"},
    "cause_of_one_trigger": {"causes": (Cause.PAUSED,), "tenant_id": "beta", "trigger_id": "t3"},
    "cause_in_a_window": {"causes": (Cause.PAUSED,), "from_us": 12, "through_us": 13},
    "cause_and_its_state": {"causes": (Cause.PAUSED,), "states": TROUBLED},
    "cause_and_a_state_that_has_none": {"causes": (Cause.PAUSED,), "states": WAITING},
    "lane": {"lanes": (Lane.BACKFILL,)},
    "lanes": {"lanes": (Lane.BACKFILL, Lane.CATCH_UP)},
    "lane_of_one_tenant": {"lanes": (Lane.CATCH_UP,), "tenant_id": "beta"},
    "lane_of_one_trigger": {"lanes": (Lane.CATCH_UP,), "tenant_id": "acme", "trigger_id": "t1"},
    "lane_in_a_window": {"lanes": (Lane.CATCH_UP,), "from_us": 12, "through_us": 25},
    "lane_and_waiting": {"lanes": (Lane.CATCH_UP,), "states": WAITING},
    "lane_and_troubled": {"lanes": (Lane.CATCH_UP,), "states": TROUBLED},
    "lane_and_good_ends": {"lanes": (Lane.ON_TIME,), "states": (FireState.ACCEPTED,)},
    "lane_and_cause": {"lanes": (Lane.CATCH_UP,), "causes": (Cause.PAUSED,)},
    "mixed": {"states": (FireState.ACCEPTED, FireState.HELD, FireState.NOT_DISPATCHED)},
}


def expected(
    *,
    tenant_id: str | None = None,
    trigger_id: str | None = None,
    states: Collection[FireState] = (),
    causes: Collection[Cause] = (),
    lanes: Collection[Lane] = (),
    from_us: int | None = None,
    through_us: int | None = None,
) -> list[FireRecord]:
    found = [
        fire
        for fire in POPULATION
        if tenant_id in (None, fire.key.tenant_id)
        and trigger_id in (None, fire.key.trigger_id)
        and (not states or fire.state in states)
        and (not causes or fire.cause in causes)
        and (not lanes or fire.lane in lanes)
        and (through_us is None or fire.key.scheduled_us <= through_us)
        and (from_us is None or (fire.through_us or fire.key.scheduled_us) >= from_us)
    ]
    return sorted(
        found,
        key=lambda fire: (fire.key.scheduled_us, *fire.key[:2], fire.key.sequence),
        reverse=True,
    )


@pytest.fixture
def populated(harness: StoreHarness, store: Store) -> Store:
    for tenant_id, trigger_id in TRIGGERS:
        harness.plant_trigger(tenant_id, trigger_id=trigger_id, name=f"name of {trigger_id}")
    harness.plant(*POPULATION)
    return store


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_fires_in_one_page_are_those_that_the_filter_means(
    populated: Store, filters: dict[str, Any]
) -> None:
    assert populated.history.fires(limit=1_000, **filters) == expected(**filters)


@pytest.mark.parametrize("limit", [1, 7])
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_fires_in_pages_are_those_of_one_page(
    populated: Store, filters: dict[str, Any], limit: int
) -> None:
    found: list[FireRecord] = []
    page = populated.history.fires(limit=limit, **filters)
    while page:
        assert len(page) <= limit
        found += page
        page = populated.history.fires(limit=limit, after=page[-1].key, **filters)
    assert found == expected(**filters)


def test_fires_after_a_key_that_is_gone_continue_behind_it(populated: Store) -> None:
    gone = a_fire("t2", 15).key
    page = populated.history.fires(limit=1, tenant_id="acme", trigger_id="t2", after=gone)
    assert [fire.key.scheduled_us for fire in page] == [10]


def test_fires_return_every_field(harness: StoreHarness, store: Store) -> None:
    whole = a_fire(
        "t1",
        100,
        sequence=4,
        version=3,
        origin=Origin.BACKFILL,
        lane=Lane.BACKFILL,
        state=FireState.HELD,
        cause=Cause.COALESCED,
        cause_detail="detail",
        held_reason=HeldReason.BACKOFF,
        not_before_us=101,
        due_us=102,
        decided_us=103,
        committed_us=104,
        queued_us=105,
        first_dispatched_us=106,
        next_attempt_n=7,
        coalesced_into_us=108,
        through_us=109,
        instant_count=10,
        tzdata_version="2025.2",
        changed_us=111,
    )
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    harness.plant(whole)
    assert store.history.fires(limit=1) == [whole]


def test_fires_of_an_empty_store_are_none(store: Store) -> None:
    assert store.history.fires(limit=10) == []
