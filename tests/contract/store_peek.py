"""What the suites need of a store that its ports do not offer: looks inside, and planted harm."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import NamedTuple

TriggerKey = tuple[str, str]


class DueIndexRow(NamedTuple):
    """A whole row of the due index."""

    tenant_id: str
    trigger_id: str
    partition_id: int
    version: int
    revision: int
    span_from_us: int
    decided_through_us: int
    next_due_us: int | None
    pending_catch_up_us: int | None
    fired_count: int


class StorePeek(ABC):
    """Everything takes effect at once, for every handle; compiled rules live on in open ones."""

    @abstractmethod
    def content(self) -> object:
        """All that the store holds, to be compared with itself."""

    @abstractmethod
    def holds(self, plain: bytes) -> bool:
        """Whether these bytes stand anywhere in what is stored."""

    @abstractmethod
    def due_index(self) -> list[DueIndexRow]:
        """The due index by (tenant, trigger)."""

    @abstractmethod
    def kept_requests(self) -> int:
        """How many requests are remembered, whatever their age."""

    @abstractmethod
    def empty_due_index(self) -> None:
        """Lose the due index."""

    @abstractmethod
    def set_cursor(self, key: TriggerKey, *, decided_through_us: int, next_due_us: int) -> None:
        """Put a due row back, as a restored backup of the due index would."""

    @abstractmethod
    def set_next_due(self, key: TriggerKey, *, next_due_us: int) -> None:
        """What another zone data version would have computed."""

    @abstractmethod
    def set_rule(self, key: TriggerKey, recurrence: str, *, version: int) -> None:
        """Rewrite a stored version's recurrence, though versions never change."""

    @abstractmethod
    def without_versions(self) -> AbstractContextManager[None]:
        """Inside it, every read of a version that is not in memory fails like a failing disk."""

    @abstractmethod
    def delete_payload_key(self, tenant_id: str) -> None:
        """Destroy a tenant's payload key."""
