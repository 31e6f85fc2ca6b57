"""The history port: what readers ask of the ledger."""

from abc import ABC, abstractmethod
from collections.abc import Collection

from ports.records import AttemptRecord, FireRecord, GapRecord, TriggerRecord
from scheduling.keys import FireKey
from scheduling.vocabulary import Cause, FireState, Lane


class HistoryPort(ABC):
    """Reads only; each call is one snapshot."""

    @abstractmethod
    def fires(
        self,
        *,
        tenant_id: str | None = None,
        trigger_id: str | None = None,
        states: Collection[FireState] = (),
        causes: Collection[Cause] = (),
        lanes: Collection[Lane] = (),
        from_us: int | None = None,
        through_us: int | None = None,
        after: FireKey | None = None,
        limit: int,
    ) -> list[FireRecord]:
        """Rows whose instants meet [from, through], newest first; `after` continues a page.

        A range row is one row; expand it with its version's recurrence.
        """

    @abstractmethod
    def changed_since(
        self, changed_us: int, *, after: FireKey | None = None, limit: int
    ) -> list[FireRecord]:
        """Rows that changed at or after an instant, oldest change first, then by key.

        `after` leaves out rows of that very instant up to this key: it continues a page.
        """

    @abstractmethod
    def covering(self, tenant_id: str, trigger_id: str, *, instant_us: int) -> FireRecord | None:
        """The sequence-0 row that covers an instant, its own or a range row."""

    @abstractmethod
    def fire(self, key: FireKey) -> FireRecord | None:
        """The row of that very key."""

    @abstractmethod
    def attempts(self, key: FireKey) -> list[AttemptRecord]:
        """A fire's attempts, by number."""

    @abstractmethod
    def gaps(self, tenant_id: str | None = None) -> list[GapRecord]:
        """Gaps still to be planned."""

    @abstractmethod
    def backlog(
        self, tenant_id: str | None = None, *, trigger_id: str | None = None
    ) -> dict[str, int]:
        """Waiting fires per lane, gaps' remainders counted on `catch_up`."""

    @abstractmethod
    def upcoming(
        self, tenant_id: str, *, through_us: int | None = None, limit: int
    ) -> list[TriggerRecord]:
        """A tenant's triggers with a next due time, the earliest first. Reads all its due rows."""

    @abstractmethod
    def oldest_undispatched_due_us(self) -> int | None:
        """The due time of the oldest on-time fire without an attempt, or of an overdue row."""

    @abstractmethod
    def decided_ahead(self, now_us: int) -> tuple[int, int] | None:
        """How many triggers' cursors lie after `now_us`, and the last of them; None for none.

        They were decided by a clock that ran ahead, and are silent until then. Reads the whole
        due index: ask at a start and after a step of the clock.
        """
