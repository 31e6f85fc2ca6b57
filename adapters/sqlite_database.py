"""One SQLite file: connections, transactions, migrations, named SQL, and the error table.

WAL with synchronous=FULL: a commit that returned survives a power cut. Writers of one process
take turns on a lock, so that they never meet SQLite's sleeping busy handler; writers of other
processes wait for each other inside SQLite.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import aiosql

from adapters.sqlite_readers import SqliteReaders
from ports import metrics
from ports.errors import (
    PortError,
    SchemaTooNew,
    StoreConflict,
    StoreCorrupt,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)

BUSY_TIMEOUT_S: Final = 5.0
_CACHE_KIB: Final = 64 * 1024
# Of each reader; the system's own cache of the file stands behind them all.
_READER_CACHE_KIB: Final = 2 * 1024
# A burst touches the same index pages again and again: folding them into the file at every
# thousandth page, SQLite's default, would write them out over and over.
_CHECKPOINT_PAGES: Final = 20_000
_SQL_PACKAGE: Final = "schemas.sql.sqlite"

# One lock a file for all databases of the process: the store's and the lanes' writers too.
_WRITE_LOCKS: Final[dict[Path, threading.RLock]] = {}

# By primary result code; see https://www.sqlite.org/rescode.html
_ERRORS: Final[dict[int, tuple[type[PortError], str]]] = {
    sqlite3.SQLITE_ABORT: (StoreConflict, "a rule of the store refused the write"),
    sqlite3.SQLITE_AUTH: (StoreRefused, "not authorised"),
    sqlite3.SQLITE_BUSY: (StoreUnavailable, "another process holds the store"),
    sqlite3.SQLITE_CANTOPEN: (StoreRefused, "the store file cannot be opened; name another folder"),
    sqlite3.SQLITE_CONSTRAINT: (StoreConflict, "a constraint of the store refused the write"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "the store file is damaged; restore a backup"),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full; make room, nothing is lost"),
    sqlite3.SQLITE_INTERRUPT: (StoreUnavailable, "interrupted"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk reported an error"),
    sqlite3.SQLITE_LOCKED: (StoreUnavailable, "another connection holds the store"),
    sqlite3.SQLITE_MISMATCH: (StoreConflict, "a value of the wrong type"),
    sqlite3.SQLITE_NOMEM: (StoreUnavailable, "out of memory"),
    sqlite3.SQLITE_NOTADB: (StoreRefused, "the file is not a punctual store"),
    sqlite3.SQLITE_PERM: (StoreRefused, "no permission on the store file"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "another process holds the store"),
    sqlite3.SQLITE_READONLY: (StoreRefused, "the store file or its folder is read-only"),
    sqlite3.SQLITE_SCHEMA: (StoreUnavailable, "the schema changed meanwhile"),
    sqlite3.SQLITE_TOOBIG: (StoreConflict, "a value is too big"),
}


def translate(error: sqlite3.Error) -> PortError:
    """The port's error for a vendor exception; the vendor's text is kept behind it."""
    code = getattr(error, "sqlite_errorcode", None)
    kind, text = _ERRORS.get((code or 0) & 0xFF, (StoreUnavailable, "the store failed"))
    return kind(f"{text} ({error})")


@cache
def migrations() -> tuple[str, ...]:
    """The migration scripts in order; the n-th brings a store to schema version n."""
    folder = resources.files(_SQL_PACKAGE) / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple(f.read_text() for f in files)


@cache
def named_sql() -> dict[str, str]:
    """Every named statement of the dialect, read once; names are unique over all files."""
    statements: dict[str, str] = {}
    folder = resources.files(_SQL_PACKAGE)
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".sql"):
            continue
        queries = aiosql.from_str(file.read_text(), "sqlite3", mandatory_parameters=False)
        for name in queries.available_queries:
            if not name.endswith("_cursor"):
                if name in statements:
                    raise ValueError(f"{file.name}: the statement {name} exists already")
                statements[name] = getattr(queries, name).sql
    return statements


class SqliteDatabase:
    """Owns the writer connection, and the reader connections that it lends."""

    def __init__(self, path: Path, *, synchronous: str = "FULL") -> None:
        """Open or create the file and bring its schema up to date.

        SchemaTooNew for a file of a newer program (left untouched), StoreRefused for a file or
        folder that cannot be used.
        """
        self.path = path
        self.sql = named_sql()
        self._synchronous = synchronous
        self._write_lock = _WRITE_LOCKS.setdefault(path.resolve(), threading.RLock())
        self._readers = SqliteReaders(self._connect_reader)
        self._refuse_newer()
        try:
            self._writer = self._connect()
            self._migrate()
        except sqlite3.Error as error:
            raise translate(error) from error

    @contextmanager
    def write(self, *, wait_s: float = BUSY_TIMEOUT_S) -> Iterator[sqlite3.Connection]:
        """One immediate transaction: committed at the end, rolled back on any exception.

        StoreUnavailable when another thread of this process stays in its own for `wait_s`, so
        that one that hangs does not take the others with it.
        """
        with self._writers_turn(wait_s) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    metrics.tell_undone()
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise counted(translate(error)) from error
            metrics.tell_committed()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One snapshot for as many reads as the block makes."""
        try:
            with self._readers.lent() as connection:
                yield connection
        except sqlite3.Error as error:
            raise translate(error) from error

    def data_version(self) -> int:
        """A number that changes when another connection, of any process, has committed."""
        try:
            return self._readers.data_version()
        except sqlite3.Error as error:
            raise translate(error) from error

    def close(self) -> None:
        """Close every connection; the last one of all processes folds the log into the file."""
        with self._write_lock:
            self._readers.close()
            self._writer.close()

    @contextmanager
    def _writers_turn(self, wait_s: float) -> Iterator[sqlite3.Connection]:
        if not self._write_lock.acquire(timeout=wait_s):
            raise counted(StoreUnavailable("another thread of this process holds the store"))
        try:
            yield self._writer
        finally:
            self._write_lock.release()

    def _connect_reader(self) -> sqlite3.Connection:
        connection = self._connect(cache_kib=_READER_CACHE_KIB)
        connection.execute("PRAGMA query_only=ON")
        return connection

    def _connect(self, *, cache_kib: int = _CACHE_KIB) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.row_factory = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        # On macOS alone a sync has to ask the drive as well; elsewhere this changes nothing.
        connection.execute("PRAGMA fullfsync=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute(f"PRAGMA cache_size=-{cache_kib}")
        connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        return connection

    def _refuse_newer(self) -> None:
        """Look at an existing file read-only, before anything could touch it."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        # Without a log beside it the file can be read as immutable, which leaves no log behind.
        mode = "mode=ro" if Path(f"{self.path}-wal").exists() else "immutable=1"
        try:
            connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?{mode}", uri=True)
            try:
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise translate(error) from error
        if version > len(migrations()):
            raise SchemaTooNew(version, len(migrations()))

    def _migrate(self) -> None:
        # A numbered script and a counter in the file's own header: the libraries for this bring
        # an ORM or a second version table along, and none serves SQLite and Spanner alike.
        while True:
            version = int(self._writer.execute("PRAGMA user_version").fetchone()[0])
            if version >= len(migrations()):
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                if int(self._writer.execute("PRAGMA user_version").fetchone()[0]) == version:
                    for statement in _statements(migrations()[version]):
                        self._writer.execute(statement)
                    self._writer.execute(f"PRAGMA user_version={version + 1:d}")
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise


def counted(error: PortError) -> PortError:
    """The error of a write, counted."""
    metrics.count("punctual_store_write_errors_total", error=type(error).__name__)
    return error


def _statements(script: str) -> Iterator[str]:
    """The script's statements: `executescript` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
