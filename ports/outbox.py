"""The outbox port: change events written with their change, for a relay to publish.

Also where a relay stands in the ledger, whose changes have no outbox rows.
"""

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

RELAY_ID: Final = "events"  # of all relays into the log of events: they share a cursor


class OutboxEvent(NamedTuple):
    """`body` is JSON; events of a trigger are published in order of their id."""

    outbox_id: int
    tenant_id: str
    trigger_id: str
    event: str
    body: str
    created_us: int


class ChangeReading(NamedTuple):
    """One relay's reading of the ledger's changes, from `from_us` on.

    `number` rises with every reading of the relay: only the latest one may move its cursor.
    """

    from_us: int
    number: int


class OutboxPort(ABC):
    """Written only inside the change transaction.

    A relay's cursor holds however wrong the writers' clocks are, however late they commit and
    however many relays share the id: from `begin_reading` on, a ledger row that comes to be with
    an older change than the cursor moves the cursor back to that change. So what is read after
    `begin_reading`, up to where `end_reading` is told, never leaves anything behind.
    """

    @abstractmethod
    def pending(self, *, limit: int) -> list[OutboxEvent]:
        """Unsent events in commit order."""

    @abstractmethod
    def mark_sent(self, outbox_ids: list[int], *, now_us: int) -> int:
        """Returns how many were marked; repeats change nothing.

        Sent events are kept for a while, bounded, and forgotten; unsent ones never.
        """

    @abstractmethod
    def cursor(self, relay_id: str) -> int | None:
        """From where on changes are still to be published; None before the first reading."""

    @abstractmethod
    def begin_reading(self, relay_id: str) -> ChangeReading:
        """Read the ledger only after this; a new relay starts before the first change.

        A reading that is never ended, or whose relay died, costs only its repetition.
        """

    @abstractmethod
    def end_reading(self, relay_id: str, reading: ChangeReading, *, until_us: int) -> bool:
        """Every change before `until_us` that the reading could see has been published.

        Moves the cursor there, or to the oldest change that came in since the reading began.
        False, and nothing moved, where a later reading has begun: that one tells the rest.
        """
