"""The registry port: tenants, targets and triggers, and the change transaction."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ports.changes import Change, ChangeResult
from ports.records import TargetRecord, TenantRecord, TriggerDefinition, TriggerRecord


class RegistryPort(ABC):
    """Definitions. Every change is one transaction with everything it implies.

    Order: changes of one call apply in their order. Duplicates: a definition equal to the
    current one changes nothing. A failed call leaves the store as it was.
    """

    @abstractmethod
    def apply(
        self, changes: Sequence[Change], *, now_us: int, actor: str, dry_run: bool = False
    ) -> list[ChangeResult]:
        """All changes in one transaction, or none.

        Each trigger change settles what is due until `from_at` (the latest of `now_us`, the
        cursor and the last span), then writes version, revision, span, due row, audit entry and
        outbox event. `now_us` is the clock gate's earliest. A dry run rolls back.

        Raises ChangeRefused with every problem; TzdataMismatch; StoreUnavailable.
        """

    @abstractmethod
    def tenants(self) -> list[TenantRecord]:
        """All tenants, by id."""

    @abstractmethod
    def targets(self, tenant_id: str) -> list[TargetRecord]:
        """A tenant's targets, by id, without their secrets."""

    @abstractmethod
    def triggers(
        self, tenant_id: str | None = None, *, after: tuple[str, str] | None = None, limit: int
    ) -> list[TriggerRecord]:
        """Undeleted triggers by (tenant, name), at most `limit`, after a (tenant, name)."""

    @abstractmethod
    def find_triggers(self, name: str, *, tenant_id: str | None = None) -> list[TriggerRecord]:
        """The undeleted triggers of that name or id; several when tenants share a name."""

    @abstractmethod
    def definition(
        self, tenant_id: str, trigger_id: str, *, version: int
    ) -> TriggerDefinition | None:
        """A version's definition without its payload; versions never change."""

    @abstractmethod
    def target_secret(self, tenant_id: str, target_id: str) -> str | None:
        """The signing secret of a target, for its owner to configure the receiver."""
