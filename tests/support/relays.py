"""A service cranked by hand whose events are relayed, and what its log then says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from adapters.events_local import LocalEvents
from adapters.sqlite_database import SqliteDatabase
from ports.events import Event, EventsPort
from ports.store import Store
from punctual.relay import Relay
from scheduling.instants import from_text
from tests.support.faulty_store import Interceptor, faulty_events, faulty_store
from tests.support.manual_clock import ManualClock
from tests.support.published_events import all_events
from tests.support.service import Service

START: Final = "2026-06-01T09:00:10Z"


class RelayedService:
    """Relays share the log and the store; each is as forgetful as a process that just started."""

    def __init__(self, folder: Path, *, is_empty: bool = False) -> None:
        self.service = Service(folder, from_text(START), is_empty=is_empty)
        database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.service.on_close.append(database.close)
        self.log = LocalEvents(database)

    @property
    def store(self) -> Store:
        return self.service.store

    def relay(self, intercept: Interceptor | None = None, *, rows_max: int = 500) -> Relay:
        """A new one; every call that it makes goes through `intercept`."""
        store: Store = self.store
        events: EventsPort = self.log
        if intercept is not None:
            store = faulty_store(store, intercept)
            events = faulty_events(self.log, intercept)
        clock = ManualClock(self.service.now_us, self.service.now_us)
        return Relay(store, events, clock, rows_max=rows_max)

    def catch_up(self, *, rows_max: int = 500) -> int:
        """A relay without faults publishes what waits."""
        relay = self.relay(rows_max=rows_max)
        added = relay.step()
        while relay.is_behind:
            added += relay.step()
        return added

    def events(self, event: str | None = None) -> list[Event]:
        return [each for each in all_events(self.log) if event in (None, each.event)]

    def last_states(self) -> dict[str, tuple[str, str]]:
        """What a follower of the log believes of each fire: its state and when it changed."""
        bodies = self.bodies("FireStateChanged")
        return {body["fire_key"]: (body["state"], body["changed_at"]) for body in bodies}

    def bodies(self, event: str) -> list[dict[str, Any]]:
        return [json.loads(each.body) for each in self.events(event)]


@contextmanager
def relayed_service(folder: Path, *, is_empty: bool = False) -> Iterator[RelayedService]:
    """`is_empty`: nobody has put a tenant and a target yet."""
    made = RelayedService(folder, is_empty=is_empty)
    yield made
    made.service.close()
