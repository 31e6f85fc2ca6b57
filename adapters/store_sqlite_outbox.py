"""The outbox port on SQLite. Transactions write one after another: ids are in commit order."""

import json
from typing import Final

from adapters.sqlite_database import SqliteDatabase
from ports.outbox import ChangeReading, OutboxEvent, OutboxPort

SENT_KEPT_MAX: Final = 10_000  # for whoever looks for what was sent; some 3 MB
_FORGOTTEN_PER_SENT: Final = 2  # so that what an older program left behind goes in time


class SqliteOutbox(OutboxPort):
    """SQL triggers on the ledger move a cursor back; see the migration that made them.

    Of the newest `kept_max` events those that were sent are kept; marking forgets older ones.
    """

    def __init__(self, database: SqliteDatabase, *, kept_max: int = SENT_KEPT_MAX) -> None:
        self._database = database
        self._kept_max = kept_max
        self._sql = database.sql

    def pending(self, *, limit: int) -> list[OutboxEvent]:
        with self._database.read() as connection:
            rows = connection.execute(self._sql["outbox_pending"], {"row_limit": limit}).fetchall()
        return [OutboxEvent._make(row) for row in rows]

    def mark_sent(self, outbox_ids: list[int], *, now_us: int) -> int:
        if not outbox_ids:
            return 0
        with self._database.write() as connection:
            marked = connection.execute(
                self._sql["outbox_mark_sent"],
                {"outbox_ids": json.dumps(outbox_ids), "now_us": now_us},
            ).rowcount
            row_limit = _FORGOTTEN_PER_SENT * len(outbox_ids)
            connection.execute(
                self._sql["outbox_forget"], {"kept": self._kept_max, "row_limit": row_limit}
            )
        return marked

    def cursor(self, relay_id: str) -> int | None:
        with self._database.read() as connection:
            row = connection.execute(
                self._sql["outbox_relay_stands"], {"relay_id": relay_id}
            ).fetchone()
        return None if row is None else int(row[0])

    def begin_reading(self, relay_id: str) -> ChangeReading:
        with self._database.write() as connection:
            row = connection.execute(
                self._sql["outbox_begin_reading"], {"relay_id": relay_id}
            ).fetchone()
        return ChangeReading._make(row)

    def end_reading(self, relay_id: str, reading: ChangeReading, *, until_us: int) -> bool:
        moved = {"relay_id": relay_id, "reading": reading.number, "until_us": until_us}
        with self._database.write() as connection:
            return connection.execute(self._sql["outbox_end_reading"], moved).rowcount > 0
