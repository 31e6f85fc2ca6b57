"""Events: what a publication adds."""

import json

import pytest

from ports.errors import PortError
from ports.events import Event, EventsPort
from tests.contract.factories import EventsHarness
from tests.support.published_events import all_events, an_event


def test_publish_keeps_every_field(events: EventsPort) -> None:
    event = Event("id é~1", "FireStateChanged", "acme", "t9", json.dumps({"a": "ü\n"}), -5)
    assert events.publish([event]) == 1
    assert all_events(events) == [event]


def test_publish_of_nothing_adds_nothing(events: EventsPort) -> None:
    assert events.publish([]) == 0
    assert all_events(events) == []


def test_publish_keeps_the_order_of_its_call_and_of_the_calls(events: EventsPort) -> None:
    numbers = (3, 1, 2), (5, 4)
    for call in numbers:
        events.publish([an_event(number) for number in call])
    assert [event.at_us for event in all_events(events)] == [3, 1, 2, 5, 4]


@pytest.mark.parametrize("in_one_call", [True, False], ids=["one_call", "two_calls"])
def test_publish_twice_keeps_the_first(events: EventsPort, in_one_call: bool) -> None:
    first, again = an_event(1), an_event(1, body="{}", at_us=9)
    if in_one_call:
        assert events.publish([first, again]) == 1
    else:
        assert [events.publish([first]), events.publish([again])] == [1, 0]
    assert all_events(events) == [first]


def test_publish_of_old_and_new_events_adds_the_new_ones(events: EventsPort) -> None:
    events.publish([an_event(1), an_event(2)])
    assert events.publish([an_event(2), an_event(3), an_event(1)]) == 1
    assert [event.at_us for event in all_events(events)] == [1, 2, 3]


def test_publish_that_fails_adds_nothing(events: EventsPort) -> None:
    broken = an_event(2, body=None)
    with pytest.raises(PortError):
        events.publish([an_event(1), broken])
    assert all_events(events) == []


def test_publish_is_seen_by_another_handle(events_harness: EventsHarness) -> None:
    events_harness.open().publish([an_event()])
    assert all_events(events_harness.open()) == [an_event()]
