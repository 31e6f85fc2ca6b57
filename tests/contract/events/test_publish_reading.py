"""Events: what a reading of the ledger may still publish."""

from tests.contract.factories import EventsHarness
from tests.support.published_events import all_events, an_event


def test_publish_reading_of_the_latest_reading_adds_as_any_publication(
    events_harness: EventsHarness,
) -> None:
    events = events_harness.open()
    number = events_harness.begin_reading("one")
    assert events.publish_reading([an_event(1)], relay_id="one", number=number) == 1
    assert events.publish_reading([an_event(1), an_event(2)], relay_id="one", number=number) == 1
    assert events.publish_reading([], relay_id="one", number=number) == 0
    assert [event.at_us for event in all_events(events)] == [1, 2]


def test_publish_reading_adds_nothing_once_a_later_reading_has_begun(
    events_harness: EventsHarness,
) -> None:
    events = events_harness.open()
    first = events_harness.begin_reading("one")
    second = events_harness.begin_reading("one")
    assert events.publish_reading([an_event(1)], relay_id="one", number=first) is None
    assert events.publish_reading([], relay_id="one", number=first) is None
    assert all_events(events) == []
    assert events.publish_reading([an_event(2)], relay_id="one", number=second) == 1


def test_publish_reading_is_not_outrun_by_another_relays_readings(
    events_harness: EventsHarness,
) -> None:
    events = events_harness.open()
    number = events_harness.begin_reading("one")
    for _ in range(3):
        events_harness.begin_reading("other")
    assert events.publish_reading([an_event(1)], relay_id="one", number=number) == 1


def test_publish_reading_keeps_the_bound_of_the_log(events_harness: EventsHarness) -> None:
    events, kept_max = events_harness.open(), events_harness.kept_max
    number = events_harness.begin_reading("one")
    many = [an_event(n) for n in range(1, kept_max + 4)]
    assert events.publish_reading(many, relay_id="one", number=number) == len(many)
    assert [event.at_us for event in all_events(events)] == [e.at_us for e in many[-kept_max:]]
