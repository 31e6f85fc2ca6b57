"""The audit port: append-only by a rule of the store."""

from abc import ABC, abstractmethod
from collections.abc import Collection

from ports.records import AuditRecord


class AuditPort(ABC):
    """Entries can be added and read; the store refuses to change or delete one."""

    @abstractmethod
    def append(self, entry: AuditRecord) -> None:
        """One entry, durably, in its own transaction."""

    @abstractmethod
    def entries(
        self,
        *,
        tenant_id: str | None = None,
        subject: str | None = None,
        actor: str | None = None,
        actions: Collection[str] = (),
        from_us: int | None = None,
        through_us: int | None = None,
        before_id: int | None = None,
        limit: int,
    ) -> list[AuditRecord]:
        """Entries that meet every condition given, newest first; `before_id` continues a page."""
