"""The repair port: what keeps nothing waiting for ever. Sweep, releaser and gap planner."""

from abc import ABC, abstractmethod

from ports.records import LaneMessage


class RepairPort(ABC):
    """Each call is one bounded transaction, `release` one a tenant; none when there is no need.

    Calls with an `owner_id` touch only partitions whose lease names that owner.
    Returned messages are to be published, then marked queued; a crash between is repaired by
    the next sweep.
    """

    @abstractmethod
    def sweep(self, owner_id: str, *, now_us: int) -> list[LaneMessage]:
        """Repair: unpublished or unclaimed rows, expired claims, held rows whose time has come,
        slots past their run timeout, buffered fires without a slot, and waiting fires and gaps
        of paused or deleted triggers, of paused ones the schedule's alone.

        A manual run goes once the trigger's instants that were due before it are decided."""

    @abstractmethod
    def ready(self, owner_id: str, *, acquired: tuple[int, ...]) -> list[LaneMessage]:
        """The `ready` rows of partitions just acquired, to publish before the first commit."""

    @abstractmethod
    def release(self, *, now_us: int) -> list[LaneMessage]:
        """Move held catch-up fires to ready: at most `catchup_rate_pct` of the tenant's
        dispatch quota in any ten seconds, round-robin over triggers, oldest first inside one,
        never against a taken slot. A tenant's count and its release are one transaction; a
        call that fails may have released some tenants' fires, which the next sweep publishes."""

    @abstractmethod
    def plan_gaps(self, owner_id: str, *, now_us: int) -> int:
        """Turn the next slice of gaps into held fires; returns the fires written."""

    @abstractmethod
    def next_wake_us(self, owner_id: str) -> int | None:
        """When `sweep` or `release` next has something to do, as far as is known."""
