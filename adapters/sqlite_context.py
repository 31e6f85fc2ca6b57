"""What the SQLite store's ports share: the database, the versions in memory, keys and zone data."""

import sqlite3
from dataclasses import dataclass

from adapters.sqlite_database import SqliteDatabase
from adapters.sqlite_versions import Versions
from ports.errors import TzdataMismatch
from ports.payload_keys import PayloadKeysPort


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteContext:
    database: SqliteDatabase
    versions: Versions
    payload_keys: PayloadKeysPort
    tzdata_version: str

    @property
    def sql(self) -> dict[str, str]:
        return self.database.sql

    def check_pin(self, connection: sqlite3.Connection) -> None:
        """Refuse to decide with other zone data than the pinned one. TzdataMismatch."""
        pinned = connection.execute(self.sql["commit_pin"]).fetchone()[0]
        if pinned != self.tzdata_version:
            raise TzdataMismatch(pinned, self.tzdata_version)
