"""The lease port: which process owns which partition, fenced by an epoch."""

from abc import ABC, abstractmethod

from ports.records import Heartbeat, Lease


class LeasePort(ABC):
    """One transaction a call. Transfers are audited."""

    @abstractmethod
    def heartbeat(self, owner_id: str, *, now_us: int, ttl_us: int, epsilon_us: int) -> Heartbeat:
        """Renew what the owner holds, shed what exceeds its fair share, acquire what is free.

        A lease is free without an owner, two epsilon after its expiry, or with an expiry
        further away than the longest TTL (a clock stepped). Acquiring raises the epoch.
        """

    @abstractmethod
    def release(self, owner_id: str, *, now_us: int, actor: str | None = None) -> int:
        """Give up everything the owner holds; returns how many partitions.

        `actor` is who does so where it is not the owner, for the audit.
        """

    @abstractmethod
    def leases(self) -> list[Lease]:
        """All partitions, by id."""
