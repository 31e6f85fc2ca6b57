"""The due index port: the one transaction that decides."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from ports.records import CommitResult


class DueIndexPort(ABC):
    """Who is due, and the decision about it."""

    @abstractmethod
    def commit_due(
        self, partition_id: int, epoch: int, *, now_us: int, row_limit: int
    ) -> CommitResult:
        """Decide what is due in a partition at `now_us` and commit it, in one transaction.

        Reads the lease's epoch first: another one means fenced, nothing written. Decides on the
        rows it has just locked; writes fires, range rows, gaps and the due rows; all of a
        trigger or nothing of it; at most `row_limit` rows, counting the kept fires that it
        moves on first and what quarantines write, unless one trigger alone needs more. A rule
        that raises quarantines its trigger and no other; a process out of memory quarantines
        none. Repeating a call decides nothing twice.

        Order: `ready` is in order of instants per trigger. Raises TzdataMismatch when the pin
        differs, StoreUnavailable when nothing was written.
        """

    def commit_due_many(
        self, leases: Mapping[int, int], *, now_us: int, row_limit: int
    ) -> dict[int, CommitResult]:
        """`commit_due` for several partitions, given with their epochs; the result of each.

        A store that pays for each transaction may take them in one, as many as `row_limit`
        rows allow: partitions that did not fit are missing from the result, the first
        never is. Each is fenced by itself. A failed call may have committed some of them.
        """
        return {
            partition_id: self.commit_due(partition_id, epoch, now_us=now_us, row_limit=row_limit)
            for partition_id, epoch in leases.items()
        }

    @abstractmethod
    def next_due(self, partition_ids: Iterable[int]) -> dict[int, int]:
        """The earliest due time of each partition that has one. Costs one seek a partition."""

    @abstractmethod
    def rebuild(self, *, now_us: int) -> int:
        """Derive the whole due index from registry and ledger; returns its number of rows.

        Atomic. The cursor is the later of `decided_floor_at` and the ledger's last sequence-0
        row, range row or gap. Raises TzdataMismatch: due times of unpinned zone data would lie.
        """

    @abstractmethod
    def pinned_tzdata(self) -> str:
        """The zone data version that may decide."""

    @abstractmethod
    def adopt_tzdata(self, *, now_us: int, actor: str) -> tuple[int, int]:
        """Pin this process's zone data and recompute every due row.

        Returns (triggers, how many of them moved). Atomic, audited.
        """
