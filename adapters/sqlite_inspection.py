"""A look at a store file from outside: opens it as it is, brings nothing up to date."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from adapters.sqlite_database import BUSY_TIMEOUT_S, named_sql, translate
from scheduling.limits import LEASE_TTL_S_MAX

_OPCODES_A_LOOK: Final = 100_000  # between looks at the time; some milliseconds
_TTL_US_MAX: Final = round(LEASE_TTL_S_MAX * 1_000_000)


class Owner(NamedTuple):
    """Who holds partitions; `expires_us` is the earliest of its leases."""

    owner_id: str
    partitions: int
    expires_us: int
    epsilon_ms: float

    def is_alive(self, now_us: int) -> bool:
        """As far as a lease tells; one further away than any lease lasts is a stepped clock's."""
        return now_us < self.expires_us <= now_us + _TTL_US_MAX


class Sealed(NamedTuple):
    """A sealed value, to try a tenant's key on."""

    tenant_id: str
    payload_ref: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class SqliteInspection:
    """Reads; each raises a PortError when the file cannot be read."""

    connection: sqlite3.Connection

    def schema_version(self) -> int:
        return int(self._rows("PRAGMA user_version")[0][0])

    def pinned_tzdata(self) -> str | None:
        rows = self._rows(named_sql()["commit_pin"])
        return rows[0][0] if rows else None

    def owners(self) -> list[Owner]:
        return [Owner._make(row) for row in self._rows(named_sql()["inspect_owners"])]

    def sealed(self, *, limit: int) -> list[Sealed]:
        rows = self._rows(named_sql()["inspect_sealed"], {"limit": limit})
        return [Sealed._make(row) for row in rows]

    def quarantined(self, *, limit: int) -> list[tuple[str, str]]:
        """(tenant, name) of quarantined triggers."""
        return self._rows(named_sql()["inspect_quarantined"], {"limit": limit})

    def decided_ahead(self, now_us: int) -> tuple[int, int | None]:
        """How many cursors lie after `now_us`, and the last of them."""
        return self._count_and_instant("inspect_ahead", {"now_us": now_us})

    def dead_letters(self) -> tuple[int, int | None]:
        """How many, and since when."""
        return self._count_and_instant("inspect_dead_letters")

    def outbox(self) -> tuple[int, int | None]:
        """How many events wait, and since when."""
        return self._count_and_instant("inspect_outbox")

    def quick_check(self, *, limit_s: float) -> list[str] | None:
        """What is wrong with the file's pages; None when the time was too short to tell."""
        end_s = time.monotonic() + limit_s
        self.connection.set_progress_handler(lambda: int(time.monotonic() > end_s), _OPCODES_A_LOOK)
        try:
            rows = self.connection.execute("PRAGMA quick_check(5)").fetchall()
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return None
            return [str(error)]
        finally:
            self.connection.set_progress_handler(None, 0)
        return [row[0] for row in rows if row[0] != "ok"]

    def _count_and_instant(
        self, name: str, parameters: dict[str, int] | None = None
    ) -> tuple[int, int | None]:
        count, instant_us = self._rows(named_sql()[name], parameters)[0]
        return count, instant_us

    def _rows(self, statement: str, parameters: dict[str, int] | None = None) -> list[Any]:
        try:
            return self.connection.execute(statement, parameters or {}).fetchall()
        except sqlite3.Error as error:
            raise translate(error) from error


def is_open_elsewhere(path: Path) -> bool:
    """Whether any other connection has the store file open, of this process or another one.

    The last connection to close folds the log into the file and removes it: what is still there
    after ours has closed is somebody else's. What a killed process left is folded in as well.
    """
    with inspected(path) as look:
        look.schema_version()
        look.owners()
    resolved = path.resolve()
    return resolved.with_name(f"{resolved.name}-shm").exists()


@contextmanager
def inspected(path: Path) -> Iterator[SqliteInspection]:
    """An existing store file, for reading alone. A PortError when it cannot be opened."""
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
        )
    except sqlite3.Error as error:
        raise translate(error) from error
    with closing(connection):
        try:
            connection.execute("PRAGMA query_only=ON")
        except sqlite3.Error as error:
            raise translate(error) from error
        yield SqliteInspection(connection)
