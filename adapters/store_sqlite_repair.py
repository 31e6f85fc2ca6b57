"""Repair on SQLite: the sweep, the releaser and the gap planner."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from adapters import sqlite_sweep
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import count_decided, fire_values
from adapters.sqlite_rebuild import give_back
from adapters.sqlite_slots import holds_slot, read_slot, take_slot
from adapters.sqlite_stop import stop_gaps
from ports.errors import PortError
from ports.records import LaneMessage
from ports.repair import RepairPort
from scheduling.gaps import plan_gap
from scheduling.keys import FireKey
from scheduling.limits import GAP_SLICE_ROWS_MAX, RATE_WINDOW_US
from scheduling.release import allowance, bucket_of, round_robin, window_cap
from scheduling.vocabulary import Cause, Lane, OverlapPolicy, TriggerState

GAPS_A_CALL: Final = 2

_Held = tuple[FireKey, int, int, int]  # key, next attempt, partition, version
_Repair = Callable[..., list[LaneMessage]]
_REPAIRS: Final[tuple[tuple[str, _Repair], ...]] = (
    ("expired_claims", sqlite_sweep.expired_claims),
    ("held_come", sqlite_sweep.held_come),
    ("ended_runs", sqlite_sweep.ended_runs),
    ("buffered_without_slot", sqlite_sweep.buffered_without_slot),
)


class SqliteRepair(RepairPort):
    """See the port. Looks with a read snapshot first, so that an idle call writes nothing."""

    def __init__(self, context: SqliteContext) -> None:
        self._context = context
        self._sql = context.sql
        self._turn: dict[str, str] = {}  # tenant -> the trigger that was last in the turn

    def sweep(self, owner_id: str, *, now_us: int) -> list[LaneMessage]:
        database = self._context.database
        with database.read() as connection:
            again = sqlite_sweep.unclaimed(connection, self._context, owner_id, now_us=now_us)
            wanted = [
                repair
                for name, repair in _REPAIRS
                if self._finds(connection, f"repair_{name}", owner_id, now_us=now_us)
            ]
            stopped = connection.execute(
                self._sql["repair_stopped_waiting"], (owner_id, 1)
            ).fetchone()
        messages: list[LaneMessage] = []
        if wanted or stopped is not None:
            with database.write() as connection:
                if stopped is not None:
                    sqlite_sweep.stopped_waiting(connection, self._context, owner_id, now_us=now_us)
                for repair in wanted:
                    messages += repair(connection, self._context, owner_id, now_us=now_us)
        return _in_order(messages + again)

    def ready(self, owner_id: str, *, acquired: tuple[int, ...]) -> list[LaneMessage]:
        messages: list[LaneMessage] = []
        with self._context.database.read() as connection:
            for partition_id in acquired:
                rows = connection.execute(self._sql["repair_ready_of_partition"], (partition_id,))
                messages += (LaneMessage(FireKey(*row[:4]), Lane(row[4]), row[5]) for row in rows)
        return messages

    def release(self, *, now_us: int) -> list[LaneMessage]:
        with self._context.database.read() as connection:
            tenants = connection.execute(self._sql["repair_releasable_tenants"]).fetchall()
        messages: list[LaneMessage] = []
        for (tenant_id,) in tenants:
            with self._context.database.write() as connection:
                messages += self._release_tenant(connection, tenant_id, now_us)
        return messages

    def plan_gaps(self, owner_id: str, *, now_us: int) -> int:
        with self._context.database.read() as connection:
            gaps = connection.execute(self._sql["repair_gaps"], (owner_id, 1)).fetchall()
        if not gaps:
            return 0
        planned = 0
        with self._context.database.write() as connection:
            gaps = connection.execute(self._sql["repair_gaps"], (owner_id, GAPS_A_CALL)).fetchall()
            for gap in gaps:
                planned += self._plan(connection, gap, now_us)
        return planned

    def next_wake_us(self, owner_id: str) -> int | None:
        with self._context.database.read() as connection:
            found = [
                connection.execute(self._sql[name], (owner_id,)).fetchone()[0]
                for name in ("repair_next_held", "repair_next_run_end")
            ]
        return min((us for us in found if us is not None), default=None)

    def _finds(
        self, connection: sqlite3.Connection, name: str, owner_id: str, *, now_us: int
    ) -> bool:
        parameters: tuple[object, ...] = (now_us, owner_id, 1)
        if name == "repair_buffered_without_slot":
            parameters = (owner_id, 1)
        return connection.execute(self._sql[name], parameters).fetchone() is not None

    def _release_tenant(
        self, connection: sqlite3.Connection, tenant_id: str, now_us: int
    ) -> list[LaneMessage]:
        tenant = connection.execute(self._sql["registry_tenant"], (tenant_id,)).fetchone()
        since_us = bucket_of(now_us) - RATE_WINDOW_US
        released = dict(
            connection.execute(self._sql["repair_released"], (tenant_id, since_us)).fetchall()
        )
        allowed = allowance(released, now_us=now_us, cap=window_cap(tenant[2], tenant[4]))
        if allowed == 0:
            return []
        waiting = self._waiting(connection, tenant_id, allowed=allowed, now_us=now_us)
        messages: list[LaneMessage] = []
        stuck: set[str] = set()  # what cannot go now must not be overtaken
        for key, n, partition_id, version in round_robin(waiting, allowed=allowed):
            if key.trigger_id in stuck or not self._takes_slot(
                connection, key, version=version, partition_id=partition_id, now_us=now_us
            ):
                stuck.add(key.trigger_id)
                continue
            connection.execute(self._sql["fire_make_ready"], (None, now_us, *key))
            messages.append(LaneMessage(key, Lane.CATCH_UP, n))
        if messages:
            self._turn[tenant_id] = messages[-1].key.trigger_id
            connection.execute(
                self._sql["repair_count_release"],
                (tenant_id, bucket_of(now_us), len(messages)),
            )
            connection.execute(self._sql["repair_forget_windows"], (tenant_id, since_us))
        return messages

    def _waiting(
        self, connection: sqlite3.Connection, tenant_id: str, *, allowed: int, now_us: int
    ) -> dict[str, list[_Held]]:
        """Up to `allowed` triggers with what each could release, from whose turn it is."""
        waiting: dict[str, list[_Held]] = {}
        start = trigger_id = self._turn.get(tenant_id, "")
        wrapped = False
        while len(waiting) < allowed:
            (found,) = connection.execute(
                self._sql["repair_next_releasable_trigger"], (tenant_id, trigger_id)
            ).fetchone()
            if found is None:
                if wrapped or not start:
                    break
                wrapped, trigger_id = True, ""
                continue
            if wrapped and found > start:
                break
            trigger_id = found
            fires = self._releasable(
                connection, tenant_id, trigger_id, limit=allowed, now_us=now_us
            )
            if fires and self._may_go(connection, fires[0], now_us=now_us):
                waiting[trigger_id] = fires
        return waiting

    def _releasable(
        self,
        connection: sqlite3.Connection,
        tenant_id: str,
        trigger_id: str,
        *,
        limit: int,
        now_us: int,
    ) -> list[_Held]:
        # Held fires are past their due time, unless the clock was set back since.
        rows = connection.execute(
            self._sql["repair_releasable_fires"], (tenant_id, trigger_id, now_us, limit)
        )
        return [
            (FireKey(tenant_id, trigger_id, instant_us, sequence), n, partition_id, version)
            for instant_us, sequence, n, partition_id, version, state in rows
            if state != TriggerState.DELETED and (state != TriggerState.PAUSED or sequence != 0)
        ]

    def _overlap_policy(
        self, connection: sqlite3.Connection, key: FireKey, version: int
    ) -> OverlapPolicy:
        facts = self._context.versions.facts(connection, (key.tenant_id, key.trigger_id, version))
        return facts.overlap_policy

    def _may_go(self, connection: sqlite3.Connection, fire: _Held, *, now_us: int) -> bool:
        """Whether a trigger's oldest held fire may: not past one whose publication is unsure."""
        key, _, partition_id, version = fire
        trigger_key = (key.tenant_id, key.trigger_id)
        if connection.execute(
            self._sql["repair_unpublished_catch_up"], (partition_id, *trigger_key)
        ).fetchone():
            return False
        if self._overlap_policy(connection, key, version) is OverlapPolicy.ALLOW:
            return True
        slot = read_slot(connection, self._sql, trigger_key, now_us=now_us)
        return holds_slot(connection, self._sql, key) or not (slot.taken or slot.buffered)

    def _takes_slot(
        self,
        connection: sqlite3.Connection,
        key: FireKey,
        *,
        version: int,
        partition_id: int,
        now_us: int,
    ) -> bool:
        if self._overlap_policy(connection, key, version) is OverlapPolicy.ALLOW:
            return True
        # A fire that comes back for another try still has it.
        return holds_slot(connection, self._sql, key) or take_slot(
            connection, self._sql, key, partition_id=partition_id, now_us=now_us
        )

    def _plan(self, connection: sqlite3.Connection, gap: tuple[Any, ...], now_us: int) -> int:
        """One slice of one gap. A rule that no longer evaluates ends the gap with a row."""
        tenant_id, trigger_id, after_us, through_us, partition_id, version = gap[:6]
        planned_us, instant_count, planned_count, detected_us = gap[6:]
        key = (tenant_id, trigger_id)
        try:
            rules = self._context.versions.rules(connection, (*key, version))
            plan = plan_gap(
                rules,
                planned_us,
                through_us=through_us,
                limit=GAP_SLICE_ROWS_MAX,
                detected_us=detected_us,
            )
        except (sqlite3.Error, PortError, MemoryError):
            raise
        except Exception:
            stopped = stop_gaps(
                connection,
                self._context,
                key,
                partition_id=partition_id,
                cause=Cause.QUARANTINED,
                now_us=now_us,
            )
            give_back(connection, self._context, key, count=stopped)
            return 0
        facts = self._context.versions.facts(connection, (*key, version))
        values = fire_values(
            self._context,
            plan.rows,
            key=key,
            partition_id=partition_id,
            payload_ref=facts.payload_ref,
            now_us=now_us,
        )
        count_decided(values)
        # The primary key leaves out what the ledger holds already.
        written = connection.executemany(self._sql["commit_insert_fire"], values).rowcount
        if plan.done:
            # Under newer zone data a frozen range may hold another number of instants.
            surplus = instant_count - planned_count - written
            connection.execute(self._sql["gap_delete"], (*key, after_us))
            give_back(connection, self._context, key, count=surplus)
        else:
            connection.execute(
                self._sql["repair_move_gap"],
                (plan.planned_through_us, written, *key, after_us),
            )
        return written


def _in_order(messages: list[LaneMessage]) -> list[LaneMessage]:
    """Each message once, oldest instant first, so that order per trigger holds."""
    return sorted(dict.fromkeys(messages), key=lambda message: message.key.scheduled_us)
