"""The relay as a process, and beside a service that must not notice what becomes of it."""

import asyncio
import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.clock_fixed import FixedClock
from ports.changes import PutTarget, PutTrigger
from ports.events import Event, EventsPort, KeptEvents, PublishedEvent
from punctual.data_folder import DataFolder, open_data_folder
from punctual.local import LocalService, LocalSettings
from scheduling.vocabulary import OwnershipState
from tests.e2e.conftest import Start
from tests.support.definitions import TARGET, TENANT, a_definition, a_tenant
from tests.support.http_receiver import SECRET, HttpReceiver
from tests.support.published_events import all_events
from tests.support.service_process import WAIT_S, run_punctual, wait_until
from tests.support.store_builders import a_target

CLOCK = FixedClock()
STOPS = pytest.mark.parametrize(
    "signum", [signal.SIGTERM, signal.SIGINT], ids=["sigterm", "ctrl_c"]
)


class HangingEvents(EventsPort):
    """A log that never answers, until it is let go."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def publish(self, events: Sequence[Event]) -> int:
        self.asked.set()
        self.let_go.wait(2 * WAIT_S)
        return 0

    def publish_reading(self, events: Sequence[Event], *, relay_id: str, number: int) -> int | None:
        return self.publish(events)

    def read(self, *, after: int, limit: int) -> list[PublishedEvent]:
        return []

    def kept(self) -> KeptEvents:
        return KeptEvents()


@pytest.fixture
def folder(data: Path, receiver: HttpReceiver) -> Iterator[DataFolder]:
    """A data folder with a target that listens."""
    opened = open_data_folder(data, create=True)
    target = replace(a_target(TENANT), target_id=TARGET, endpoint=receiver.url(), secret=SECRET)
    opened.store.registry.apply(
        [a_tenant(), PutTarget(target=target, ownership=OwnershipState.LOCAL)],
        now_us=CLOCK.now().earliest_us,
        actor="test",
    )
    yield opened
    opened.close()


def put(folder: DataFolder, name: str, schedule: str) -> None:
    folder.store.registry.apply(
        [PutTrigger(tenant_id=TENANT, name=name, definition=a_definition(schedule))],
        now_us=CLOCK.now().earliest_us,
        actor="test",
    )


@contextmanager
def running(folder: DataFolder) -> Iterator[LocalService]:
    """Decider, dispatcher and relay of this process; stopped and joined at the end."""
    service = LocalService(folder, CLOCK, settings=LocalSettings())
    thread = threading.Thread(target=lambda: asyncio.run(service.run()))
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


@STOPS
def test_relay_process_publishes_until_a_signal(
    folder: DataFolder, start: Start, signum: signal.Signals
) -> None:
    put(folder, "one", "0 0 1 1 *")
    relay = start(verb="relay")
    relay.wait_for_err("Publishing events")
    wait_until(lambda: len(all_events(folder.events)) == 1, "the first event")
    put(folder, "two", "0 0 1 1 *")
    wait_until(lambda: len(all_events(folder.events)) == 2, "what came while it waited")
    assert relay.stop(signum) == 0
    assert relay.err[-1] == "Stopped: what changes from now on waits in the store."
    put(folder, "three", "0 0 1 1 *")
    assert len(all_events(folder.events)) == 2
    assert run_punctual("relay", "--once", "--data", folder.path).stdout == "Published 1 event.\n"


def test_relay_process_killed_at_any_time_is_followed_by_another(
    folder: DataFolder, start: Start
) -> None:
    names = [f"job-{number}" for number in range(6)]
    for name in names:
        put(folder, name, "0 0 1 1 *")
        relay = start(verb="relay")
        relay.wait_for_err("Publishing events")
        relay.kill()
    assert run_punctual("relay", "--once", "--data", folder.path).returncode == 0
    told = [json.loads(event.body)["name"] for event in all_events(folder.events)]
    assert told == names


def test_service_publishes_what_it_does_up_to_its_end(
    folder: DataFolder, receiver: HttpReceiver
) -> None:
    put(folder, "tick", "* * * * * *")
    with running(folder):
        wait_until(lambda: len(receiver.of("tick")) >= 2, "two fires")
    bodies = [json.loads(event.body) for event in all_events(folder.events)]
    told = {body["fire_key"]: body["state"] for body in bodies if "fire_key" in body}
    stored = folder.store.history.fires(tenant_id=TENANT, limit=100)
    assert told == {str(fire.key): fire.state.value for fire in stored}
    assert receiver.keys("tick") <= told.keys()


def test_service_decides_and_ends_beside_a_relay_that_hangs(
    folder: DataFolder, receiver: HttpReceiver
) -> None:
    put(folder, "tick", "* * * * * *")
    events = HangingEvents()
    with running(replace(folder, events=events)):
        assert events.asked.wait(WAIT_S)
        seen = len(receiver.of("tick"))
        wait_until(lambda: len(receiver.of("tick")) >= seen + 3, "fires go on")
    events.let_go.set()
    assert {fire.state.value for fire in folder.store.history.fires(limit=100)} == {"accepted"}
