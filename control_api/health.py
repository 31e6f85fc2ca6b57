"""Health of one process: what probes and scrapes read, held beside the services."""

import threading
from collections.abc import Iterable

from control_api.exposition import Exposition
from control_api.readiness import Readiness, readiness
from control_api.services import Services
from control_api.signals import ClockWatch, Sample, store_signals
from scheduling.limits import READINESS_KEPT_US


class Health:
    """Readiness and metrics of the process. Thread-safe; close it to stop counting."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._watch = ClockWatch(services.store.history, services.clock)
        self._exposition = Exposition(self._signals)
        self._lock = threading.Lock()
        self._looked: tuple[int, Readiness] | None = None

    def readiness(self) -> Readiness:
        """Whether the service can decide and commit now, or could a second ago.

        A look commits a write, and anybody may ask: so it is taken once for all who ask together.
        """
        with self._lock:
            boot_us = self._services.clock.now().boot_us
            if self._looked is not None and boot_us - self._looked[0] < READINESS_KEPT_US:
                return self._looked[1]
            found = readiness(self._services.store, self._watch)
            self._looked = boot_us, found
            return found

    def metrics_text(self) -> tuple[bytes, str]:
        """The page for Prometheus and its content type."""
        return self._exposition.metrics_text()

    def close(self) -> None:
        """Count nothing any more."""
        self._exposition.close()

    def _signals(self) -> Iterable[Sample]:
        return store_signals(self._services.store, self._services.lanes, self._watch)
