"""The whole service on one file, cranked by hand: engines, a target and a true clock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from ports.changes import Change, ChangeResult
from ports.records import FireRecord
from ports.store import Store
from scheduling.instants import SECOND_US, from_text
from tests.support.definitions import TENANT, a_target, a_tenant
from tests.support.engine import Engine
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import Report, ScriptedTarget

EPSILON_US: Final = 5_000
ROUNDS_MAX: Final = 1_000


@dataclass(slots=True)
class Service:
    """`now_us` is the true time; each engine has a clock of its own that may lie.

    Time moves only in `advance_to`, from one thing that is due to the next.

    tick_us:     the longest step, for engines that have to keep up with leases
    is_empty:    nobody has put a tenant and a target yet
    tell:        takes what targets report; without it the engines do. ConnectionRefusedError where
                 nobody listens: the target reports again later
    store_file:  the store's name in the folder
    """

    folder: Path
    now_us: int
    tick_us: int | None = None
    is_empty: bool = False
    tell: Callable[[Report], None] | None = None
    store_file: str = "store.db"
    target: ScriptedTarget = field(init=False)
    attempt_tokens: LocalAttemptTokens = field(init=False)
    store: Store = field(init=False)
    engines: dict[str, Engine] = field(default_factory=dict)
    looks: int = 0
    refused_reports: int = 0
    on_close: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.target = ScriptedTarget(lambda: self.now_us)
        self.attempt_tokens = LocalAttemptTokens(self.folder / "keys")
        self.store = self.open_store()
        if not self.is_empty:
            self.apply(a_tenant(), a_target())

    def start(self, owner_id: str = "one", *, skew_us: int = 0) -> Engine:
        """A new process; its clock is `skew_us` ahead of the true time."""
        engine = Engine(
            self.open_store(),
            LocalLanes(self.open_database()),
            ManualClock(self.now_us + skew_us, self.now_us, EPSILON_US),
            self.target,
            self.attempt_tokens,
            owner_id,
        )
        self.engines[owner_id] = engine
        self.settle()
        return engine

    def kill(self, owner_id: str = "one") -> None:
        """The process dies: leases stay until they expire, memory is gone."""
        del self.engines[owner_id]

    def stop(self, owner_id: str = "one") -> None:
        """The process ends as it should, and gives its leases up."""
        self.engines.pop(owner_id).decider.release()

    def apply(self, *changes: Change) -> list[ChangeResult]:
        """Changes at the true time, less the clock's error."""
        return self.store.registry.apply(changes, now_us=self.now_us - EPSILON_US, actor="test")

    def advance_to(self, instant: str | int) -> None:
        """Let time pass, with everything that falls due on the way."""
        until_us = from_text(instant) if isinstance(instant, str) else instant
        self.settle()
        while (next_us := self._next_us()) is not None and next_us <= until_us:
            self._move(next_us)
            self.settle()
        self._move(until_us)
        self.settle()

    def settle(self) -> None:
        """Crank every engine until nothing moves any more at this time."""
        for _ in range(ROUNDS_MAX):
            moved = 0
            for engine in list(self.engines.values()):
                moved += engine.look().fires
                self.looks += 1
                moved += engine.take() + engine.send() + engine.collect()
                moved += self._report(engine)
            if not moved:
                return
        raise AssertionError("the service never comes to rest")

    def fires(self, name: str | None = None) -> list[FireRecord]:
        """The ledger's rows of one trigger, or of all, oldest first."""
        rows = self.store.history.fires(tenant_id=TENANT, limit=10_000)
        return [row for row in reversed(rows) if name in (None, row.trigger_name)]

    def close(self) -> None:
        """Close every connection."""
        for close in self.on_close:
            close()

    def open_database(self) -> SqliteDatabase:
        """The store's file, for one of the ports that stand beside the store."""
        database = SqliteDatabase(self.folder / self.store_file, synchronous="OFF")
        self.on_close.append(database.close)
        return database

    def open_store(self) -> Store:
        """A connection of its own to the one store."""
        store = open_sqlite_store(
            self.folder / self.store_file,
            payload_keys=TinkPayloadKeys(self.folder / "keys"),
            now_us=self.now_us,
            synchronous="OFF",
        )
        self.on_close.append(store.close)
        return store

    def _report(self, engine: Engine) -> int:
        taken = 0
        for report in self.target.due_reports():
            try:
                (self.tell or engine.report)(report)
            except ConnectionRefusedError:
                self.refused_reports += 1  # the target keeps it, and tries again
                continue
            self.target.reported(report)
            taken += 1
        return taken

    def _next_us(self) -> int | None:
        """The next time at which anything is known to happen, later than now."""
        wanted: list[int] = [report.at_us for report in self.target.reports]
        for owner_id, engine in self.engines.items():
            wanted += (attempt.back_us for attempt in engine.open_attempts)
            skew_us = engine.clock.wall_us - self.now_us
            wake_us = engine.store.repair.next_wake_us(owner_id)
            due = engine.store.due_index.next_due(range(256)).values()
            known = [*due, *([] if wake_us is None else [wake_us])]
            wanted += (us + EPSILON_US - skew_us for us in known)
        if sum(self.store.history.backlog().values()):
            wanted.append(self.now_us + SECOND_US)
        if self.tick_us is not None:
            wanted.append(self.now_us + self.tick_us)
        ahead = [us for us in wanted if us > self.now_us]
        return min(ahead, default=None)

    def _move(self, to_us: int) -> None:
        for engine in self.engines.values():
            engine.clock.advance(to_us - self.now_us)
        self.now_us = to_us
