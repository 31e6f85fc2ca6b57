"""The due index on SQLite: the one transaction that decides."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import (
    DueRow,
    fire_values,
    gap_values,
    insert_all,
    ready_messages,
    resolve_in_store,
    view_of,
    write_side_effects,
)
from adapters.sqlite_rebuild import adopt_tzdata, healed, rebuild_due_index
from adapters.sqlite_sweep import kept_come
from ports import metrics
from ports.due_index import DueIndexPort
from ports.errors import PortError, StoreConflict
from ports.records import AuditRecord, CommitResult, LaneMessage, Quarantined
from scheduling.decide import decide
from scheduling.decision import Decision
from scheduling.draft import TriggerView
from scheduling.limits import TRIGGER_ROWS_MAX

_QUARANTINE_ROWS: Final = 5  # trigger, span, due row, event, audit entry


@dataclass(slots=True)
class _Batch:
    """What one transaction writes; new rows are collected to be inserted at once."""

    fires: list[tuple[object, ...]] = field(default_factory=list)
    gaps: list[tuple[object, ...]] = field(default_factory=list)
    moves: list[tuple[object, ...]] = field(default_factory=list)
    ready: list[LaneMessage] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    triggers: int = 0
    kept: int = 0

    @property
    def rows(self) -> int:
        written = self.kept + _QUARANTINE_ROWS * len(self.quarantined)
        return len(self.fires) + len(self.gaps) + written

    def is_full_for(self, rows: int, row_limit: int) -> bool:
        """Whether so many more are too many: what comes first always fits."""
        return (self.rows > 0 or self.triggers > 0) and self.rows + rows > row_limit


class _Duplicate(Exception):
    """The primary key caught a second decision: redo from where the ledger stands."""


class SqliteDueIndex(DueIndexPort):
    """See the port; one transaction of the writer connection a call."""

    def __init__(self, context: SqliteContext) -> None:
        self._context = context
        self._sql = context.sql

    def commit_due(
        self, partition_id: int, epoch: int, *, now_us: int, row_limit: int
    ) -> CommitResult:
        try:
            return self._commit(partition_id, epoch, now_us, row_limit, careful=False)
        except _Duplicate:
            metrics.count("punctual_duplicate_keys_total")
        try:
            return self._commit(partition_id, epoch, now_us, row_limit, careful=True)
        except _Duplicate as error:
            raise StoreConflict(f"partition {partition_id}: decided twice, unhealed") from error

    def commit_due_many(
        self, leases: Mapping[int, int], *, now_us: int, row_limit: int
    ) -> dict[int, CommitResult]:
        results: dict[int, CommitResult] = {}
        rows = 0
        try:
            with self._context.database.write() as connection:
                for partition_id, epoch in leases.items():
                    if rows and rows + TRIGGER_ROWS_MAX > row_limit:
                        break
                    result = self._commit_in(
                        connection,
                        partition_id,
                        epoch,
                        now_us=now_us,
                        row_limit=row_limit - rows,
                    )
                    results[partition_id] = result
                    rows += result.rows
        except _Duplicate:
            metrics.count("punctual_duplicate_keys_total")
            # Rare: partition by partition, so that only the one with the stale row is healed.
            return super().commit_due_many(leases, now_us=now_us, row_limit=row_limit)
        return results

    def next_due(self, partition_ids: Iterable[int]) -> dict[int, int]:
        statement = self._sql["commit_next_due_of_partition"]
        with self._context.database.read() as connection:
            found = (
                (partition_id, connection.execute(statement, (partition_id,)).fetchone()[0])
                for partition_id in partition_ids
            )
            return {partition_id: due_us for partition_id, due_us in found if due_us is not None}

    def rebuild(self, *, now_us: int) -> int:
        with self._context.database.write() as connection:
            self._context.check_pin(connection)
            return rebuild_due_index(connection, self._context)

    def pinned_tzdata(self) -> str:
        with self._context.database.read() as connection:
            return str(connection.execute(self._sql["commit_pin"]).fetchone()[0])

    def adopt_tzdata(self, *, now_us: int, actor: str) -> tuple[int, int]:
        with self._context.database.write() as connection:
            return adopt_tzdata(connection, self._context, now_us=now_us, actor=actor)

    def _commit(
        self, partition_id: int, epoch: int, now_us: int, row_limit: int, *, careful: bool
    ) -> CommitResult:
        with self._context.database.write() as connection:
            return self._commit_in(
                connection,
                partition_id,
                epoch,
                now_us=now_us,
                row_limit=row_limit,
                careful=careful,
            )

    def _commit_in(
        self,
        connection: sqlite3.Connection,
        partition_id: int,
        epoch: int,
        *,
        now_us: int,
        row_limit: int,
        careful: bool = False,
    ) -> CommitResult:
        """One partition, inside the caller's transaction; _Duplicate asks for it to be undone."""
        found = connection.execute(self._sql["commit_epoch"], (partition_id,)).fetchone()
        if found is None or found[0] != epoch:
            return CommitResult(fenced=True)
        self._context.check_pin(connection)
        batch = _Batch()
        batch.kept, batch.ready = kept_come(
            connection, self._context, partition_id, now_us=now_us, limit=row_limit
        )
        # With no room left none is read: kept fires may remain, and newer instants come after them.
        room = row_limit - batch.kept
        due = connection.execute(
            self._sql["commit_due_rows"], (partition_id, now_us, room)
        ).fetchall()
        more = len(due) == room
        for values in due:
            row = DueRow(*values)
            if not self._decide_one(
                connection,
                batch,
                healed(connection, self._context, row) if careful else row,
                partition_id=partition_id,
                now_us=now_us,
                row_limit=row_limit,
            ):
                more = True
                break
        if not insert_all(connection, self._sql, batch.fires, batch.gaps):
            raise _Duplicate
        if batch.moves:
            connection.executemany(self._sql["commit_move_due_row"], batch.moves)
        return CommitResult(
            ready=tuple(batch.ready),
            rows=batch.rows,
            triggers=batch.triggers,
            more=more,
            quarantined=tuple(batch.quarantined),
        )

    def _decide_one(
        self,
        connection: sqlite3.Connection,
        batch: _Batch,
        row: DueRow,
        *,
        partition_id: int,
        now_us: int,
        row_limit: int,
    ) -> bool:
        """False when the trigger's rows do not fit any more: a trigger is never split."""
        try:
            view = view_of(connection, self._context, row, is_due=True)
            decision = decide(view, now_us)
            added = len(decision.rows) + len(decision.gaps)
            if batch.is_full_for(added, row_limit):
                return False
            decision, started = resolve_in_store(
                connection, self._context, decision, view=view, key=row.key, now_us=now_us
            )
        except (sqlite3.Error, PortError, MemoryError):
            raise
        except Exception as error:
            if batch.is_full_for(_QUARANTINE_ROWS, row_limit):
                return False
            self._quarantine(connection, batch, row, error=error, now_us=now_us)
            return True
        batch.ready += started
        self._collect(
            connection,
            batch,
            decision,
            view=view,
            row=row,
            partition_id=partition_id,
            now_us=now_us,
        )
        return True

    def _collect(
        self,
        connection: sqlite3.Connection,
        batch: _Batch,
        decision: Decision,
        *,
        view: TriggerView,
        row: DueRow,
        partition_id: int,
        now_us: int,
    ) -> None:
        key = row.key
        batch.triggers += 1
        if decision.rows:
            for version in {fire.version for fire in decision.rows}:
                facts = self._context.versions.facts(connection, (*key, version))
                batch.fires += fire_values(
                    self._context,
                    [fire for fire in decision.rows if fire.version == version],
                    key=key,
                    partition_id=partition_id,
                    payload_ref=facts.payload_ref,
                    now_us=now_us,
                )
            batch.ready += ready_messages(decision, key)
        if decision.gaps:
            batch.gaps += gap_values(decision, key=key, partition_id=partition_id)
        batch.moves.append(
            (
                decision.cursor_us,
                decision.next_due_us,
                decision.pending_us,
                decision.fired_delta,
                *key,
            )
        )
        write_side_effects(
            connection,
            self._context,
            decision,
            view=view,
            key=key,
            partition_id=partition_id,
            now_us=now_us,
        )

    def _quarantine(
        self,
        connection: sqlite3.Connection,
        batch: _Batch,
        row: DueRow,
        *,
        error: Exception,
        now_us: int,
    ) -> None:
        """Take one trigger out of the schedule, with the error shown on it."""
        text = f"{type(error).__name__}: {error}"[:500]
        revision, name = connection.execute(
            self._sql["commit_quarantine_trigger"], (text, *row.key)
        ).fetchone()
        from_us = max(row.decided_through_us, row.span_from_us)
        connection.execute(
            self._sql["commit_insert_span"],
            (*row.key, revision, from_us, "quarantined", row.version, None, text, "decider"),
        )
        connection.execute(self._sql["commit_quarantine_due_row"], (revision, from_us, *row.key))
        connection.execute(
            self._sql["commit_insert_outbox"],
            (
                *row.key,
                "TriggerChanged",
                json.dumps(
                    {"name": name, "revision": revision, "kind": "quarantined", "from_us": from_us}
                ),
                now_us,
            ),
        )
        insert_audit(
            connection,
            self._sql,
            AuditRecord(
                now_us, "decider", "quarantine", row.tenant_id, name, prior_value="live", note=text
            ),
        )
        batch.quarantined.append(Quarantined(row.tenant_id, row.trigger_id, text))
        batch.triggers += 1
