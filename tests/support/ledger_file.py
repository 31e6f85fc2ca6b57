"""The store file as its tables stand, read by plain SQL: not by the code that wrote them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from punctual.data_folder import STORE_FILE

_ROWS: Final = """
SELECT f.tenant_id || '~' || f.trigger_id || '~' || f.scheduled_instant || '~' || f.sequence,
  t.name, f.scheduled_instant, f.sequence, f.through_instant, f.instant_count, f.lane, f.state,
  f.non_dispatch_cause, f.cause_detail, f.due_at, f.next_attempt_n, f.coalesced_into, f.changed_at
FROM fire AS f JOIN trigger AS t USING (tenant_id, trigger_id)
ORDER BY f.scheduled_instant
"""
_TRIGGERS: Final = """
SELECT t.name, t.state, t.created_at, d.decided_through, d.next_due_at, t.quarantine_error
FROM trigger AS t JOIN due_index_row AS d USING (tenant_id, trigger_id)
WHERE t.state <> 'deleted'
"""
_WAITING: Final = """
SELECT count(*) FROM fire WHERE state IN ('held', 'ready', 'queued', 'dispatching')
"""
_OWNERS: Final = """
SELECT owner_id, count(*) FROM partition_lease WHERE owner_id IS NOT NULL AND expires_at > ?
GROUP BY owner_id
"""


class LedgerRow(NamedTuple):
    """A fire or a range row. Instants in microseconds."""

    key: str
    trigger: str
    scheduled_us: int
    sequence: int
    through_us: int | None
    instant_count: int
    lane: str
    state: str
    cause: str | None
    detail: str | None
    due_us: int
    next_n: int
    into_us: int | None
    changed_us: int

    @property
    def last_us(self) -> int:
        return self.scheduled_us if self.through_us is None else self.through_us


class TriggerRow(NamedTuple):
    name: str
    state: str
    created_us: int
    decided_through_us: int
    next_due_us: int | None
    quarantine_error: str | None


class LedgerFile:
    """Reads the file of a data folder; one connection a question, so that it is in nobody's way."""

    def __init__(self, data: Path) -> None:
        self.path = data / STORE_FILE

    def rows(self, trigger: str | None = None) -> list[LedgerRow]:
        """Ledger rows, oldest instant first."""
        rows = map(LedgerRow._make, self._read(_ROWS))
        return [row for row in rows if trigger in (None, row.trigger)]

    def triggers(self) -> dict[str, TriggerRow]:
        """The undeleted triggers by name."""
        return {row[0]: TriggerRow._make(row) for row in self._read(_TRIGGERS)}

    def waiting(self) -> int:
        """Fires that are not at an end."""
        return sum(count for (count,) in self._read(_WAITING))

    def attempts(self) -> list[tuple[str, int, int | None, str | None]]:
        """Per attempt: fire key, n, HTTP status, error."""
        return self._read(
            "SELECT tenant_id || '~' || trigger_id || '~' || scheduled_instant || '~' || sequence,"
            " n, http_status, error FROM attempt"
        )

    def owners(self, *, now_us: int = 0) -> dict[str, int]:
        """How many partitions each owner holds whose leases run beyond `now_us`."""
        return dict(self._read(_OWNERS, (now_us,)))

    def audit(self) -> list[tuple[str, str, str | None, str | None, int]]:
        """Actor, action, prior value, note and time, in order."""
        return self._read(
            "SELECT actor, action, prior_value, note, at FROM audit_entry ORDER BY audit_id"
        )

    def execute(self, statement: str, *parameters: object) -> int:
        """Change the file behind the service's back; the rows changed."""
        with closing(self._connect()) as connection, connection:
            return connection.execute(statement, parameters).rowcount

    def integrity(self) -> str:
        """What SQLite's own check says."""
        return str(self._read("PRAGMA integrity_check")[0][0])

    def _read(self, statement: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        """The rows; none where the service has not made the file or its tables yet."""
        try:
            with closing(self._connect()) as connection:
                return connection.execute(statement, parameters).fetchall()
        except sqlite3.OperationalError as error:
            if "unable to open" in str(error) or "no such table" in str(error):
                return []
            raise

    def _connect(self) -> sqlite3.Connection:
        """Never makes the file."""
        return sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True, timeout=10)
