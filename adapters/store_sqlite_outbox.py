"""The outbox port on SQLite. Transactions write one after another: ids are in commit order."""

import json

from adapters.sqlite_database import SqliteDatabase
from ports.outbox import OutboxEvent, OutboxPort


class SqliteOutbox(OutboxPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def pending(self, *, limit: int) -> list[OutboxEvent]:
        with self._database.read() as connection:
            rows = connection.execute(
                self._database.sql["outbox_pending"], {"row_limit": limit}
            ).fetchall()
        return [OutboxEvent._make(row) for row in rows]

    def mark_sent(self, outbox_ids: list[int], *, now_us: int) -> int:
        if not outbox_ids:
            return 0
        with self._database.write() as connection:
            return connection.execute(
                self._database.sql["outbox_mark_sent"],
                {"outbox_ids": json.dumps(outbox_ids), "now_us": now_us},
            ).rowcount
