"""The outbox relay: publishes what changed, for others to follow. It wakes and decides nothing.

Changes of triggers come from the outbox, changes of fires from the ledger itself: one event says
in what state a fire was found, and states that it passed through since the last look are not
told. All a relay knows is in the store. Any number of them may run; a repeat has the id of the
first event, and the log drops it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from ports import log_actions as log
from ports.errors import PortError, StoreUnavailable
from ports.events import EventsPort
from ports.outbox import RELAY_ID, ChangeReading
from ports.records import FireRecord
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from punctual.relay_events import fire_state_changed, trigger_changed
from scheduling.keys import FireKey
from scheduling.limits import RELAY_PAGES_MAX, RELAY_ROWS_MAX

POLL_S: Final = 0.5
_BREATH_S: Final = 0.1  # between steps that had no end: the deciding thread comes first
_BACKOFF_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)


class Relay:
    """One relay. Not thread-safe: one thread steps it."""

    def __init__(
        self,
        store: Store,
        events: EventsPort,
        clock: TimeAuthorityPort,
        *,
        rows_max: int = RELAY_ROWS_MAX,
    ) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._rows_max = rows_max
        self._is_abandoned = False
        self.is_behind = False  # whether the last step left something for the next one

    def step(self) -> int:
        """Publish what waits, at most some pages of it; how many events the log did not have.

        PortError means that something is still to be published, or published again: step again.
        """
        self._check_abandoned()
        self.is_behind = False
        return self._relay_triggers() + self._relay_fires()

    def abandon(self) -> None:
        """From any thread: touch the store no more, which may be closed by now."""
        self._is_abandoned = True

    def _check_abandoned(self) -> None:
        if self._is_abandoned:
            raise StoreUnavailable("the relay was left behind")

    def _relay_triggers(self) -> int:
        added = 0
        for _ in range(RELAY_PAGES_MAX):
            waiting = self._store.outbox.pending(limit=self._rows_max)
            if not waiting:
                return added
            added += self._events.publish([trigger_changed(each) for each in waiting])
            self._check_abandoned()  # the call may have hung as long as whoever keeps the log
            self._store.outbox.mark_sent(
                [each.outbox_id for each in waiting], now_us=self._clock.now().wall_us
            )
            if len(waiting) < self._rows_max:
                return added
        self.is_behind = True
        return added

    def _relay_fires(self) -> int:
        if not self._has_changes():
            return 0
        added = 0
        reading = self._store.outbox.begin_reading(RELAY_ID)
        until_us = reading.from_us
        for rows in self._pages(reading):
            found = self._events.publish_reading(
                [fire_state_changed(row) for row in rows], relay_id=RELAY_ID, number=reading.number
            )
            self._check_abandoned()
            if found is None:
                return added  # another relay has begun to tell the same, from later rows
            added += found
            until_us = rows[-1].changed_us
        if not self.is_behind:
            until_us += 1  # nothing of that last instant is left
        self._store.outbox.end_reading(RELAY_ID, reading, until_us=until_us)
        return added

    def _has_changes(self) -> bool:
        """A look without a write: a relay that has nothing to do must not wake other processes."""
        cursor_us = self._store.outbox.cursor(RELAY_ID)
        return cursor_us is None or bool(self._store.history.changed_since(cursor_us, limit=1))

    def _pages(self, reading: ChangeReading) -> Iterator[list[FireRecord]]:
        """Pages of the reading, none of them empty; beyond the limit until an instant is done."""
        from_us = reading.from_us
        after: FireKey | None = None
        count = 0
        while True:
            rows = self._store.history.changed_since(from_us, after=after, limit=self._rows_max)
            if rows:
                yield rows
                from_us, after = rows[-1].changed_us, rows[-1].key
            if len(rows) < self._rows_max:
                return
            count += 1
            if count >= RELAY_PAGES_MAX and from_us > reading.from_us:
                self.is_behind = True
                return


def relay_until(
    stopping: threading.Event, relay: Relay, *, data_version: Callable[[], int]
) -> None:
    """Step until told to stop, whenever somebody has committed something; once more at the end."""
    failures = 0
    while not stopping.is_set():
        try:
            seen = data_version()
            added = relay.step()
            failures = 0
        except PortError as error:
            log.warning("relay_store_unavailable", error=str(error))
            stopping.wait(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
            failures += 1
            continue
        if relay.is_behind and added:
            stopping.wait(_BREATH_S)
            continue
        _wait_for_commit(stopping, data_version, seen)
    with suppress(PortError):
        relay.step()


def _wait_for_commit(stopping: threading.Event, data_version: Callable[[], int], seen: int) -> None:
    """Half a second at least, so that a busy store is read in batches."""
    while not stopping.wait(POLL_S):
        try:
            if data_version() != seen:
                return
        except PortError:
            return
