"""The stage of a page: a folder, a clock, a service cranked by hand, and a target that answers.

Commands run in this process as the program that a person installs: they read the stage's clock,
and reach the API of a service that runs on the stage's folder, or bring the API along where none
does. `punctual up` is the real command, but the service that it starts is the hand-cranked one, so
nothing waits for anything: time passes only where a cue says so.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from typing import Any, Final

import adapters.clock_fixed
import punctual.actor
import punctual.client
import punctual.commands.follow
import punctual.commands.status
import punctual.commands.up
import punctual.commands.up_service
from control_api.app import create_app
from control_api.health import Health
from control_api.services import ApiSettings
from punctual.api_host import services_of
from punctual.credentials import ensure_local_token
from punctual.data_folder import STORE_FILE, DataFolder, open_data_folder
from punctual.local_files import ToldServer, forget_server, tell_server
from punctual.relay import Relay
from punctual.transports import Answer, AppTransport, NoAnswer
from scheduling.instants import SECOND_US
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import Answer as TargetAnswer
from tests.support.service import EPSILON_US, Service

TOLD: Final = ToldServer("http://127.0.0.1:8400", "the-stage")
DATA: Final = ".punctual"
_YOU: Final = SimpleNamespace(pw_name="you")
# A server that works takes its time, so that no page shows an answer after 0 ms.
ANSWERED: Final = TargetAnswer(after_us=38_000, lasts_us=None)


@dataclass(slots=True)
class Stage:
    """`folder` is where the commands of the page run; `clock` is true and shared by all."""

    folder: Path
    clock: ManualClock
    follow_until_us: int | None = None
    service: Service | None = None
    running: str | None = None
    app: AppTransport | None = None
    relay: Relay | None = None
    answer: TargetAnswer = ANSWERED
    starts: int = 0
    on_close: ExitStack = field(default_factory=ExitStack)

    @property
    def data(self) -> Path:
        return self.folder / DATA

    @property
    def now_us(self) -> int:
        return self.clock.wall_us

    def to(self, until_us: int) -> None:
        """Let time pass, with everything that falls due on the way."""
        assert until_us >= self.now_us, "time passes forwards"
        if self.service is not None:
            self.service.advance_to(until_us)
        self.clock.advance(until_us - self.now_us)
        if self.relay is not None:
            self.relay.step()

    def start(self) -> None:
        """What `punctual up` starts, beside the API: somebody decides and sends."""
        assert self.running is None, "it runs already"
        if self.service is None:
            self.service = Service(self.data, self.now_us, is_empty=True, store_file=STORE_FILE)
            self.service.target.script = lambda fire: self.answer
            self.on_close.callback(self.service.close)
        self.starts += 1
        self.running = f"host-{self.starts}"
        self.service.start(self.running)

    def stop(self) -> None:
        """As Ctrl-C stops `punctual up`."""
        if self.service is not None and self.running is not None:
            self.service.stop(self.running)
        forget_server(self.data, TOLD)
        self.app = self.relay = self.running = None

    def die(self) -> None:
        """As the machine loses its power."""
        if self.service is not None and self.running is not None:
            self.service.kill(self.running)
        self.app = self.relay = self.running = None

    def serve(self, folder: DataFolder) -> Any:
        """Serve the API of the folder; what stands for the server."""
        served = open_data_folder(folder.path, create=False)
        services = services_of(
            served, self.clock, settings=ApiSettings(allow_loopback=True, instance=TOLD.instance)
        )
        ensure_local_token(folder.path, served.store, now_us=self.now_us)
        health = Health(services)
        self.app = AppTransport(create_app(services, health=health), close=lambda: None)
        for close in (served.close, health.close, self.app.close):
            self.on_close.callback(close)
        self.relay = Relay(served.store, served.events, self.clock)
        tell_server(folder.path, TOLD)
        return SimpleNamespace(url=TOLD.url, services=services)

    def send(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """One request to the API that is served; NoAnswer where none is."""
        if self.app is None:
            raise NoAnswer("Connection refused", was_sent=False)
        return self.app.send(method, target, body=body, headers=headers)

    def follow(self, duration_s: float) -> None:
        """The sleep of a command that follows: time passes, and Ctrl-C ends it at its time."""
        assert self.follow_until_us is not None, "say how long with a cue `follow until`"
        if self.now_us >= self.follow_until_us:
            self.follow_until_us = None
            raise KeyboardInterrupt
        self.to(self.now_us + round(duration_s * SECOND_US))


class _HandCranked:
    """In place of the one-process service: it starts the stage's, and leaves it running."""

    def __init__(self, stage: Stage, on_first_pass: Callable[[], None]) -> None:
        self._stage = stage
        self._on_first_pass = on_first_pass

    def signals(self) -> Any:
        return nullcontext()

    async def run(self) -> None:
        self._stage.start()
        self._on_first_pass()
        raise SystemExit(0)  # the page shows what `up` says while it goes on running


class _Network:
    """In place of a connection: the stage answers."""

    def __init__(self, stage: Stage) -> None:
        self.send = stage.send

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def staged(folder: Path, *, starts_us: int) -> Iterator[Stage]:
    """A stage in an empty folder; all commands of this process play on it until the block ends."""
    stage = Stage(folder, ManualClock(starts_us, starts_us, 0))
    up, follow = punctual.commands.up_service, punctual.commands.follow

    @contextmanager
    def serving(data_folder: DataFolder, *_: Any, **__: Any) -> Iterator[Any]:
        yield stage.serve(data_folder)

    def service(*_: Any, on_first_pass: Callable[[], None], **__: Any) -> _HandCranked:
        return _HandCranked(stage, on_first_pass)

    with ExitStack() as undo:
        undo.enter_context(chdir(folder))
        undo.enter_context(_in_utc())
        for place, name, stand_in in (
            (adapters.clock_fixed, "FixedClock", lambda **_: stage.clock),
            (punctual.commands.up, "listening", lambda *_, **__: socket()),
            (up, "FixedClock", lambda **_: ManualClock(stage.now_us, stage.now_us, EPSILON_US)),
            (up, "serving", serving),
            (up, "LocalService", service),
            (punctual.actor, "pwd", SimpleNamespace(getpwuid=lambda _: _YOU)),
            (follow, "time", SimpleNamespace(sleep=stage.follow)),
            (punctual.client, "NetworkTransport", lambda *_, **__: _Network(stage)),
            (punctual.commands.status, "NetworkTransport", lambda *_, **__: _Network(stage)),
        ):
            undo.enter_context(_replaced(place, name, stand_in))
        undo.callback(stage.on_close.close)
        yield stage


@contextmanager
def _replaced(place: Any, name: str, stand_in: Any) -> Iterator[None]:
    before = getattr(place, name)
    setattr(place, name, stand_in)
    try:
        yield
    finally:
        setattr(place, name, before)


@contextmanager
def _in_utc() -> Iterator[None]:
    """`up` tells times of the machine's zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
