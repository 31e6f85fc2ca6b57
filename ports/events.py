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


class KeptEvents(NamedTuple):
    """The log holds what was published after offset `after`, up to and with `through`."""

    after: int = 0
    through: int = 0


class EventsPort(ABC):
    """At-least-once, in order of publication per trigger.

    An offset that was read never comes to mean another event, also after a power cut. The log
    is bounded: the oldest events are forgotten, and a repeat of one of them is a new event.
    """

    @abstractmethod
    def publish(self, events: Sequence[Event]) -> int:
        """All or none, durably; returns how many were added.

        An event that is there already is not added again. After an error they may be there.
        """

    @abstractmethod
    def publish_reading(self, events: Sequence[Event], *, relay_id: str, number: int) -> int | None:
        """Like `publish`, for what a relay's reading of the ledger found.

        None, and nothing was added, where a later reading of that relay has begun: what this one
        found may be older than what that one tells.
        """

    @abstractmethod
    def read(self, *, after: int, limit: int) -> list[PublishedEvent]:
        """Events after an offset, oldest first; 0 is before the first that is kept."""

    @abstractmethod
    def kept(self) -> KeptEvents:
        """What can be read: a reader that stopped before `after` has missed what is forgotten."""
