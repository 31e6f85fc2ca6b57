"""The outbox port: change events written with their change, for a relay to publish."""

from abc import ABC, abstractmethod
from typing import NamedTuple


class OutboxEvent(NamedTuple):
    """`body` is JSON; events of a trigger are published in order of their id."""

    outbox_id: int
    tenant_id: str
    trigger_id: str
    event: str
    body: str
    created_us: int


class OutboxPort(ABC):
    """Written only inside the change transaction."""

    @abstractmethod
    def pending(self, *, limit: int) -> list[OutboxEvent]:
        """Unsent events in commit order."""

    @abstractmethod
    def mark_sent(self, outbox_ids: list[int], *, now_us: int) -> int:
        """Returns how many were marked; repeats change nothing."""
