"""Where the time of one committed fire goes: reading, deciding, writing, waiting for the disk.

The store's own code runs; only its database is one that times each statement of the writer.
"""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_database import BUSY_TIMEOUT_S, SqliteDatabase
from adapters.sqlite_versions import Versions
from adapters.store_sqlite_commit import SqliteDueIndex
from adapters.store_sqlite_leases import SqliteLeases
from bench.support import NoKeys, Round, decide_all, hold_all
from scheduling.decide import decide
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.rules import Span
from scheduling.vocabulary import SpanKind
from scheduling.zones import tzdata_version

MINUTE_US: Final = 60 * SECOND_US
_ROUNDS: Final = 3
T = TypeVar("T")


def stage_costs_us(path: Path, *, now_us: int) -> dict[str, float]:
    """Microseconds of one fire by stage, from more rounds over the file of bench_commit.

    They add up to the round: the fastest of three, after one that compiles every recurrence.
    """
    with closing(_TimedDatabase(path)) as database:
        context = SqliteContext(
            database=database,
            versions=Versions(database.sql),
            payload_keys=NoKeys(),
            tzdata_version=tzdata_version(),
        )
        due_index = SqliteDueIndex(context)
        held = hold_all(SqliteLeases(database), now_us=now_us)
        decide_all(due_index, held, now_us=now_us)
        rounds: list[tuple[Round, dict[str, float]]] = []
        for number in range(1, _ROUNDS + 1):
            database.spent_s.clear()
            done = decide_all(due_index, held, now_us=now_us + number * MINUTE_US)
            rounds.append((done, dict(database.spent_s)))
        rules_s = min(
            _rules_s(context, now_us=now_us + (_ROUNDS + 1) * MINUTE_US) for _ in range(_ROUNDS)
        )
    done, spent_s = min(rounds, key=lambda found: found[0].elapsed_s)
    python_s = done.elapsed_s - rules_s - sum(spent_s.values())
    costs_s = {
        "read the due rows": spent_s.pop("commit_due_rows", 0.0),
        "decide (scheduling.decide)": rules_s,
        "make rows and messages in Python": python_s,
        "insert into the ledger": spent_s.pop("commit_insert_fire", 0.0),
        "update the due index": spent_s.pop("commit_move_due_row", 0.0),
        "commit (log, fsync, checkpoint)": spent_s.pop("commit", 0.0),
        "other statements": sum(spent_s.values()),
    }
    return {stage: cost_s / done.fires * 1e6 for stage, cost_s in costs_s.items()}


def _rules_s(context: SqliteContext, *, now_us: int) -> float:
    """Seconds of the rules alone, over views like those of the round."""
    spent_s = 0.0
    with context.database.read() as connection:
        rows = connection.execute(
            "SELECT tenant_id, trigger_id, version, span_from_at, decided_through, fired_count"
            " FROM due_index_row WHERE next_due_at IS NOT NULL"
        ).fetchall()
        for tenant_id, trigger_id, version, from_us, cursor_us, fired_count in rows:
            rules = context.versions.rules(connection, (tenant_id, trigger_id, version))
            spans = [Span(from_us, SpanKind.LIVE, version)]
            view = TriggerView(spans, {version: rules}, cursor_us, fired_count, None)
            started = time.perf_counter()
            decide(view, now_us)
            spent_s += time.perf_counter() - started
    return spent_s


class _TimedDatabase(SqliteDatabase):
    """Adds up the seconds of each named statement of the writer, and of its commits."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.spent_s: defaultdict[str, float] = defaultdict(float)
        self._names = {text: name for name, text in self.sql.items()}

    @contextmanager
    def write(self, *, wait_s: float = BUSY_TIMEOUT_S) -> Iterator[sqlite3.Connection]:
        started = time.perf_counter()
        with super().write(wait_s=wait_s) as connection:
            self.spent_s["begin"] += time.perf_counter() - started
            # It has the two methods that decisions call.
            yield cast("sqlite3.Connection", _TimedConnection(self, connection))
            started = time.perf_counter()
        self.spent_s["commit"] += time.perf_counter() - started

    def timed(self, statement: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return work()
        finally:
            name = self._names.get(statement, statement)
            self.spent_s[name] += time.perf_counter() - started


class _TimedConnection:
    def __init__(self, database: _TimedDatabase, connection: sqlite3.Connection) -> None:
        self._database = database
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> "_TimedCursor":
        cursor = self._database.timed(
            statement, lambda: self._connection.execute(statement, values)
        )
        return _TimedCursor(self._database, statement, cursor)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        return self._database.timed(
            statement, lambda: self._connection.executemany(statement, values)
        )


class _TimedCursor:
    """SQLite reads rows only as they are fetched."""

    def __init__(self, database: _TimedDatabase, statement: str, cursor: sqlite3.Cursor) -> None:
        self._database = database
        self._statement = statement
        self._cursor = cursor

    def fetchone(self) -> Any:
        return self._database.timed(self._statement, self._cursor.fetchone)

    def fetchall(self) -> list[Any]:
        return self._database.timed(self._statement, self._cursor.fetchall)
