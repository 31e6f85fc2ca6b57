"""What the benches share: a store with triggers in it, plain keys and a clock that is told."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from adapters.store_sqlite import open_sqlite_store
from ports.changes import PutTarget, PutTenant, PutTrigger
from ports.due_index import DueIndexPort
from ports.leases import LeasePort
from ports.payload_keys import PayloadKeysPort
from ports.records import TargetRecord, TenantRecord, TriggerDefinition
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading
from scheduling.instants import SECOND_US, from_text
from scheduling.limits import (
    ATTEMPT_BUDGET_DEFAULT,
    COMMIT_ROWS_MAX,
    HORIZON_S_DEFAULT,
    OUTCOME_WINDOW_S_DEFAULT,
    RETRY_WINDOW_S_DEFAULT,
    RUN_TIMEOUT_S_DEFAULT,
)
from scheduling.vocabulary import OwnershipState

START_US: Final = from_text("2026-03-02T10:00:00Z")
TENANT: Final = "acme"
TARGET: Final = "hook"
EPSILON_US: Final = 5_000


class Round(NamedTuple):
    """One wake that decided: fires, seconds and transactions."""

    fires: int
    elapsed_s: float
    transactions: int

    @property
    def fires_per_s(self) -> float:
        return self.fires / self.elapsed_s


class SetClock(TimeAuthorityPort):
    """A clock that moves only when told."""

    def __init__(self, wall_us: int) -> None:
        self._wall_us = wall_us

    def now(self) -> ClockReading:
        return ClockReading(self._wall_us, self._wall_us, EPSILON_US)

    def set_to(self, wall_us: int) -> None:
        self._wall_us = wall_us


class NoKeys(PayloadKeysPort):
    """For triggers without payloads: nothing is sealed."""

    def seal(self, tenant_id: str, plain: bytes, *, context: str) -> bytes:
        return plain

    def open(self, tenant_id: str, sealed: bytes, *, context: str) -> bytes:
        return sealed

    def delete(self, tenant_id: str) -> bool:
        return True


def store_with(
    path: Path, triggers: Iterable[PutTrigger], *, now_us: int, synchronous: str = "FULL"
) -> Store:
    """A new store file that holds one tenant, one target and the triggers."""
    store = open_sqlite_store(path, payload_keys=NoKeys(), now_us=now_us, synchronous=synchronous)
    tenant = TenantRecord(
        tenant_id=TENANT,
        quota_triggers=1_000_000,
        quota_dispatch_per_s=10_000,
        quota_inflight=1_000_000,
        catchup_rate_pct=10,
        smear_s=0,
    )
    target = TargetRecord(
        tenant_id=TENANT, target_id=TARGET, endpoint="http://127.0.0.1:9/", timeout_s=5.0
    )
    store.registry.apply(
        [
            PutTenant(tenant=tenant),
            PutTarget(target=target, ownership=OwnershipState.LOCAL),
            *triggers,
        ],
        now_us=now_us,
        actor="bench",
    )
    return store


def triggers_named(prefix: str, schedule: str, *, amount: int) -> list[PutTrigger]:
    """So many triggers of one schedule in UTC, with the defaults: overlap `allow`, no smear."""
    definition = TriggerDefinition(
        recurrence=(schedule,),
        zone="UTC",
        target_id=TARGET,
        catchup_horizon_s=HORIZON_S_DEFAULT,
        horizon_source="default",
        attempt_budget=ATTEMPT_BUDGET_DEFAULT,
        retry_window_s=RETRY_WINDOW_S_DEFAULT,
        run_timeout_s=RUN_TIMEOUT_S_DEFAULT,
        outcome_window_s=OUTCOME_WINDOW_S_DEFAULT,
    )
    return [
        PutTrigger(tenant_id=TENANT, name=f"{prefix}{number}", definition=definition)
        for number in range(amount)
    ]


def hold_all(leases: LeasePort, *, now_us: int) -> dict[int, int]:
    """Every partition with its epoch, held by one owner."""
    beat = leases.heartbeat("bench", now_us=now_us, ttl_us=6 * SECOND_US, epsilon_us=EPSILON_US)
    return dict(beat.held)


def decide_all(due_index: DueIndexPort, held: dict[int, int], *, now_us: int) -> Round:
    """What one wake of the decider commits, without publishing it."""
    fires = transactions = 0
    started = time.perf_counter()
    for partition_id in due_index.next_due(held):
        more = True
        while more:
            result = due_index.commit_due(
                partition_id, held[partition_id], now_us=now_us, row_limit=COMMIT_ROWS_MAX
            )
            fires += len(result.ready)
            transactions += 1
            more = result.more
    return Round(fires, time.perf_counter() - started, transactions)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
