"""The signals port: what a store is asked about its own health."""

from abc import ABC, abstractmethod
from typing import NamedTuple


class AcceptedChange(NamedTuple):
    """A change of a trigger by somebody, as its event in the outbox tells it."""

    change_id: int
    partition_id: int
    accepted_us: int


class SignalsPort(ABC):
    """Cheap: each call reads a few entries of an index, however much the store holds."""

    @abstractmethod
    def prove_commit(self, *, now_us: int, wait_s: float) -> None:
        """Commit one harmless write, as durably as any other; nothing reads what it writes.

        StoreUnavailable when no transaction could be had, or another one of this process went
        on for longer than `wait_s`.
        """

    @abstractmethod
    def quarantined_triggers(self) -> int:
        """How many triggers are out of the schedule because of their rule."""

    @abstractmethod
    def newest_change_id(self) -> int:
        """That of the newest event in the outbox; 0 when there is none."""

    @abstractmethod
    def changes_after(self, change_id: int, *, limit: int) -> list[AcceptedChange]:
        """Changes of triggers that were committed later, in commit order.

        What the decider does to a trigger by itself, such as a quarantine, is left out.
        """
