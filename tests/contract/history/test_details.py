"""History: changes, attempts and gaps."""

import pytest

from ports.records import FireRecord
from ports.store import Store
from scheduling.vocabulary import FireState
from tests.contract.factories import StoreHarness
from tests.support.history_records import a_fire, a_gap, a_range, an_attempt


def test_changed_since_returns_the_oldest_change_first(harness: StoreHarness, store: Store) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    early, same, late = (
        a_fire("t1", instant, changed_us=changed)
        for instant, changed in ((3, 50), (1, 60), (2, 70))
    )
    harness.plant(early, same, late)
    assert store.history.changed_since(60, limit=10) == [same, late]
    assert store.history.changed_since(0, limit=2) == [early, same]
    assert store.history.changed_since(71, limit=10) == []


def test_changed_since_continues_a_page_within_one_instant(
    harness: StoreHarness, store: Store
) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    harness.plant_trigger("acme", trigger_id="t2", name="name of t2")
    rows = [
        a_fire("t1", 3, changed_us=50),
        a_fire("t1", 3, sequence=1, changed_us=50),
        a_fire("t1", 4, changed_us=50),
        a_fire("t2", 1, changed_us=50),
        a_fire("t1", 1, changed_us=51),
    ]
    harness.plant(*rows)
    for number, row in enumerate(rows[:4]):
        found = store.history.changed_since(50, after=row.key, limit=2)
        assert found == rows[number + 1 : number + 3]


def test_fire_is_the_row_of_that_very_key(harness: StoreHarness, store: Store) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    scheduled, manual = (a_fire("t1", 5, sequence=sequence) for sequence in (0, 3))
    skipped = a_range("t1", 10, 19)
    harness.plant(scheduled, manual, skipped)
    assert [store.history.fire(fire.key) for fire in (scheduled, manual, skipped)] == [
        scheduled,
        manual,
        skipped,
    ]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_fire("t1", 5, sequence=1), id="other_sequence"),
        pytest.param(a_fire("t1", 12), id="inside_a_range_row"),
        pytest.param(a_fire("t2", 5), id="other_trigger"),
        pytest.param(a_fire("t1", 5, tenant_id="beta"), id="other_tenant"),
    ],
)
def test_fire_of_another_key_is_none(
    harness: StoreHarness, store: Store, other: FireRecord
) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    harness.plant(a_fire("t1", 5), a_range("t1", 10, 19))
    assert store.history.fire(other.key) is None


def test_attempts_are_those_of_the_fire_by_number(harness: StoreHarness, store: Store) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    fire = a_fire("t1", 5, state=FireState.REFUSED)
    other = a_fire("t1", 5, sequence=1)
    first = an_attempt(1, finished_us=12, transport_result="ambiguous", error="timed out")
    second = an_attempt(2, finished_us=22, transport_result="response", http_status=404)
    harness.plant(fire, other)
    harness.plant_attempts(fire.key, second, first)
    harness.plant_attempts(other.key, an_attempt(1))
    assert store.history.attempts(fire.key) == [first, second]


def test_attempts_of_an_unknown_fire_are_none(store: Store) -> None:
    assert store.history.attempts(a_fire("t9", 5).key) == []


def test_gaps_are_those_still_to_be_planned(harness: StoreHarness, store: Store) -> None:
    begun = a_gap("t1", 5_000, planned_through_us=5_500, planned_count=100)
    fresh = a_gap("t2", tenant_id="beta")
    done = a_gap("t1", 0, planned_through_us=1_000, planned_count=200)
    harness.plant(done, fresh, begun)
    assert store.history.gaps() == [begun, fresh]
    assert store.history.gaps("beta") == [fresh]
    assert store.history.gaps("nobody") == []
