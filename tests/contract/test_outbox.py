"""Outbox: unsent events in commit order, marked once."""

from ports.outbox import OutboxEvent
from ports.store import Store
from tests.contract.factories import StoreHarness

EVENTS = [
    OutboxEvent(number, "acme", f"t{number % 2}", "trigger_edited", f'{{"n": {number}}}', 7)
    for number in range(1, 6)
]


def test_pending_of_an_empty_outbox_is_empty(store: Store) -> None:
    assert store.outbox.pending(limit=10) == []


def test_pending_returns_whole_events_in_order(harness: StoreHarness, store: Store) -> None:
    harness.plant(*EVENTS)
    assert store.outbox.pending(limit=10) == EVENTS


def test_pending_stops_at_its_limit(harness: StoreHarness, store: Store) -> None:
    harness.plant(*EVENTS)
    assert store.outbox.pending(limit=2) == EVENTS[:2]


def test_mark_sent_takes_events_out_and_counts_them(harness: StoreHarness, store: Store) -> None:
    harness.plant(*EVENTS)
    assert store.outbox.mark_sent([1, 3], now_us=9) == 2
    assert [event.outbox_id for event in store.outbox.pending(limit=10)] == [2, 4, 5]


def test_mark_sent_repeated_changes_nothing(harness: StoreHarness, store: Store) -> None:
    harness.plant(*EVENTS)
    store.outbox.mark_sent([1], now_us=9)
    assert store.outbox.mark_sent([1, 2], now_us=10) == 1
    assert store.outbox.mark_sent([1, 2], now_us=11) == 0


def test_mark_sent_of_unknown_or_no_events_marks_none(harness: StoreHarness, store: Store) -> None:
    harness.plant(*EVENTS)
    assert store.outbox.mark_sent([99], now_us=9) == 0
    assert store.outbox.mark_sent([], now_us=9) == 0
    assert store.outbox.pending(limit=10) == EVENTS
