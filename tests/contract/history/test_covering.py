"""History: which row answers for an instant."""

import pytest

from ports.store import Store
from tests.contract.factories import StoreHarness
from tests.support.history_records import a_fire, a_range

FIRST = a_fire("t1", 100)
RANGE = a_range("t1", 200, 299)
LAST = a_fire("t1", 400)


@pytest.mark.parametrize(
    ("instant_us", "row"),
    [
        pytest.param(99, None, id="before_everything"),
        pytest.param(100, FIRST, id="its_own_row"),
        pytest.param(101, None, id="between_rows"),
        pytest.param(200, RANGE, id="first_of_a_range_row"),
        pytest.param(250, RANGE, id="inside_a_range_row"),
        pytest.param(299, RANGE, id="last_of_a_range_row"),
        pytest.param(300, None, id="behind_a_range_row"),
        pytest.param(400, LAST, id="newest_row"),
        pytest.param(401, None, id="after_everything"),
    ],
)
def test_covering_finds_the_row_of_an_instant(
    harness: StoreHarness, store: Store, instant_us: int, row: object
) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="name of t1")
    harness.plant_trigger("acme", trigger_id="t2", name="name of t2")
    harness.plant(FIRST, RANGE, LAST, a_range("t2", 0, 1_000))
    harness.plant(*(a_fire("t1", at, sequence=3) for at in (99, 101, 210, 250, 300, 401)))
    assert store.history.covering("acme", "t1", instant_us=instant_us) == row


def test_covering_of_an_unknown_trigger_is_none(store: Store) -> None:
    assert store.history.covering("acme", "t9", instant_us=0) is None
