"""Readiness: whether the service can commit and decide, and what it says when it cannot."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from control_api.readiness import Check, Readiness, readiness
from control_api.signals import ClockWatch
from ports.errors import StoreUnavailable
from ports.store import Store
from scheduling.instants import SECOND_US
from scheduling.zones import tzdata_version
from tests.contract.factories import SqliteHarness
from tests.support.faulty_store import faulty_store
from tests.support.hand_crank import HandCrank
from tests.support.manual_clock import ManualClock
from tests.support.store_builders import at


class Ready:
    """A store whose partitions are all held, and somebody who asks whether it is ready."""

    def __init__(self, folder: Path) -> None:
        self.harness = SqliteHarness(folder)
        self.crank = HandCrank(self.harness.open()).begin()
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US)
        self.watch = ClockWatch(self.crank.store.history, self.clock)

    def ask(self, store: Store | None = None, **changes: Any) -> Readiness:
        return readiness(store or self.crank.store, self.watch, **changes)


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Ready]:
    made = Ready(tmp_path)
    yield made
    made.harness.close()


def _failed(found: Readiness) -> list[Check]:
    return [check for check in found.checks if not check.ok]


def test_readiness_of_a_service_that_can_do_its_work_is_true(ready: Ready) -> None:
    found = ready.ask()
    assert found.is_ready
    assert found.checks == (
        Check("commit", True, "a write was committed"),
        Check("tzdata", True, f"tzdata {tzdata_version()} is installed and pinned"),
        Check("clock", True, "error bound 5 ms"),
        Check("leases", True, "all 256 partitions have a living owner"),
        Check("cursors", True, "no trigger is decided beyond the present time"),
    )


def _let_leases_run_out(ready: Ready) -> None:
    ready.clock.advance(60 * SECOND_US)


def _release(ready: Ready) -> None:
    ready.crank.store.leases.release("crank", now_us=at(0))


def _make_the_clock_uncertain(ready: Ready) -> None:
    ready.clock.epsilon_us = 100_001


def _step_the_clock(ready: Ready) -> None:
    ready.ask()
    ready.clock.step(3 * SECOND_US)


@pytest.mark.parametrize(
    ("happens", "name", "detail"),
    [
        (_let_leases_run_out, "leases", "256 of 256 partitions have no living owner (0-255)"),
        (_release, "leases", "no decider runs, or it hangs"),
        (_make_the_clock_uncertain, "clock", "error bound 100.001 ms: over 100 ms nothing"),
        (_step_the_clock, "clock", "the clock was set less than ten seconds ago"),
    ],
)
def test_readiness_fails_with_what_a_decision_needs(
    ready: Ready, happens: Callable[[Ready], None], name: str, detail: str
) -> None:
    happens(ready)
    found = ready.ask()
    assert not found.is_ready
    (failed,) = _failed(found)
    assert failed.name == name
    assert detail in failed.detail


def test_readiness_comes_back_ten_seconds_after_a_step(ready: Ready) -> None:
    _step_the_clock(ready)
    assert not ready.ask().is_ready
    ready.clock.advance(10 * SECOND_US)
    assert ready.ask().is_ready


def test_readiness_with_other_zone_data_than_the_pinned_fails(ready: Ready) -> None:
    (failed,) = _failed(ready.ask(tzdata="1999z"))
    assert failed.name == "tzdata"
    assert "this process has 1999z" in failed.detail
    assert "punctual tzdata adopt" in failed.detail


@pytest.mark.parametrize(
    ("fails", "failed"),
    [
        ("signals.prove_commit", "commit"),
        ("due_index.pinned_tzdata", "tzdata"),
        ("leases.leases", "leases"),
    ],
)
def test_readiness_with_a_store_that_fails_says_so_and_looks_at_the_rest(
    ready: Ready, fails: str, failed: str
) -> None:
    def intercept(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if name == fails:
            raise StoreUnavailable("the disk is full")
        return call()

    found = ready.ask(faulty_store(ready.crank.store, intercept))
    assert _failed(found) == [Check(failed, False, "the disk is full")]
    assert len(found.checks) == 5


def test_readiness_tells_cursors_ahead_and_does_not_fail_for_them(ready: Ready) -> None:
    ready.crank.put()
    ready.crank.commit_at(3_600)
    found = ready.ask()
    assert found.is_ready
    assert found.checks[-1].detail == (
        "1 triggers are decided beyond the present time, by a clock that ran ahead: "
        "the last is silent until 2026-03-02T01:00:00Z"
    )


def test_readiness_with_cursors_that_cannot_be_read_says_so(ready: Ready) -> None:
    class Away:
        """A history that does not answer."""

        def decided_ahead(self, now_us: int) -> None:
            raise StoreUnavailable("away")

    ready.watch = ClockWatch(Away(), ready.clock)  # type: ignore[arg-type]
    found = ready.ask()
    assert found.is_ready
    assert found.checks[-1] == Check("cursors", True, "not read: away")
