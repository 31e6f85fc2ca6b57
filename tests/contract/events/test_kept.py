"""Events: the log is bounded, and says what it still holds."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from ports.events import EventsPort, KeptEvents
from tests.contract.factories import EventsHarness
from tests.support.published_events import all_events, an_event


def publish_some(opener: Callable[[], EventsPort], first: int) -> int:
    """Five overlapping batches of ten, as one of several relays."""
    events = opener()
    return sum(
        events.publish([an_event(number) for number in range(start, start + 10)])
        for start in range(first, first + 50, 10)
    )


def test_kept_of_an_empty_log_is_nothing(events: EventsPort) -> None:
    assert events.kept() == KeptEvents(after=0, through=0)


def test_kept_spans_what_was_published(events: EventsPort) -> None:
    events.publish([an_event(1), an_event(2)])
    page = events.read(after=0, limit=10)
    assert events.kept() == KeptEvents(after=page[0].offset - 1, through=page[1].offset)


def test_publish_beyond_the_bound_forgets_the_oldest(
    events_harness: EventsHarness, events: EventsPort
) -> None:
    bound = events_harness.kept_max
    for number in range(1, bound + 4):
        events.publish([an_event(number)])
    assert [event.at_us for event in all_events(events)] == list(range(4, bound + 4))
    page = events.read(after=0, limit=1)
    assert events.kept().after == page[0].offset - 1


def test_publish_of_a_batch_over_the_bound_keeps_its_newest(
    events_harness: EventsHarness, events: EventsPort
) -> None:
    bound = events_harness.kept_max
    assert events.publish([an_event(number) for number in range(3 * bound)]) == 3 * bound
    assert [event.at_us for event in all_events(events)] == list(range(2 * bound, 3 * bound))


def test_publish_of_repeats_alone_forgets_nothing(
    events_harness: EventsHarness, events: EventsPort
) -> None:
    kept = [an_event(number) for number in range(events_harness.kept_max)]
    events.publish(kept)
    before = events.kept()
    assert events.publish(kept) == 0
    assert events.kept() == before


def test_publish_by_two_processes_adds_each_event_once(events_harness: EventsHarness) -> None:
    events = events_harness.open()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        added = list(pool.map(publish_some, [events_harness.opener] * 2, [0, 40]))
    found = [event.at_us for event in all_events(events)]
    # 40 to 49 come from both: the later one may find them there, or forgotten already.
    assert 90 <= sum(added) <= 100
    assert len(found) == events_harness.kept_max
    assert len(set(found)) == len(found)
