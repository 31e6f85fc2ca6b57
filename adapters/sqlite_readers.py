"""Reader connections of one file: lent to whoever reads, and kept for the next one."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ports.errors import StoreUnavailable

# A thread that reads may live for seconds only: what it would own, nobody would close.
READERS_KEPT_MAX: Final = 16  # two files each; more at once are opened, and closed after


class SqliteReaders:
    """Lends connections, the last used first, whose cache is the warmest."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._watching = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        self._is_closed = False

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """A connection for one block, in one snapshot; StoreUnavailable once all are closed."""
        connection = self._take()
        try:
            connection.execute("BEGIN")
            yield connection
            connection.execute("ROLLBACK")
        except BaseException:
            # What raised may keep a cursor open, whose snapshot the next reader would be given.
            connection.close()
            raise
        self._keep(connection)

    def data_version(self) -> int:
        """Always asked of the same connection: two connections count differently."""
        with self._watching:
            if self._watcher is None:
                self._watcher = self._take()
            return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close what nobody reads from; the others close as they come back."""
        with self._watching, self._lock:
            self._is_closed = True
            if self._watcher is not None:
                self._idle.append(self._watcher)
                self._watcher = None
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable("the store is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _keep(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._is_closed and len(self._idle) < READERS_KEPT_MAX:
                self._idle.append(connection)
                return
        connection.close()
