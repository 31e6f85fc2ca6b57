"""The one-process host: decider, dispatcher and relay on one data folder, until a signal.

What a newcomer runs, and what a small installation can stay on. Several may share one folder.
"""

import asyncio
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from adapters.attempt_tokens_local import LocalAttemptTokens
from dispatcher.dispatcher import Dispatcher, Finished
from dispatcher.http_delivery import HttpDelivery
from ports import log_actions as log
from ports.errors import PortError, TzdataMismatch
from ports.time_authority import TimeAuthorityPort
from punctual.data_folder import KEYS_FOLDER, DataFolder
from punctual.decider import Decider
from punctual.defaults import IN_FLIGHT
from punctual.relay import Relay
from punctual.relay_thread import RelayThread
from scheduling.instants import SECOND_US
from scheduling.limits import LEASE_TTL_S_DEFAULT

_SLICE_S: Final = 0.1  # how long another process's edit may go unnoticed
_STOPS: Final = (signal.SIGTERM, signal.SIGINT)
_BACKOFF_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """How one process runs. `owner_id` names it, and no other process, in leases and audit."""

    lease_ttl_s: float = LEASE_TTL_S_DEFAULT
    in_flight_max: int = IN_FLIGHT
    allow_loopback: bool = True
    owner_id: str = field(default_factory=lambda: _new_owner_id())


def _new_owner_id() -> str:
    # Host and process are for people: containers share both, a name and process 1.
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


class LocalService:
    """Runs all three; `stop` from any thread, or by a signal inside `signals`."""

    def __init__(
        self,
        folder: DataFolder,
        clock: TimeAuthorityPort,
        *,
        settings: LocalSettings,
        watch: Callable[[Finished], None] | None = None,
        on_stopping: Callable[[], None] | None = None,
        on_hangup: Callable[[], None] | None = None,
        on_first_pass: Callable[[], None] | None = None,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._settings = settings
        self._watch = watch
        self._on_stopping = on_stopping
        self._on_hangup = on_hangup
        self._on_first_pass = on_first_pass
        self._decider = Decider(
            store=folder.store,
            lanes=folder.lanes,
            clock=clock,
            owner_id=settings.owner_id,
            lease_ttl_us=round(settings.lease_ttl_s * SECOND_US),
        )
        self._attempt_tokens = LocalAttemptTokens(folder.path / KEYS_FOLDER)
        self._stopping = threading.Event()
        self._failure: BaseException | None = None

    def stop(self) -> None:
        """Ask the service to drain and end."""
        self._stopping.set()

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Inside it SIGTERM and SIGINT stop the service, and SIGHUP calls `on_hangup`.

        What comes before the loop turns waits until then. A second SIGTERM or SIGINT ends the
        process as it would without this: the claims of what is in flight expire.
        """
        loop = asyncio.get_running_loop()

        def stop() -> None:
            self.stop()
            for signum in _STOPS:
                loop.remove_signal_handler(signum)
            if self._on_stopping is not None:
                self._on_stopping()

        for signum in _STOPS:
            loop.add_signal_handler(signum, stop)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, loop)
        try:
            yield
        finally:
            for signum in (*_STOPS, signal.SIGHUP):
                loop.remove_signal_handler(signum)

    async def run(self) -> None:
        """Until stopped: then no new decisions, attempts in flight end, leases are released.

        Raises what made the decider fail, if anything did.
        """
        log.info("service_started", owner_id=self._settings.owner_id)
        stop = asyncio.Event()
        decider = threading.Thread(target=self._decide_until_stopped, name="decider")
        decider.start()
        relay = RelayThread(
            Relay(self._folder.store, self._folder.events, self._clock),
            data_version=self._folder.store.data_version,
        )
        relay.start()
        try:
            async with HttpDelivery(allow_loopback=self._settings.allow_loopback) as delivery:
                dispatcher = Dispatcher(
                    ledger=self._folder.store.ledger,
                    lanes=self._folder.lanes,
                    clock=self._clock,
                    deliverer=delivery,
                    attempt_tokens=self._attempt_tokens,
                    in_flight_max=self._settings.in_flight_max,
                    watch=self._watch,
                )
                running = asyncio.create_task(dispatcher.run(stop))
                ended = asyncio.create_task(asyncio.to_thread(decider.join))
                await asyncio.wait((running, ended), return_when=asyncio.FIRST_COMPLETED)
                self.stop()
                await ended
                stop.set()
                await running
        finally:
            self.stop()
            decider.join()
            # Last of all: it still publishes how the attempts ended.
            relay.stop()
        log.info("service_stopped")
        if self._failure is not None:
            raise self._failure

    def _hang_up(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._on_hangup is not None:
            loop.run_in_executor(None, self._on_hangup)

    def _decide_until_stopped(self) -> None:
        try:
            self._step_until_stopped()
        except Exception as error:
            # A decider that cannot go on must not leave half a service running.
            self._failure = error
        log.info("service_stopping")
        with suppress(PortError):
            self._decider.release()
        self.stop()

    def _step_until_stopped(self) -> None:
        failures = 0
        first = True
        while not self._stopping.is_set():
            try:
                done = self._decider.step()
                failures = 0
            except TzdataMismatch as error:
                log.warning("tzdata_mismatch", error=str(error))
                raise
            except PortError as error:
                log.warning("store_unavailable", error=str(error))
                self._stopping.wait(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
                failures += 1
                continue
            if first and done.is_open and self._decider.partitions:
                first = False
                if self._on_first_pass is not None:
                    self._on_first_pass()
            self._sleep_until(done.next_us)

    def _sleep_until(self, wall_us: int) -> None:
        """Until the time has come, somebody else has committed something, or the end."""
        seen = self._data_version()
        while not self._stopping.is_set():
            left_s = (wall_us - self._clock.now().wall_us) / SECOND_US
            if left_s <= 0:
                return
            self._stopping.wait(min(left_s, _SLICE_S))
            if left_s > _SLICE_S and self._data_version() != seen:
                return

    def _data_version(self) -> int:
        try:
            return self._folder.store.data_version()
        except PortError:
            return -1
