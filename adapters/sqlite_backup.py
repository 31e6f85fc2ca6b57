"""A consistent copy of a store file, made while services write to it, and the proof of it.

Neither opens the store as the program does: a copy must not bring an older schema up to date.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.sqlite_database import BUSY_TIMEOUT_S, migrations, named_sql, translate
from ports.errors import SchemaTooNew, StoreCorrupt, StoreRefused

_PAGES_A_STEP: Final = 2_000
_PROBLEMS_SHOWN_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """One moment of a store, held while the block that pinned it runs."""

    connection: sqlite3.Connection
    schema_version: int
    tzdata_version: str | None

    def copy_to(self, path: Path, *, on_pages: Callable[[int, int], None]) -> None:
        """Write the moment to a new file of its own; `on_pages(done, all)` follows it.

        The copy keeps no log beside it. StoreUnavailable or StoreCorrupt when it fails.
        """

        def tell(_status: int, remaining: int, total: int) -> None:
            on_pages(total - remaining, total)

        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as copy:
                # Nobody needs half a copy after a crash, so nothing is journalled or synced for it.
                copy.execute("PRAGMA journal_mode=OFF")
                copy.execute("PRAGMA synchronous=OFF")
                self.connection.backup(copy, pages=_PAGES_A_STEP, progress=tell)
                copy.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            raise translate(error) from error


@contextmanager
def pinned_snapshot(path: Path) -> Iterator[StoreSnapshot]:
    """The store as it is now, whatever is committed meanwhile. SchemaTooNew, StoreRefused.

    The open read transaction is what pins it. Without one SQLite's backup starts over whenever
    another process commits, and a busy service would never let it end.
    """
    try:
        with closing(_connect(path)) as connection:
            connection.execute("BEGIN")
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > len(migrations()):
                raise SchemaTooNew(version, len(migrations()))
            if version == 0:
                raise StoreRefused("the file is not a punctual store")
            pinned = connection.execute(named_sql()["commit_pin"]).fetchone()
            yield StoreSnapshot(connection, version, None if pinned is None else pinned[0])
    except sqlite3.Error as error:
        raise translate(error) from error


def check_sqlite_copy(path: Path) -> None:
    """Read every page of a copy and check it against its indexes. StoreCorrupt says what is wrong.

    Nobody else may have the file open.
    """
    problems = _problems(f"{path.resolve().as_uri()}?immutable=1")
    if problems:
        shown = "; ".join(problems[:_PROBLEMS_SHOWN_MAX])
        raise StoreCorrupt(f"the copy of the store is damaged: {shown}")


def _problems(uri: str) -> list[str]:
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [row[0] for row in rows if row[0] != "ok"]


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
    )
    connection.execute("PRAGMA query_only=ON")
    return connection
