"""The relay beside a service: what it does, or fails to do, ends nothing else."""

import threading
from collections.abc import Callable
from typing import Final

from adapters.sqlite_database import BUSY_TIMEOUT_S
from ports import log_actions as log
from punctual.relay import Relay, relay_until

_FAILED_S: Final = 5.0  # before another try after a fault of the program
LEAVE_S: Final = BUSY_TIMEOUT_S + 1  # a step that waits for the store ends in time


class RelayThread:
    """Steps a relay on a daemon thread, from `start` to `stop`."""

    def __init__(
        self, relay: Relay, *, data_version: Callable[[], int], leave_s: float = LEAVE_S
    ) -> None:
        self._relay = relay
        self._data_version = data_version
        self._leave_s = leave_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> bool:
        """Publish what there is and end; False if it hangs, and is left behind."""
        self._stopping.set()
        has_ended = self.join(self._leave_s)
        if not has_ended:
            self._relay.abandon()
            log.warning("relay_left_behind", waited_s=self._leave_s)
        return has_ended

    def join(self, timeout_s: float) -> bool:
        """Wait for its end; False if it has not come by then."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        log.info("relay_started")
        while not self._stopping.is_set():
            try:
                relay_until(self._stopping, self._relay, data_version=self._data_version)
            except Exception as error:
                # Followers wait, fires do not: the service goes on.
                log.error("relay_failed", error=repr(error))
                self._stopping.wait(_FAILED_S)
        log.info("relay_stopped")
