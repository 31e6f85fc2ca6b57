"""What the decider counts: fences, and how soon it saw a change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.lanes_local import LocalLanes
from adapters.sqlite_database import SqliteDatabase
from control_api.exposition import Exposition
from ports.changes import PutTenant
from ports.errors import StoreUnavailable
from ports.store import Store
from punctual.decider import Decider
from scheduling.instants import SECOND_US
from tests.contract.factories import SqliteHarness
from tests.support.faulty_store import faulty_store
from tests.support.hand_crank import HandCrank
from tests.support.manual_clock import ManualClock
from tests.support.metrics_page import values_of
from tests.support.store_builders import a_tenant, at, put_target

SEEN = "punctual_definition_propagation_seconds_count"
SUM_S = "punctual_definition_propagation_seconds_sum"


class Watched:
    """A store, one clock for everybody, and deciders that are stepped."""

    def __init__(self, folder: Path) -> None:
        self.harness = SqliteHarness(folder)
        self.crank = HandCrank(self.harness.open())
        self.lane_database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US)
        self.page = Exposition(lambda: ())
        self.crank.store.registry.apply(
            [PutTenant(tenant=a_tenant()), put_target()],
            now_us=at(0),
            actor="test",
        )

    def decider(self, owner_id: str = "one", *, store: Store | None = None) -> Decider:
        return Decider(
            store=store or self.crank.store,
            lanes=LocalLanes(self.lane_database),
            clock=self.clock,
            owner_id=owner_id,
            lease_ttl_us=6 * SECOND_US,
        )

    def to(self, seconds: float) -> None:
        self.clock.advance(at(seconds) - self.clock.wall_us)
        self.crank.to(seconds)

    def value(self, name: str) -> float:
        return values_of(self.page).get(name, 0)

    def close(self) -> None:
        self.page.close()
        self.lane_database.close()
        self.harness.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.close()


def test_propagation_is_the_time_until_the_owner_looked(watched: Watched) -> None:
    decider = watched.decider()
    decider.step()
    watched.to(10)
    watched.crank.put("a")
    watched.to(10.5)
    watched.crank.put("b")
    watched.to(11)
    decider.step()
    assert (watched.value(SEEN), watched.value(SUM_S)) == (2, 1.5)
    watched.to(12)
    decider.step()
    assert watched.value(SEEN) == 2


def test_propagation_counts_no_change_from_before_the_decider_began(watched: Watched) -> None:
    watched.crank.put("a")
    watched.to(100)
    decider = watched.decider()
    decider.step()
    decider.step()
    assert watched.value(SEEN) == 0


def test_propagation_of_a_change_is_told_by_its_owner_alone(watched: Watched) -> None:
    owner, other = watched.decider("owner"), watched.decider("other")
    owner.step()
    other.step()
    watched.to(0.5)
    watched.crank.put("a")
    watched.to(1.5)
    other.step()
    assert watched.value(SEEN) == 0
    owner.step()
    assert (watched.value(SEEN), watched.value(SUM_S)) == (1, 1)


@pytest.mark.parametrize("fails", ["signals.newest_change_id", "signals.changes_after"])
def test_propagation_that_cannot_be_read_keeps_nobody_from_deciding(
    watched: Watched, fails: str
) -> None:
    def intercept(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if name == fails:
            raise StoreUnavailable("away")
        return call()

    decider = watched.decider(store=faulty_store(watched.crank.store, intercept))
    decider.step()
    watched.crank.put("a")
    watched.to(60.005)
    assert decider.step().fires == 1


def test_commit_of_a_partition_that_another_took_counts_as_fenced(watched: Watched) -> None:
    def take_over(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if name == "due_index.commit_due_many":
            store.leases.release("one", now_us=watched.clock.wall_us)
            store.leases.heartbeat(
                "heir", now_us=watched.clock.wall_us, ttl_us=6 * SECOND_US, epsilon_us=0
            )
        return call()

    store = watched.crank.store
    watched.crank.put("a")
    decider = watched.decider(store=faulty_store(store, take_over))
    decider.step()
    watched.to(60.005)
    assert decider.step().fires == 0
    assert watched.value("punctual_commits_fenced_total") == 1
