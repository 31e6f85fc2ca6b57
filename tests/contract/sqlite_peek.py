"""Looks into a SQLite store, and harm done to it, by plain SQL."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.sqlite_database import SqliteDatabase
from ports.payload_keys import PayloadKeysPort
from tests.contract.store_peek import DueIndexRow, StorePeek, TriggerKey


class SqlitePeek(StorePeek):
    """The log is part of the store: it is folded into the file before bytes are looked for."""

    def __init__(self, path: Path, database: SqliteDatabase, keys: PayloadKeysPort) -> None:
        self._path = path
        self._database = database
        self._keys = keys

    def content(self) -> object:
        with self._database.read() as connection:
            names = connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            ).fetchall()
            return {
                name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
                for (name,) in names
            }

    def holds(self, plain: bytes) -> bool:
        files = self._path.parent.glob(f"{self._path.name}*")
        return any(plain in file.read_bytes() for file in files)

    def due_index(self) -> list[DueIndexRow]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT tenant_id, trigger_id, partition_id, version, revision, span_from_at,"
                " decided_through, next_due_at, pending_catch_up, fired_count"
                " FROM due_index_row ORDER BY tenant_id, trigger_id"
            ).fetchall()
        return [DueIndexRow._make(row) for row in rows]

    def kept_requests(self) -> int:
        with self._database.read() as connection:
            return int(connection.execute("SELECT count(*) FROM idempotency_key").fetchone()[0])

    def empty_due_index(self) -> None:
        self._execute("DELETE FROM due_index_row")

    def set_cursor(self, key: TriggerKey, *, decided_through_us: int, next_due_us: int) -> None:
        self._execute(
            "UPDATE due_index_row SET decided_through = ?, next_due_at = ?"
            " WHERE tenant_id = ? AND trigger_id = ?",
            decided_through_us,
            next_due_us,
            *key,
        )

    def set_next_due(self, key: TriggerKey, *, next_due_us: int) -> None:
        self._execute(
            "UPDATE due_index_row SET next_due_at = ? WHERE tenant_id = ? AND trigger_id = ?",
            next_due_us,
            *key,
        )

    def set_rule(self, key: TriggerKey, recurrence: str, *, version: int) -> None:
        self._execute(
            "UPDATE trigger_version SET recurrence = ?"
            " WHERE tenant_id = ? AND trigger_id = ? AND version = ?",
            json.dumps([recurrence]),
            *key,
            version,
        )

    @contextmanager
    def without_versions(self) -> Iterator[None]:
        self._execute("ALTER TABLE trigger_version RENAME TO trigger_version_away")
        yield
        self._execute("ALTER TABLE trigger_version_away RENAME TO trigger_version")

    def delete_payload_key(self, tenant_id: str) -> None:
        self._keys.delete(tenant_id)

    def _execute(self, statement: str, *values: object) -> None:
        with self._database.write() as connection:
            connection.execute(statement, values)
