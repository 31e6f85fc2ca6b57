"""The lanes port: fires on their way from the decider to dispatchers."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ports.records import LaneMessage
from scheduling.vocabulary import Lane


class Delivered(NamedTuple):
    """A message and the handle that acknowledges it."""

    handle: int | str
    message: LaneMessage


class LanesPort(ABC):
    """At-least-once; in order of publication per (trigger, lane) among unacknowledged ones.

    A later message of a (trigger, lane) is not delivered while an earlier one is out
    unacknowledged. A lost lane is rebuilt by the sweep, so publishing need not survive a power
    cut; the ledger does.
    """

    @abstractmethod
    def publish(self, messages: Sequence[LaneMessage]) -> None:
        """All or none; a message that is still there is not added again."""

    @abstractmethod
    def pull(
        self,
        lanes: Sequence[Lane],
        *,
        limit: int,
        now_us: int,
        lease_us: int,
        without: Collection[str] = (),
    ) -> list[Delivered]:
        """Up to `limit` messages, earlier lanes of the list first; theirs until the lease ends.

        Tenants in `without` are passed over: theirs stay where they are.
        """

    @abstractmethod
    def ack(self, handles: Sequence[int | str]) -> None:
        """Forget messages; unknown handles are ignored."""

    @abstractmethod
    def depth(self) -> dict[Lane, int]:
        """Messages not yet acknowledged, per lane."""

    @abstractmethod
    def wait(self, timeout_s: float) -> bool:
        """Block until this process publishes, or the time is over; True when something came."""
