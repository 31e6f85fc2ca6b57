"""Events: pages of the log."""

from ports.events import EventsPort
from tests.contract.factories import EventsHarness
from tests.support.published_events import all_events, an_event


def test_read_of_an_empty_log_is_empty(events: EventsPort) -> None:
    assert events.read(after=0, limit=10) == []
    assert events.read(after=7, limit=10) == []


def test_read_returns_the_oldest_first_up_to_its_limit(events: EventsPort) -> None:
    events.publish([an_event(number) for number in range(1, 6)])
    page = events.read(after=0, limit=2)
    assert [each.event for each in page] == [an_event(1), an_event(2)]
    assert 0 < page[0].offset < page[1].offset


def test_read_continues_after_an_offset(events: EventsPort) -> None:
    events.publish([an_event(number) for number in range(1, 6)])
    second = events.read(after=0, limit=2)[1]
    assert [each.event.at_us for each in events.read(after=second.offset, limit=10)] == [3, 4, 5]


def test_read_after_the_newest_finds_only_what_comes_later(events: EventsPort) -> None:
    events.publish([an_event(1)])
    newest = events.kept().through
    assert events.read(after=newest, limit=10) == []
    events.publish([an_event(1), an_event(2)])
    assert [each.event for each in events.read(after=newest, limit=10)] == [an_event(2)]


def test_read_by_two_readers_finds_the_same_places(events_harness: EventsHarness) -> None:
    one, other = events_harness.open(), events_harness.open()
    one.publish([an_event(1)])
    other.publish([an_event(2)])
    assert one.read(after=0, limit=10) == other.read(after=0, limit=10)
    assert len(all_events(one)) == 2
