"""The ledger port: the life of a fire after its decision."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from ports.records import (
    ClaimedFire,
    ClaimRequest,
    FinishRequest,
    FinishResult,
    LaneMessage,
)
from scheduling.keys import FireKey
from scheduling.vocabulary import FireState


class LedgerPort(ABC):
    """Claims, results and outcomes. Each call is one transaction; repeats change nothing."""

    @abstractmethod
    def mark_queued(self, messages: Iterable[LaneMessage], *, now_us: int) -> int:
        """`ready -> queued` for the messages just published; returns how many moved."""

    @abstractmethod
    def claim(self, requests: Sequence[ClaimRequest], *, now_us: int) -> list[ClaimedFire]:
        """Claim attempts before connecting: `ready|queued -> dispatching` and the attempt row.

        A message whose fire moved on, whose trigger is paused or deleted, or which is not due
        by this clock (it was set back), is left out: drop it; what still waits comes again.
        A pause forbids the schedule's fires alone, no manual run and no backfill.
        An on-time first attempt past its grace is judged by its missed policy here. Two
        claimers of one (fire, n) never both get it.
        """

    @abstractmethod
    def finish(self, requests: Sequence[FinishRequest]) -> list[FinishResult]:
        """Record results and move each fire on: an end, or held for another try.

        A late result still counts while the fire is not terminal. Repeats change nothing.
        An `untried` attempt is taken back: its row goes, its number comes again, and the fire is
        held for a little while as if it had never been claimed. Had the claim expired before, it
        stays a try that was not sent.
        """

    @abstractmethod
    def report_outcome(
        self,
        key: FireKey,
        outcome: FireState,
        *,
        now_us: int,
        reported_by: str,
        cause: str | None = None,
    ) -> FinishResult | None:
        """`succeeded` or `failed`, once; None when there is no such fire to report on.

        Not taken, and the fire's state comes back as it is: before the first attempt, after an
        end that an outcome does not change (`succeeded`, `failed`, `refused`, `not_dispatched`),
        and later than the version's `outcome_window_s` after the first attempt began.
        """
