"""A scheduler cranked by hand: a store, a clock that stands still, and short words for the ports.

It keeps no state of its own beside the clock, the leases and the ids of what it made.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ports.changes import (
    CancelFire,
    Change,
    ChangeResult,
    DeleteTrigger,
    PauseTrigger,
    PutTenant,
    PutTrigger,
    ResumeTrigger,
    RunTrigger,
)
from ports.records import (
    ClaimedFire,
    ClaimRequest,
    CommitResult,
    FinishRequest,
    FinishResult,
    FireRecord,
    LaneMessage,
    TriggerRecord,
)
from ports.store import Store
from scheduling.decision import DecidedRow
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey, partition_of
from scheduling.limits import COMMIT_ROWS_MAX
from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, ResumeRule, TransportResult
from tests.support.brief import brief_row
from tests.support.store_builders import START_US, TENANT, a_definition, a_tenant, at, put_target

OWNER = "crank"
ACTOR = "alice"
OK = AttemptResult(TransportResult.RESPONSE, 200)
BUSY = AttemptResult(TransportResult.RESPONSE, 503)
LOST = AttemptResult(TransportResult.AMBIGUOUS, error="timed out")
REFUSED = AttemptResult(TransportResult.RESPONSE, 404)


@dataclass(slots=True)
class HandCrank:
    """Times are given in seconds since the start of the suites' time, 2026-03-02."""

    store: Store
    now_us: int = START_US
    ids: dict[str, str] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)

    def begin(self, **tenant_changes: Any) -> "HandCrank":
        """A tenant with a target, and the leases of all partitions."""
        self.apply(PutTenant(tenant=a_tenant(**tenant_changes)), put_target())
        beat = self.store.leases.heartbeat(
            OWNER, now_us=self.now_us, ttl_us=60 * SECOND_US, epsilon_us=0
        )
        self.epochs = beat.held
        return self

    def to(self, seconds: float) -> None:
        """Set the clock, forward or back."""
        self.now_us = at(seconds)

    def apply(self, *changes: Change, dry_run: bool = False) -> list[ChangeResult]:
        results = self.store.registry.apply(
            changes, now_us=self.now_us, actor=ACTOR, dry_run=dry_run
        )
        for result in results:
            if result.trigger_id is not None:
                self.ids[result.subject] = result.trigger_id
        return results

    def put(self, name: str = "job", *, reset: bool = False, **changes: Any) -> ChangeResult:
        """Create, or edit."""
        definition = a_definition(**changes)
        return self.apply(
            PutTrigger(tenant_id=TENANT, name=name, definition=definition, reset_fired_count=reset)
        )[0]

    def pause(self, name: str = "job", *, note: str | None = None) -> ChangeResult:
        return self.apply(PauseTrigger(tenant_id=TENANT, name=name, note=note))[0]

    def resume(
        self,
        name: str = "job",
        *,
        rule: ResumeRule = ResumeRule.DROP,
        note: str | None = None,
    ) -> ChangeResult:
        return self.apply(ResumeTrigger(tenant_id=TENANT, name=name, rule=rule, note=note))[0]

    def delete(self, name: str = "job", *, note: str | None = None) -> ChangeResult:
        return self.apply(DeleteTrigger(tenant_id=TENANT, name=name, note=note))[0]

    def run(self, name: str = "job", **facts: Any) -> FireKey:
        """A manual run; the key of its fire."""
        (result,) = self.apply(RunTrigger(tenant_id=TENANT, name=name, **facts))
        assert result.fire_key is not None
        return result.fire_key

    def cancel(self, key: FireKey, *, note: str | None = None) -> ChangeResult:
        return self.apply(CancelFire(key=key, note=note))[0]

    def trigger(self, name: str = "job") -> TriggerRecord:
        (record,) = self.store.registry.find_triggers(name, tenant_id=TENANT)
        return record

    def key(self, seconds: float, name: str = "job") -> FireKey:
        """The key of the fire at that instant."""
        return FireKey(TENANT, self.ids[name], at(seconds))

    def commit(self, name: str = "job", *, row_limit: int = COMMIT_ROWS_MAX) -> CommitResult:
        """Decide what is due in the trigger's partition."""
        partition_id = partition_of(self.ids[name])
        return self.store.due_index.commit_due(
            partition_id, self.epochs[partition_id], now_us=self.now_us, row_limit=row_limit
        )

    def commit_at(self, *seconds: float, name: str = "job") -> list[LaneMessage]:
        """Decide at each of these times; what became ready."""
        ready: list[LaneMessage] = []
        for each in seconds:
            self.to(each)
            ready += self.commit(name).ready
        return ready

    def sweep(self) -> list[LaneMessage]:
        return self.store.repair.sweep(OWNER, now_us=self.now_us)

    def release(self) -> list[LaneMessage]:
        return self.store.repair.release(now_us=self.now_us)

    def publish(self, messages: Sequence[LaneMessage]) -> Sequence[LaneMessage]:
        """What an owner does with them: on a lane, then marked."""
        self.store.ledger.mark_queued(messages, now_us=self.now_us)
        return messages

    def plan_gaps(self) -> int:
        return self.store.repair.plan_gaps(OWNER, now_us=self.now_us)

    def claim(self, messages: Iterable[LaneMessage]) -> list[ClaimedFire]:
        requests = [ClaimRequest(message.key, message.n) for message in messages]
        return self.store.ledger.claim(requests, now_us=self.now_us)

    def finish(self, key: FireKey, n: int = 1, *, result: AttemptResult = OK) -> FinishResult:
        """One attempt's result, now."""
        (finished,) = self.store.ledger.finish([FinishRequest(key, n, result, self.now_us)])
        return finished

    def attempt(
        self, messages: Iterable[LaneMessage], *, result: AttemptResult = OK
    ) -> list[FinishResult]:
        """Claim and finish in one go."""
        claimed = self.claim(messages)
        return [self.finish(fire.key, fire.n, result=result) for fire in claimed]

    def report(self, key: FireKey, outcome: FireState) -> FinishResult | None:
        return self.store.ledger.report_outcome(
            key, outcome, now_us=self.now_us, reported_by="worker"
        )

    def fires(self, name: str = "job") -> list[FireRecord]:
        """All rows of the name's trigger, oldest instant first."""
        found: list[FireRecord] = []
        while True:
            after = found[-1].key if found else None
            page = self.store.history.fires(
                tenant_id=TENANT, trigger_id=self.ids[name], after=after, limit=1_000
            )
            found += page
            if len(page) < 1_000:
                return found[::-1]

    def row(self, key: FireKey) -> FireRecord:
        """The row of that very key."""
        record = self.store.history.fire(key)
        assert record is not None
        return record

    def fire(self, seconds: float, name: str = "job") -> FireRecord:
        """The row that covers an instant."""
        record = self.store.history.covering(TENANT, self.ids[name], instant_us=at(seconds))
        assert record is not None
        return record

    def lines(self, name: str = "job") -> list[str]:
        """The rows in short: instants in seconds, then the fate."""
        return [brief_fire(record) for record in self.fires(name)]


def brief_fire(record: FireRecord) -> str:
    """A ledger row as the rules' tests write theirs."""
    into_us, through_us = record.coalesced_into_us, record.through_us
    row = DecidedRow(
        record.key.scheduled_us - START_US,
        record.due_us - START_US,
        record.version,
        record.state,
        record.lane,
        cause=record.cause,
        held_reason=record.held_reason,
        coalesced_into_us=None if into_us is None else into_us - START_US,
        through_us=None if through_us is None else through_us - START_US,
        instant_count=record.instant_count,
    )
    return brief_row(row)
