"""Events with plain defaults, for suites about the log."""

from typing import Any

from ports.events import Event, EventsPort


def an_event(number: int = 1, **changes: Any) -> Event:
    """A change of acme's trigger t1; another number is another event."""
    facts: dict[str, Any] = {
        "event_id": f"TriggerChanged~{number}~7",
        "event": "TriggerChanged",
        "tenant_id": "acme",
        "trigger_id": "t1",
        "body": f'{{"n": {number}}}',
        "at_us": number,
    }
    return Event(**{**facts, **changes})


def all_events(events: EventsPort, *, after: int = 0) -> list[Event]:
    """What a reader finds who reads on and on, three events at a time."""
    found: list[Event] = []
    while page := events.read(after=after, limit=3):
        found += (each.event for each in page)
        after = page[-1].offset
    return found
