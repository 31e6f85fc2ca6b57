"""The adapters that each port's contract suite runs on.

A suite sees a harness: one empty technology that can be opened any number of times. A new
adapter adds its harness to the registry below, and every suite of its port runs on it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.clock_fixed import FixedClock
from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from adapters.store_sqlite_outbox import SqliteOutbox
from ports.attempt_tokens import AttemptTokensPort
from ports.events import EventsPort
from ports.lanes import LanesPort
from ports.outbox import OutboxEvent
from ports.payload_keys import PayloadKeysPort
from ports.records import AttemptRecord, FireRecord, GapRecord
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from scheduling.keys import FireKey
from tests.contract.sqlite_peek import SqlitePeek
from tests.contract.store_peek import StorePeek
from tests.support import sqlite_rows


class StoreHarness(ABC):
    """One empty store. Ledger rows are planted as the records that readers see them as."""

    peek: StorePeek

    @abstractmethod
    def open(self, *, tzdata_version: str | None = None) -> Store:
        """Another handle on the same store, as another process would have it.

        `tzdata_version` is the zone data that this process says it has; by default its own.
        """

    @abstractmethod
    def close(self) -> None:
        """Close every handle."""

    @abstractmethod
    def plant_trigger(
        self, tenant_id: str, *, trigger_id: str, name: str, next_due_us: int | None = None
    ) -> None:
        """A live trigger with a due row."""

    @abstractmethod
    def plant(self, *records: FireRecord | GapRecord | OutboxEvent) -> None:
        """Rows, without any of the rules."""

    @abstractmethod
    def plant_attempts(self, key: FireKey, *attempts: AttemptRecord) -> None:
        """A fire's attempts."""

    @abstractmethod
    def change_audit(self) -> None:
        """Try to rewrite every audit entry with the store's own means. Raises what it raises."""

    @abstractmethod
    def delete_audit(self) -> None:
        """Try to delete every audit entry with the store's own means. Raises what it raises."""


class SqliteHarness(StoreHarness):
    """A file of its own; synchronous=OFF, since no test pulls the plug."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "store.db"
        self._keys = TinkPayloadKeys(folder / "keys")
        self._stores: list[Store] = []
        self._database = SqliteDatabase(self._path, synchronous="OFF")
        self.peek = SqlitePeek(self._path, self._database, self._keys)

    def open(self, *, tzdata_version: str | None = None) -> Store:
        store = open_sqlite_store(
            self._path,
            payload_keys=self._keys,
            tzdata_version=tzdata_version,
            synchronous="OFF",
        )
        self._stores.append(store)
        return store

    def close(self) -> None:
        for store in self._stores:
            store.close()
        self._database.close()

    def plant_trigger(
        self, tenant_id: str, *, trigger_id: str, name: str, next_due_us: int | None = None
    ) -> None:
        with self._database.write() as connection:
            sqlite_rows.insert_trigger(
                connection, tenant_id, trigger_id=trigger_id, name=name, next_due_us=next_due_us
            )

    def plant(self, *records: FireRecord | GapRecord | OutboxEvent) -> None:
        with self._database.write() as connection:
            for record in records:
                if isinstance(record, FireRecord):
                    sqlite_rows.insert_fire(connection, record)
                elif isinstance(record, GapRecord):
                    sqlite_rows.insert_gap(connection, record)
                else:
                    sqlite_rows.insert_event(connection, record)

    def plant_attempts(self, key: FireKey, *attempts: AttemptRecord) -> None:
        with self._database.write() as connection:
            for attempt in attempts:
                sqlite_rows.insert_attempt(connection, key, attempt)

    def change_audit(self) -> None:
        with self._database.write() as connection:
            connection.execute("UPDATE audit_entry SET actor = 'nobody'")

    def delete_audit(self) -> None:
        with self._database.write() as connection:
            connection.execute("DELETE FROM audit_entry")


class LanesHarness(ABC):
    """Empty lanes."""

    @property
    @abstractmethod
    def opener(self) -> Callable[[], LanesPort]:
        """Opens another handle; picklable, for other processes."""

    @abstractmethod
    def open(self) -> LanesPort:
        """Another handle in this process."""

    @abstractmethod
    def close(self) -> None:
        """Close this process's handles."""


def open_local_lanes(path: Path) -> LanesPort:
    return LocalLanes(SqliteDatabase(path, synchronous="NORMAL"))


class LocalLanesHarness(LanesHarness):
    """A file of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lanes.db"
        self._databases: list[SqliteDatabase] = []

    @property
    def opener(self) -> Callable[[], LanesPort]:
        return partial(open_local_lanes, self._path)

    def open(self) -> LanesPort:
        self._databases.append(SqliteDatabase(self._path, synchronous="NORMAL"))
        return LocalLanes(self._databases[-1])

    def close(self) -> None:
        for database in self._databases:
            database.close()


class EventsHarness(ABC):
    """An empty log of events that keeps `kept_max` of them."""

    kept_max: int

    @property
    @abstractmethod
    def opener(self) -> Callable[[], EventsPort]:
        """Opens another handle; picklable, for other processes."""

    @abstractmethod
    def open(self) -> EventsPort:
        """Another handle in this process."""

    @abstractmethod
    def begin_reading(self, relay_id: str) -> int:
        """A relay of the log's store begins a reading; its number."""

    @abstractmethod
    def close(self) -> None:
        """Close this process's handles."""


def open_local_events(path: Path, kept_max: int) -> EventsPort:
    return LocalEvents(SqliteDatabase(path), kept_max=kept_max)


class LocalEventsHarness(EventsHarness):
    """A file of its own; synchronous=OFF, since no test pulls the plug."""

    kept_max = 10

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.db"
        self._databases: list[SqliteDatabase] = []

    @property
    def opener(self) -> Callable[[], EventsPort]:
        return partial(open_local_events, self._path, self.kept_max)

    def open(self) -> EventsPort:
        self._databases.append(SqliteDatabase(self._path, synchronous="OFF"))
        return LocalEvents(self._databases[-1], kept_max=self.kept_max)

    def begin_reading(self, relay_id: str) -> int:
        self._databases.append(SqliteDatabase(self._path, synchronous="OFF"))
        return SqliteOutbox(self._databases[-1]).begin_reading(relay_id).number

    def close(self) -> None:
        for database in self._databases:
            database.close()


def _tink_keys(folder: Path) -> Callable[[], PayloadKeysPort]:
    return partial(TinkPayloadKeys, folder / "keys")


def _local_tokens(folder: Path) -> Callable[[], AttemptTokensPort]:
    return partial(LocalAttemptTokens, folder / "keys")


# Each is given a folder that is empty at first. Openers of keys and tokens are picklable.
STORES: Final[dict[str, Callable[[Path], StoreHarness]]] = {"sqlite": SqliteHarness}
LANES: Final[dict[str, Callable[[Path], LanesHarness]]] = {"local": LocalLanesHarness}
EVENTS: Final[dict[str, Callable[[Path], EventsHarness]]] = {"local": LocalEventsHarness}
PAYLOAD_KEYS: Final[dict[str, Callable[[Path], Callable[[], PayloadKeysPort]]]] = {
    "tink": _tink_keys
}
ATTEMPT_TOKENS: Final[dict[str, Callable[[Path], Callable[[], AttemptTokensPort]]]] = {
    "local": _local_tokens
}
TIME_AUTHORITIES: Final[dict[str, Callable[[], TimeAuthorityPort]]] = {"fixed": FixedClock}
