"""The audit port: append-only by a rule of the store."""

from abc import ABC, abstractmethod

from ports.records import AuditRecord


class AuditPort(ABC):
    """Entries can be added and read; the store refuses to change or delete one."""

    @abstractmethod
    def append(self, entry: AuditRecord) -> None:
        """One entry, durably, in its own transaction."""
