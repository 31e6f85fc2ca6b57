"""The relay beside a service: its loop, its faults, and how it is left behind."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ports.errors import StoreUnavailable
from punctual import relay as relay_module
from punctual.relay import Relay, relay_until
from punctual.relay_thread import RelayThread
from tests.support.definitions import a_trigger
from tests.support.relays import RelayedService, relayed_service

WAIT_S = 30.0  # nothing waits this long unless it has failed


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RelayedService]:
    with relayed_service(tmp_path) as made:
        yield made


class Stopping(threading.Event):
    """Notes how long the loop would have waited, and lets it wait no longer than a look."""

    def __init__(self, *, waits_max: int) -> None:
        super().__init__()
        self.waits: list[float] = []
        self._waits_max = waits_max

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        if len(self.waits) >= self._waits_max:
            self.set()
        return self.is_set()


class Blocking:
    """Holds every call of `events.publish` until it is let go."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, name: str, call: Any, arguments: dict[str, Any]) -> Any:
        self.calls.append(name)
        if name == "events.publish":
            self.entered.set()
            assert self.let_go.wait(WAIT_S)
        return call()


def test_relay_loop_backs_off_while_the_store_is_away(world: RelayedService) -> None:
    world.service.apply(a_trigger("one"))
    left = [StoreUnavailable("busy")] * 7

    def fail(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if left:
            raise left.pop()
        return call()

    stopping = Stopping(waits_max=8)
    relay_until(stopping, world.relay(fail), data_version=world.store.data_version)
    assert stopping.waits == [0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0, relay_module.POLL_S]
    assert len(world.events("TriggerChanged")) == 1


def test_relay_loop_steps_again_only_after_a_commit(world: RelayedService) -> None:
    steps: list[int] = []
    versions = iter([1, 1, 1, 2, 2, 2, 2])

    def note(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if name == "outbox.pending":
            steps.append(len(steps))
        return call()

    stopping = Stopping(waits_max=5)
    relay_until(stopping, world.relay(note), data_version=lambda: next(versions))
    # At the start, after the commit that its third look saw, and once more at the end.
    assert len(steps) == 3


def test_relay_loop_goes_on_at_once_but_not_breathless_when_more_waits(
    world: RelayedService,
) -> None:
    world.service.apply(*(a_trigger(f"job-{number}") for number in range(10)))
    stopping = Stopping(waits_max=4)
    relay_until(stopping, world.relay(rows_max=1), data_version=world.store.data_version)
    assert len(world.events("TriggerChanged")) == 10
    assert stopping.waits[:2] == [0.1, 0.1]
    assert stopping.waits[2] == relay_module.POLL_S


def test_relay_thread_publishes_what_there_is_when_it_stops(world: RelayedService) -> None:
    thread = RelayThread(world.relay(), data_version=world.store.data_version)
    world.service.apply(a_trigger("one"))
    thread.start()
    assert thread.stop()
    assert len(world.events("TriggerChanged")) == 1


@pytest.mark.expects_error_log
def test_relay_thread_survives_a_fault_and_tries_again(
    world: RelayedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punctual.relay_thread._FAILED_S", 0.0)
    published = threading.Event()
    left = [ZeroDivisionError("a fault")] * 2

    def fail(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if left:
            raise left.pop()
        result = call()
        if name == "outbox.mark_sent":
            published.set()
        return result

    world.service.apply(a_trigger("one"))
    thread = RelayThread(world.relay(fail), data_version=world.store.data_version)
    thread.start()
    assert published.wait(WAIT_S)
    assert thread.stop()
    assert len(world.events("TriggerChanged")) == 1


def test_relay_thread_that_hangs_is_left_behind(world: RelayedService) -> None:
    world.service.apply(a_trigger("one"))
    blocking = Blocking()
    relay: Relay = world.relay(blocking)
    thread = RelayThread(relay, data_version=world.store.data_version, leave_s=0.0)
    thread.start()
    assert blocking.entered.wait(WAIT_S)
    assert not thread.stop()
    # Another one publishes what it held.
    world.catch_up()
    assert len(world.events("TriggerChanged")) == 1
    blocking.let_go.set()
    assert thread.join(WAIT_S)
    assert blocking.calls[-1] == "events.publish"  # the store may be closed by now
    assert len(world.events("TriggerChanged")) == 1
