"""The signals port on SQLite."""

from adapters.sqlite_database import SqliteDatabase
from ports.signals import AcceptedChange, SignalsPort
from scheduling.keys import partition_of


class SqliteSignals(SignalsPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._sql = database.sql

    def prove_commit(self, *, now_us: int, wait_s: float) -> None:
        """Another process may keep it waiting for longer: see BUSY_TIMEOUT_S."""
        with self._database.write(wait_s=wait_s) as connection:
            connection.execute(self._sql["signals_prove_commit"], {"now_us": now_us})

    def quarantined_triggers(self) -> int:
        return self._number("signals_quarantined_triggers")

    def newest_change_id(self) -> int:
        return self._number("signals_newest_change")

    def changes_after(self, change_id: int, *, limit: int) -> list[AcceptedChange]:
        bounds = {"change_id": change_id, "row_limit": limit}
        with self._database.read() as connection:
            rows = connection.execute(self._sql["signals_changes_after"], bounds).fetchall()
        return [AcceptedChange(row[0], partition_of(row[1]), row[2]) for row in rows]

    def _number(self, statement: str) -> int:
        with self._database.read() as connection:
            return int(connection.execute(self._sql[statement]).fetchone()[0])
