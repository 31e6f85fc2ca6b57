"""The history port on SQLite: the ledger itself, read through the view `fire_history`.

Every page is a few index walks that read no more of the ledger than they return; except for a
filter that few rows meet (`accepted`, `succeeded`, a cause, a lane), which walks back until it has
found enough.
"""

import heapq
import json
import sqlite3
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, NamedTuple

from adapters.sqlite_database import SqliteDatabase
from adapters.sqlite_trigger_rows import trigger_record
from ports.history import HistoryPort
from ports.records import AttemptRecord, FireRecord, GapRecord, TriggerRecord
from scheduling.keys import FireKey
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, Origin

_INSTANT_US_MIN = -(2**63)
_INSTANT_US_MAX = 2**63 - 1
_UNDISPATCHED = frozenset({FireState.NOT_DISPATCHED})  # only these rows have a cause
# The states that have an index of their own.
_UNFINISHED = frozenset({FireState.HELD, FireState.READY, FireState.QUEUED, FireState.DISPATCHING})
_TROUBLED = frozenset(
    {
        FireState.FAILED,
        FireState.REFUSED,
        FireState.UNKNOWN,
        FireState.UNDELIVERED,
        FireState.NOT_DISPATCHED,
    }
)

_Row = tuple[Any, ...]


class SqliteHistory(HistoryPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._sql = database.sql

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
        if causes:
            states = _UNDISPATCHED.intersection(states or _UNDISPATCHED)
            if not states:
                return []
        wanted = _Wanted(
            tenant_id=tenant_id,
            trigger_id=trigger_id,
            states=frozenset(states),
            causes=frozenset(causes),
            lanes=frozenset(lanes),
            from_us=_INSTANT_US_MIN if from_us is None else from_us,
            end=_end(through_us, after),
            limit=limit,
        )
        with self._database.read() as connection:
            rows = list(islice(self._pages(connection, wanted), limit))
            if from_us is not None and len(rows) < limit:
                # They begin before every row found so far, so they continue the same order.
                rest = wanted._replace(limit=limit - len(rows))
                rows += islice(self._ranges_over(connection, rest), rest.limit)
        return [_fire(row) for row in rows]

    def changed_since(
        self, changed_us: int, *, after: FireKey | None = None, limit: int
    ) -> list[FireRecord]:
        last = after or FireKey("", "", 0)
        parameters = {"changed_us": changed_us, "row_limit": limit, **last._asdict()}
        return [_fire(row) for row in self._rows("history_changed_since", parameters)]

    def covering(self, tenant_id: str, trigger_id: str, *, instant_us: int) -> FireRecord | None:
        subject = {"tenant_id": tenant_id, "trigger_id": trigger_id, "instant_us": instant_us}
        for row in self._rows("history_newest_live_row", subject):
            record = _fire(row)
            last_us = record.key.scheduled_us if record.through_us is None else record.through_us
            if last_us >= instant_us:
                return record
        return None

    def fire(self, key: FireKey) -> FireRecord | None:
        for row in self._rows("history_fire", key._asdict()):
            return _fire(row)
        return None

    def attempts(self, key: FireKey) -> list[AttemptRecord]:
        return [
            AttemptRecord(
                n=row[0],
                dispatched_us=row[1],
                claimed_until_us=row[2],
                finished_us=row[3],
                transport_result=row[4],
                http_status=row[5],
                error=row[6],
            )
            for row in self._rows("history_attempts", key._asdict())
        ]

    def gaps(self, tenant_id: str | None = None) -> list[GapRecord]:
        return [
            GapRecord(
                tenant_id=row[0],
                trigger_id=row[1],
                version=row[2],
                after_us=row[3],
                through_us=row[4],
                detected_us=row[5],
                planned_through_us=row[6],
                instant_count=row[7],
                planned_count=row[8],
            )
            for row in self._rows("history_gaps", {"tenant_id": tenant_id})
        ]

    def backlog(
        self, tenant_id: str | None = None, *, trigger_id: str | None = None
    ) -> dict[str, int]:
        subject = {"tenant_id": tenant_id, "trigger_id": trigger_id}
        counts: dict[str, int] = {lane.value: 0 for lane in Lane}
        with self._database.read() as connection:
            counts |= self._waiting(connection, subject)
            unplanned = connection.execute(self._sql["history_gap_remainder"], subject).fetchone()
        counts[Lane.CATCH_UP.value] += unplanned[0]
        return counts

    def upcoming(
        self, tenant_id: str, *, through_us: int | None = None, limit: int
    ) -> list[TriggerRecord]:
        parameters = {
            "tenant_id": tenant_id,
            "through_us": _INSTANT_US_MAX if through_us is None else through_us,
            "row_limit": limit,
        }
        return [trigger_record(row) for row in self._rows("history_upcoming", parameters)]

    def oldest_undispatched_due_us(self) -> int | None:
        """The next due time still ahead when nothing waits: compare it with your own now."""
        ((due_us,),) = self._rows("history_oldest_undispatched_due", {})
        return None if due_us is None else int(due_us)

    def decided_ahead(self, now_us: int) -> tuple[int, int] | None:
        with self._database.read() as connection:
            count, latest_us = connection.execute(
                self._database.sql["history_decided_ahead"], (now_us,)
            ).fetchone()
        return None if latest_us is None else (count, latest_us)

    def _rows(self, statement: str, parameters: dict[str, Any]) -> list[_Row]:
        with self._database.read() as connection:
            return connection.execute(self._sql[statement], parameters).fetchall()

    def _waiting(
        self, connection: sqlite3.Connection, subject: dict[str, str | None]
    ) -> dict[str, int]:
        """Waiting fires per lane, where there are any; a trigger's id has one tenant."""
        if subject["trigger_id"] is None:
            return dict(connection.execute(self._sql["history_backlog"], subject).fetchall())
        if subject["tenant_id"] is None:
            found = connection.execute(self._sql["history_tenant_of_trigger"], subject).fetchone()
            subject = subject | {"tenant_id": found and found[0]}
        statement = self._sql["history_backlog_of_trigger"]
        return dict(connection.execute(statement, subject).fetchall())

    def _pages(self, connection: sqlite3.Connection, wanted: "_Wanted") -> Iterator[_Row]:
        """The rows that begin within the window, newest first."""
        if wanted.trigger_id is None and wanted.states and wanted.states <= _UNFINISHED:
            statement = self._sql["history_fires_waiting"]
            return connection.execute(statement, wanted.parameters(wanted.end))
        if wanted.trigger_id is not None:
            return self._walk(connection, "history_fires_of_trigger", wanted)
        if wanted.states and wanted.states <= _TROUBLED:
            return self._walk(connection, "history_fires_troubled", wanted)
        return self._walk(connection, "history_fires", wanted)

    def _ranges_over(self, connection: sqlite3.Connection, wanted: "_Wanted") -> Iterator[_Row]:
        """The range rows that begin before the window and reach into it, newest first."""
        if wanted.trigger_id is not None:
            return self._walk(connection, "history_ranges_over_of_trigger", wanted)
        return self._walk(connection, "history_ranges_over", wanted)

    def _walk(
        self, connection: sqlite3.Connection, statement: str, wanted: "_Wanted"
    ) -> Iterator[_Row]:
        """One walk a tenant, merged: each stays on its index."""
        walks = [
            connection.execute(self._sql[statement], wanted.of_tenant(tenant_id))
            for tenant_id in self._tenants(connection, wanted)
        ]
        return heapq.merge(*walks, key=_newest, reverse=True)

    def _tenants(self, connection: sqlite3.Connection, wanted: "_Wanted") -> list[str]:
        if wanted.tenant_id is not None:
            return [wanted.tenant_id]
        if wanted.trigger_id is None:
            rows = connection.execute(self._sql["history_tenants"])
        else:
            statement = self._sql["history_tenant_of_trigger"]
            rows = connection.execute(statement, {"trigger_id": wanted.trigger_id})
        return [row[0] for row in rows]


class _End(NamedTuple):
    """Pages are in this order, backwards; every row stands before the end."""

    before_us: int
    before_tenant_id: str
    before_trigger_id: str
    before_sequence: int


class _Wanted(NamedTuple):
    """One request for a page of fires."""

    tenant_id: str | None
    trigger_id: str | None
    states: frozenset[FireState]
    causes: frozenset[Cause]
    lanes: frozenset[Lane]
    from_us: int
    end: _End
    limit: int

    def parameters(self, end: _End) -> dict[str, object]:
        return {
            "tenant_id": self.tenant_id,
            "trigger_id": self.trigger_id,
            "states": _any_of(self.states),
            "causes": _any_of(self.causes),
            "lanes": _any_of(self.lanes),
            "from_us": self.from_us,
            "row_limit": self.limit,
            **end._asdict(),
        }

    def of_tenant(self, tenant_id: str) -> dict[str, object]:
        """The end as one tenant's rows see it, so that the index can seek to it."""
        end = self.end
        if tenant_id < end.before_tenant_id:
            end = _End(end.before_us + 1, "", "", 0)
        elif tenant_id > end.before_tenant_id:
            end = _End(end.before_us, "", "", 0)
        return self.parameters(end) | {"tenant_id": tenant_id}


def _any_of(words: Collection[str]) -> str | None:
    """A filter's words as the statements take them; None lets everything through."""
    return json.dumps(sorted(words)) if words else None


def _end(through_us: int | None, after: FireKey | None) -> _End:
    """Just behind `through`, or the last row of the page before."""
    end = _End(_INSTANT_US_MAX if through_us is None else through_us + 1, "", "", 0)
    if after is None:
        return end
    return min(end, _End(after.scheduled_us, after.tenant_id, after.trigger_id, after.sequence))


def _newest(row: _Row) -> tuple[int, str, str, int]:
    return row[2], row[0], row[1], row[3]


def _fire(row: tuple[Any, ...]) -> FireRecord:
    """A row of `fire_history`."""
    return FireRecord(
        key=FireKey._make(row[:4]),
        trigger_name=row[4],
        version=row[5],
        origin=Origin(row[6]),
        lane=Lane(row[7]),
        state=FireState(row[8]),
        cause=None if row[9] is None else Cause(row[9]),
        cause_detail=row[10],
        held_reason=None if row[11] is None else HeldReason(row[11]),
        not_before_us=row[12],
        due_us=row[13],
        decided_us=row[14],
        committed_us=row[15],
        queued_us=row[16],
        first_dispatched_us=row[17],
        next_attempt_n=row[18],
        coalesced_into_us=row[19],
        through_us=row[20],
        instant_count=row[21],
        tzdata_version=row[22],
        changed_us=row[23],
        attempts=row[24],
        outcome_cause=row[25],
    )
