"""Calls that are sure to share a transaction: they queue while one in front holds the writer."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from adapters.sqlite_database import BUSY_TIMEOUT_S, SqliteDatabase
from adapters.sqlite_group_commit import GroupCommit
from adapters.sqlite_versions import Versions

Work = Callable[[sqlite3.Connection], object]
Call = Callable[[], object]
_WAIT_S = 30


class CountingDatabase(SqliteDatabase):
    """Counts its transactions, committed or not."""

    def __init__(self, path: Path) -> None:
        self.transactions = 0
        super().__init__(path, synchronous="OFF")

    @contextmanager
    def write(self, *, wait_s: float = BUSY_TIMEOUT_S) -> Iterator[sqlite3.Connection]:
        with super().write(wait_s=wait_s) as connection:
            self.transactions += 1
            yield connection


class Group(GroupCommit):
    """Tells when a call has queued up behind another."""

    def __init__(
        self,
        database: SqliteDatabase,
        versions: Versions | None = None,
        *,
        wait_s: float = _WAIT_S,
    ) -> None:
        super().__init__(database, versions or Versions(database.sql), wait_s=wait_s)
        self._queued = threading.Semaphore(0)

    def _wait(self, call: object) -> None:
        self._queued.release()
        super()._wait(call)  # type: ignore[arg-type]  # what the base class makes

    def together(self, *calls: Call) -> list[Future[Any]]:
        """All calls, which come to `run`, in one transaction and this order; they are done."""
        with ThreadPoolExecutor(len(calls) + 1) as threads, self.held(threads):
            return self.queue(threads, *calls)

    def works_together(self, *works: Work) -> list[Future[Any]]:
        """The same of what `run` is given."""
        return self.together(*(partial(self.run, work) for work in works))

    @contextmanager
    def held(self, threads: ThreadPoolExecutor) -> Iterator[None]:
        """A call in front that is not done before the block ends."""
        has_begun, may_end = threading.Event(), threading.Event()

        def hold(connection: sqlite3.Connection) -> None:
            has_begun.set()
            may_end.wait(_WAIT_S)

        front = threads.submit(self.run, hold)
        has_begun.wait(_WAIT_S)
        try:
            yield
        finally:
            may_end.set()
            front.result()

    def queue(self, threads: ThreadPoolExecutor, *calls: Call) -> list[Future[Any]]:
        """Each has queued before the next comes."""
        futures = []
        for call in calls:
            futures.append(threads.submit(call))
            self._queued.acquire(timeout=_WAIT_S)
        return futures
