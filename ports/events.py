"""The events port: what the outbox relay publishes for others to follow."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple


class Event(NamedTuple):
    """One event. `event_id` is derived, so that a repeat can be told; `body` is JSON.

    The trigger is the ordering key.
    """

    event_id: str
    event: str
    tenant_id: str
    trigger_id: str
    body: str
    at_us: int


class PublishedEvent(NamedTuple):
    """An event and its place in the log."""

    offset: int
    event: Event


class EventsPort(ABC):
    """At-least-once, in order of publication per trigger."""

    @abstractmethod
    def publish(self, events: Sequence[Event]) -> None:
        """All or none; an event that is there already is not added again."""

    @abstractmethod
    def read(self, *, after: int, limit: int) -> list[PublishedEvent]:
        """Events after an offset, oldest first; 0 is before the first that is kept."""
