"""A decider that is up and hangs: the one failure that no other number shows.

It hangs on a thread of its own inside the rules, in the middle of its transaction, as it would in
the one-process service; the page and readiness are read on another thread of that process.
"""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from adapters import store_sqlite_commit
from control_api import readiness as readiness_module
from control_api.exposition import Exposition
from control_api.readiness import readiness
from control_api.signals import ClockWatch, store_signals
from scheduling.decide import decide
from scheduling.instants import SECOND_US, from_text
from tests.support.definitions import a_trigger
from tests.support.metrics_page import Values, values_of
from tests.support.service import Service

START: Final = "2026-03-02T10:00:30Z"
AGE: Final = "punctual_oldest_undispatched_due_age_seconds"
WAIT_S: Final = 60.0


class HangingRules:
    """Stands before `decide`: the thread that calls it stays there until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()

    def __call__(self, *arguments: Any) -> Any:
        self.entered.set()
        if not self.go.wait(WAIT_S):
            raise TimeoutError("the test never let the decider go")
        return decide(*arguments)


class Watched:
    """The one-process service cranked by hand, and its API's view of it."""

    def __init__(self, folder: Path) -> None:
        self.service = Service(folder, from_text(START))
        self.service.apply(a_trigger("minutely"))
        self.engine = self.service.start()
        self.watch = ClockWatch(self.service.store.history, self.engine.clock)
        self.page = Exposition(
            partial(store_signals, self.service.store, self.engine.lanes, self.watch)
        )

    def pass_s(self, seconds: float) -> None:
        """Time passes for everybody, whoever hangs."""
        self.engine.clock.advance(round(seconds * SECOND_US))
        self.service.now_us = self.engine.clock.wall_us

    def values(self) -> Values:
        return values_of(self.page)

    def failed(self) -> dict[str, str]:
        found = readiness(self.service.store, self.watch)
        return {check.name: check.detail for check in found.checks if not check.ok}

    def close(self) -> None:
        self.page.close()
        self.service.close()


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(readiness_module, "COMMIT_WAIT_S", 0.01)
    made = Watched(tmp_path)
    yield made
    made.close()


def test_decider_that_hangs_shows_in_the_oldest_due_age_and_in_readiness(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.service.advance_to("2026-03-02T10:01:10Z")
    assert (watched.values()[AGE], watched.failed()) == (0, {})
    watched.service.advance_to("2026-03-02T10:01:59Z")

    rules = HangingRules()
    monkeypatch.setattr(store_sqlite_commit, "decide", rules)
    watched.pass_s(1.005)
    hung = threading.Thread(target=watched.engine.look)
    hung.start()
    assert rules.entered.wait(WAIT_S)
    try:
        ages, leased = [], []
        for seconds in (0, 3, 57, 10):
            watched.pass_s(seconds)
            values = watched.values()
            ages.append(values[AGE])
            leased.append(values["punctual_partitions_leased"])
            assert values["punctual_store_up"] == 1
        failed = watched.failed()
    finally:
        rules.go.set()
        hung.join(WAIT_S)
    assert ages == [0.005, 3.005, 60.005, 70.005]
    assert leased == [256, 256, 0, 0]
    assert failed.keys() == {"commit", "leases"}
    assert "another thread of this process holds the store" in failed["commit"]
    assert "it hangs" in failed["leases"]

    # It was slow, not wrong: what it decided counts, and everything goes on.
    assert not hung.is_alive()
    watched.service.settle()
    assert (watched.values()[AGE], watched.failed()) == (0, {})
    assert len(watched.service.fires("minutely")) == 3


def test_decider_that_hangs_outside_a_transaction_fails_readiness_by_its_leases(
    watched: Watched,
) -> None:
    watched.service.advance_to("2026-03-02T10:01:59Z")
    watched.pass_s(5)
    assert watched.failed() == {}
    watched.pass_s(2)
    assert watched.failed().keys() == {"leases"}
    assert watched.values()[AGE] == 6


def test_api_without_a_decider_in_its_process_shows_the_store_alone(watched: Watched) -> None:
    """A stand-alone API: nothing is counted, everything is read."""
    watched.pass_s(100)
    values = watched.values()
    assert values[AGE] == 70
    assert values["punctual_commits_fenced_total"] == 0
    assert not any("attempts_total" in name or "decided" in name for name in values)
