"""Outbox: a relay's cursor, which no change slips past, whatever date it carries."""

import pytest

from ports.records import FinishRequest
from ports.store import Store
from tests.contract.factories import StoreHarness
from tests.support.hand_crank import OK, HandCrank
from tests.support.history_records import a_fire
from tests.support.store_builders import at

RELAY = "events"


def read_through(store: Store, until_us: int) -> None:
    """One whole reading up to there."""
    reading = store.outbox.begin_reading(RELAY)
    assert store.outbox.end_reading(RELAY, reading, until_us=until_us)


def test_cursor_of_an_unknown_relay_is_nothing(store: Store) -> None:
    assert store.outbox.cursor(RELAY) is None


def test_first_reading_starts_before_every_change(harness: StoreHarness, store: Store) -> None:
    harness.plant(a_fire("t1", 1, changed_us=-(10**15)))
    reading = store.outbox.begin_reading(RELAY)
    assert len(store.history.changed_since(reading.from_us, limit=10)) == 1


def test_end_reading_moves_the_cursor_for_every_handle(harness: StoreHarness, store: Store) -> None:
    read_through(store, 60)
    assert harness.open().outbox.cursor(RELAY) == 60
    assert store.outbox.begin_reading(RELAY).from_us == 60


def test_cursors_of_two_relays_are_apart(store: Store) -> None:
    read_through(store, 60)
    assert store.outbox.cursor("other") is None
    other = store.outbox.begin_reading("other")
    assert store.outbox.end_reading("other", other, until_us=7)
    assert (store.outbox.cursor(RELAY), store.outbox.cursor("other")) == (60, 7)


def test_reading_that_never_ended_is_repeated(store: Store) -> None:
    read_through(store, 60)
    store.outbox.begin_reading(RELAY)
    assert store.outbox.begin_reading(RELAY).from_us == 60


@pytest.mark.parametrize(
    ("changed_us", "cursor_us"),
    [
        pytest.param(59, 59, id="older_moves_it_back"),
        pytest.param(60, 60, id="at_it"),
        pytest.param(61, 60, id="newer"),
    ],
)
def test_change_between_readings_is_before_no_cursor(
    harness: StoreHarness, store: Store, changed_us: int, cursor_us: int
) -> None:
    read_through(store, 60)
    harness.plant(a_fire("t1", 1, changed_us=changed_us))
    assert store.outbox.cursor(RELAY) == cursor_us


@pytest.mark.parametrize(
    ("changed_us", "cursor_us"),
    [
        pytest.param(3, 3, id="before_the_reading"),
        pytest.param(70, 70, id="inside_it"),
        pytest.param(80, 80, id="at_its_end"),
        pytest.param(90, 80, id="after_it"),
    ],
)
def test_change_during_a_reading_is_before_no_cursor(
    harness: StoreHarness, store: Store, changed_us: int, cursor_us: int
) -> None:
    read_through(store, 60)
    reading = store.outbox.begin_reading(RELAY)
    harness.plant(a_fire("t1", 1, changed_us=changed_us), a_fire("t1", 2, changed_us=99))
    assert store.outbox.end_reading(RELAY, reading, until_us=80)
    assert store.outbox.cursor(RELAY) == cursor_us
    assert store.outbox.begin_reading(RELAY).from_us == cursor_us


def test_change_during_a_reading_that_never_ended_is_not_forgotten(
    harness: StoreHarness, store: Store
) -> None:
    read_through(store, 60)
    store.outbox.begin_reading(RELAY)
    harness.plant(a_fire("t1", 1, changed_us=3))
    assert store.outbox.begin_reading(RELAY).from_us == 3


def test_end_of_an_overtaken_reading_moves_nothing(harness: StoreHarness, store: Store) -> None:
    first = store.outbox.begin_reading(RELAY)
    second = harness.open().outbox.begin_reading(RELAY)
    harness.plant(a_fire("t1", 1, changed_us=70))
    assert not store.outbox.end_reading(RELAY, first, until_us=80)
    assert store.outbox.end_reading(RELAY, second, until_us=75)
    assert store.outbox.cursor(RELAY) == 70


def test_result_that_waited_for_the_store_moves_the_cursor_back(
    store: Store, crank: HandCrank
) -> None:
    crank.put()
    (claimed,) = crank.claim(crank.commit_at(61))
    ended_us = at(62)
    read_through(store, at(600))
    store.ledger.finish([FinishRequest(claimed.key, claimed.n, OK, ended_us)])
    assert store.outbox.cursor(RELAY) == ended_us
    assert [fire.key for fire in store.history.changed_since(ended_us, limit=10)] == [claimed.key]
