"""The events port on a table of the store's file, for readers of the same machine.

Its database waits for the disk (synchronous=FULL): the relay marks an event as sent only once it
is here, and a reader must find behind an offset what it found there before a power cut.
"""

import sqlite3
from collections.abc import Sequence

from adapters.sqlite_database import SqliteDatabase
from ports.events import Event, EventsPort, KeptEvents, PublishedEvent
from scheduling.limits import EVENTS_KEPT_MAX


class LocalEvents(EventsPort):
    """`kept_max` events are kept; publishing forgets the oldest beyond them."""

    def __init__(self, database: SqliteDatabase, *, kept_max: int = EVENTS_KEPT_MAX) -> None:
        self._database = database
        self._kept_max = kept_max

    def publish(self, events: Sequence[Event]) -> int:
        if not events:
            return 0
        with self._database.write() as connection:
            return self._add(connection, events)

    def publish_reading(self, events: Sequence[Event], *, relay_id: str, number: int) -> int | None:
        asked = {"relay_id": relay_id, "number": number}
        with self._database.write() as connection:
            if connection.execute(self._database.sql["events_outrun"], asked).fetchone():
                return None
            return self._add(connection, events) if events else 0

    def read(self, *, after: int, limit: int) -> list[PublishedEvent]:
        asked = {"after": after, "row_limit": limit}
        with self._database.read() as connection:
            rows = connection.execute(self._database.sql["events_read"], asked).fetchall()
        return [PublishedEvent(row[0], Event._make(row[1:])) for row in rows]

    def kept(self) -> KeptEvents:
        with self._database.read() as connection:
            after, through = connection.execute(self._database.sql["events_kept"]).fetchone()
        return KeptEvents() if through is None else KeptEvents(after, through)

    def _add(self, connection: sqlite3.Connection, events: Sequence[Event]) -> int:
        sql = self._database.sql
        rows = [event._asdict() for event in events]
        added = connection.executemany(sql["events_publish"], rows).rowcount
        if added:
            connection.execute(sql["events_forget"], {"kept": self._kept_max})
        return added
