"""Calls that come together share one transaction, and so one wait for the disk.

Whoever comes while nobody leads, leads: it takes the writer's turn, and then everything that has
queued up, in the order of entry, into one transaction with a savepoint for each call. The others
wait for what it tells them after the commit. A call that comes alone waits for nobody, and its
transaction is its own.
"""

import copy
import sqlite3
import threading
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from adapters.sqlite_database import BUSY_TIMEOUT_S, SqliteDatabase, counted, translate
from adapters.sqlite_versions import Versions
from ports import metrics
from ports.errors import PortError, StoreUnavailable
from scheduling.limits import GROUP_CALLS_MAX

T = TypeVar("T")

# What a statement may raise that leaves the rest of the transaction as it was.
_OF_ONE_CALL: Final = frozenset(
    {
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_TOOBIG,
    }
)


class _Call:
    """One call's work, and what became of it; `turn` is set when it leads or is done."""

    __slots__ = ("error", "is_taken", "leads", "result", "turn", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], object]) -> None:
        self.work = work
        self.turn = threading.Event()
        self.leads = False
        self.is_taken = False
        self.result: object = None
        self.error: BaseException | None = None


class GroupCommit:
    """The writer of one database and its versions, for many threads."""

    def __init__(
        self, database: SqliteDatabase, versions: Versions, *, wait_s: float = BUSY_TIMEOUT_S
    ) -> None:
        self._database = database
        self._versions = versions
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()
        self._is_led = False

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, once it is on the disk; what it raises, and then nothing of it is.

        It may run on another thread, beside others whose uncommitted changes it sees. An error of
        the store fails all calls of the transaction, StoreUnavailable one whose turn did not come
        in time.
        """
        call = _Call(work)
        with self._lock:
            self._waiting.append(call)
            call.leads = not self._is_led
            self._is_led = True
        if not call.leads:
            self._wait(call)
        if call.leads:
            self._lead()
        if call.error is not None:
            raise call.error
        return cast(T, call.result)

    def _wait(self, call: _Call) -> None:
        if call.turn.wait(self._wait_s):
            return
        with self._lock:
            if not call.leads and not call.is_taken:
                self._waiting.remove(call)
                raise counted(StoreUnavailable("another thread of this process holds the store"))
        # Its changes may be on their way to the disk by now: only the end can tell.
        call.turn.wait()

    def _lead(self) -> None:
        batch: list[_Call] = []
        try:
            with self._versions.changing(), self._database.write(wait_s=self._wait_s) as connection:
                batch = self._take()
                if len(batch) == 1:
                    batch[0].result = batch[0].work(connection)
                else:
                    for call in batch:
                        self._work_apart(connection, call)
        except BaseException as error:
            batch = batch or self._take()
            for call in batch:
                # Also one that was refused: perhaps for what another did, which is undone now.
                call.error = _told(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._pass_on()
            for call in batch:
                call.turn.set()

    def _take(self) -> list[_Call]:
        """The first of the queue, which leads, and who came since."""
        with self._lock:
            count = min(len(self._waiting), GROUP_CALLS_MAX)
            batch = [self._waiting.popleft() for _ in range(count)]
            for call in batch:
                call.is_taken = True
        return batch

    def _pass_on(self) -> None:
        """The next transaction is another's, so that no caller works for others for ever."""
        with self._lock:
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].leads = True
                self._waiting[0].turn.set()

    def _work_apart(self, connection: sqlite3.Connection, call: _Call) -> None:
        mark = metrics.uncommitted()
        connection.execute("SAVEPOINT one_call")
        try:
            with self._versions.trying():
                call.result = call.work(connection)
        except Exception as error:
            call.error = error
            if isinstance(error, sqlite3.Error):
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _OF_ONE_CALL:
                    raise
                call.error = counted(translate(error))
            # A cursor that is kept open by a frame would keep the writer's snapshot.
            traceback.clear_frames(error.__traceback__)
            connection.execute("ROLLBACK TO one_call")
            metrics.tell_undone_since(mark)
        connection.execute("RELEASE one_call")


def _told(error: BaseException) -> BaseException:
    """The error for one of several threads: each raises its own."""
    if isinstance(error, PortError):
        told: Any = copy.copy(error)
        told.__cause__ = error.__cause__
        return cast(PortError, told)
    if isinstance(error, Exception):
        return error
    return StoreUnavailable("interrupted")
