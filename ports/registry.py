"""The registry port: tenants, targets and triggers, and the change transaction."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from ports.changes import Change, ChangeResult, IdempotentRequest
from ports.records import (
    AllowedHost,
    CalendarRecord,
    HeldHorizon,
    SpanRecord,
    TargetRecord,
    TenantRecord,
    TriggerDefinition,
    TriggerRecord,
)
from scheduling.limits import PAGE_ROWS_DEFAULT
from scheduling.vocabulary import TriggerState


class TriggersPort(ABC):
    """What is known of triggers. Reads only."""

    @abstractmethod
    def triggers(
        self,
        tenant_id: str | None = None,
        *,
        states: Collection[TriggerState] = (),
        target_id: str | None = None,
        name_prefix: str = "",
        after: tuple[str, str] | None = None,
        limit: int,
    ) -> list[TriggerRecord]:
        """Undeleted triggers by (tenant, name), at most `limit`, after a (tenant, name).

        Only those that meet every condition given; `target_id` is the current version's.
        """

    @abstractmethod
    def find_triggers(
        self,
        name: str,
        *,
        tenant_id: str | None = None,
        tenants: Collection[str] | None = None,
        deleted: bool = False,
        after: tuple[str, str] = ("", ""),
        limit: int = PAGE_ROWS_DEFAULT,
    ) -> list[TriggerRecord]:
        """The undeleted triggers of that name or id, by (tenant, id) after one of these.

        Several when tenants share a name; `tenants` are those to search, None all of them.
        With `deleted` also a deleted one, by its id alone: it was decided through its end, and
        its count of fires is forgotten.
        """

    @abstractmethod
    def definition(
        self, tenant_id: str, trigger_id: str, *, version: int
    ) -> TriggerDefinition | None:
        """A version's definition without its payload; versions never change."""

    @abstractmethod
    def horizon(self, tenant_id: str, name: str) -> HeldHorizon:
        """The catch-up horizon that holds for a name: that of its trigger.

        Where it has none, what a new one starts with: the default, or a lower one that the last
        trigger of that name had when it was deleted.
        """

    @abstractmethod
    def spans(self, tenant_id: str, trigger_id: str) -> list[SpanRecord]:
        """All spans of a trigger, also of a deleted one, oldest first."""


class RegistryPort(TriggersPort):
    """Definitions. Every change is one transaction with everything it implies.

    Order: changes of one call apply in their order. Duplicates: a definition equal to the
    current one changes nothing. A failed call leaves the store as it was.
    """

    @abstractmethod
    def apply(
        self,
        changes: Sequence[Change],
        *,
        now_us: int,
        actor: str,
        dry_run: bool = False,
        request: IdempotentRequest | None = None,
    ) -> list[ChangeResult]:
        """All changes in one transaction, or none.

        Each trigger change settles what is due until `from_at` (the latest of `now_us`, the
        cursor and the last span), then writes version, revision, span, due row, audit entry and
        outbox event. `now_us` is the clock gate's earliest. A dry run rolls back.

        With a `request` its key and the results are stored in the same transaction, for a day:
        a repeat changes nothing and gets the same results, marked as replayed; the same key
        with another fingerprint is refused. Without changes it is only looked up: the results of
        the request that it repeats, none where it is the first.

        Raises ChangeRefused with every problem; TzdataMismatch; StoreUnavailable.
        """

    @abstractmethod
    def tenants(
        self,
        tenant_id: str | None = None,
        *,
        among: Collection[str] | None = None,
        after: str = "",
        limit: int | None = None,
    ) -> list[TenantRecord]:
        """The tenants after an id, by id, at most `limit`; or the one of `tenant_id`, if there is.

        `among` are the only ones that may be told of; None is all.
        """

    @abstractmethod
    def targets(
        self,
        tenant_id: str | None = None,
        *,
        after: tuple[str, str] = ("", ""),
        limit: int | None = None,
    ) -> list[TargetRecord]:
        """A tenant's targets or all, without their secrets, by (tenant, id) after one of these."""

    @abstractmethod
    def target(self, tenant_id: str, target_id: str) -> TargetRecord | None:
        """One target, without its secret."""

    @abstractmethod
    def target_secret(self, tenant_id: str, target_id: str) -> str | None:
        """The signing secret of a target, for its owner to configure the receiver."""

    @abstractmethod
    def calendars(
        self, tenant_id: str, *, after: str = "", limit: int | None = None
    ) -> list[CalendarRecord]:
        """A tenant's exclusion calendars after an id, by id."""

    @abstractmethod
    def calendar(
        self, tenant_id: str, calendar_id: str, *, revision: int | None = None
    ) -> CalendarRecord | None:
        """One calendar as it is; or a revision of it, which stays when the calendar is deleted."""

    @abstractmethod
    def allowed_hosts(
        self, *, after: tuple[str, str] = ("", ""), limit: int | None = None
    ) -> list[AllowedHost]:
        """The hosts that an operator vouches for, by (host, tenant) after one of these.

        In this order the tenant that stands for all of them is empty.
        """
