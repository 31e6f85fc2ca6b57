"""The local decider, stepped by hand on a real store: clock, leases, failures."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from ports.changes import PutTenant, PutTrigger, RunTrigger
from ports.due_index import DueIndexPort
from ports.errors import StoreUnavailable
from ports.records import CommitResult
from ports.store import Store
from punctual.decider import Decider
from scheduling.clock_gate import ClockReading
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, Lane, Origin
from tests.support.manual_clock import ManualClock
from tests.support.store_builders import a_definition, a_tenant, at, put_target

TTL_US = 6 * SECOND_US


class World:
    """A store, its lanes, one clock, and as many deciders as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US, epsilon_us=5_000)
        self.store = open_sqlite_store(
            folder / "store.db",
            payload_keys=TinkPayloadKeys(folder / "keys"),
            now_us=at(0),
            synchronous="OFF",
        )
        self.lane_database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.lanes = LocalLanes(self.lane_database)
        self.store.registry.apply(
            [
                PutTenant(tenant=a_tenant()),
                put_target(),
                PutTrigger(tenant_id="acme", name="minutely", definition=a_definition()),
            ],
            now_us=at(0),
            actor="test",
        )

    def decider(self, owner_id: str = "one", *, store: Store | None = None) -> Decider:
        return Decider(
            store=store or self.store,
            lanes=self.lanes,
            clock=self.clock,
            owner_id=owner_id,
            lease_ttl_us=TTL_US,
        )

    def seconds_to(self, seconds: float) -> None:
        self.clock.advance(at(seconds) - self.clock.wall_us)

    def run(self, *, now_us: int) -> None:
        change = RunTrigger(tenant_id="acme", name="minutely")
        self.store.registry.apply([change], now_us=now_us, actor="test")

    def deliver(self) -> int:
        """Take the next message from the on-time lane; the sequence of its fire."""
        (delivered,) = self.lanes.pull(
            [Lane.ON_TIME], limit=10, now_us=self.clock.wall_us, lease_us=TTL_US
        )
        self.lanes.ack([delivered.handle])
        return delivered.message.key.sequence

    def queued(self) -> int:
        return self.lanes.depth().get(Lane.ON_TIME, 0)

    def actions(self) -> list[str]:
        return [entry.action for entry in self.store.audit.entries(limit=20)]

    def close(self) -> None:
        self.lane_database.close()
        self.store.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def test_step_publishes_what_is_due_and_marks_it_queued(world: World) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(60.005)
    done = decider.step()
    (fire,) = world.store.history.fires(limit=10)
    assert (done.fires, world.queued(), fire.state) == (1, 1, FireState.QUEUED)


def test_step_before_the_clocks_error_has_passed_fires_nothing(world: World) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(60.004999)
    done = decider.step()
    assert (done.fires, world.queued()) == (0, 0)
    assert done.next_us == at(60.005)


def test_step_with_nothing_due_asks_for_a_look_within_a_second(world: World) -> None:
    decider = world.decider()
    world.seconds_to(10)
    done = decider.step()
    assert at(10) < done.next_us <= at(11)


def test_manual_run_goes_with_the_next_step(world: World) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(10)
    assert decider.step().next_us > at(10)
    world.run(now_us=at(10) - 5_000)
    decider.step()
    (fire,) = world.store.history.fires(limit=10)
    assert (fire.origin, fire.state, world.queued()) == (Origin.MANUAL, FireState.QUEUED, 1)
    assert decider.step().next_us > at(10)


def test_manual_run_goes_behind_the_instant_that_was_due_before_it_in_one_step(
    world: World,
) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(60.005)
    world.run(now_us=at(60))
    assert decider.step().next_us > at(60.005)
    assert [world.deliver() for _ in range(2)] == [0, 1]


@pytest.mark.parametrize("size_s", [pytest.param(3, id="forward"), pytest.param(-3, id="back")])
def test_clock_step_stops_decisions_for_ten_seconds_and_is_audited(
    world: World, size_s: int
) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(59)
    decider.step()
    world.clock.step(size_s * SECOND_US)
    assert not decider.step().is_open
    assert "clock_step" in world.actions()
    world.clock.advance(9_900_000)
    assert not decider.step().is_open
    assert world.store.history.fires(limit=10) == []
    world.clock.advance(100_000)
    assert decider.step().is_open
    assert len(world.store.history.fires(limit=10)) == 1


@pytest.mark.expects_error_log
def test_bad_clock_gives_the_leases_up_and_takes_them_back(world: World) -> None:
    decider = world.decider()
    decider.step()
    world.clock.epsilon_us = 100_001
    world.seconds_to(61)
    assert not decider.step().is_open
    assert decider.partitions == 0
    assert {lease.owner_id for lease in world.store.leases.leases()} == {None}
    assert world.store.history.fires(limit=10) == []
    world.clock.epsilon_us = 5_000
    decider.step()
    assert decider.partitions == 256
    assert world.queued() == 1
    assert "clock_bad" in world.actions()


class _SteppingClock(ManualClock):
    """Steps once, at one of its readings: in the middle of a pass."""

    step_at: int = 0

    def now(self) -> ClockReading:
        self.step_at -= 1
        if self.step_at == 0:
            self.wall_us += 10_000 * SECOND_US
        return super().now()


@pytest.mark.parametrize("reading", [1, 2, 3, 4, 5, 6])
def test_clock_step_within_a_pass_repairs_and_decides_nothing_by_the_wrong_time(
    world: World, reading: int
) -> None:
    clock = _SteppingClock(wall_us=at(0), boot_us=SECOND_US)
    world.clock = clock
    decider = world.decider()
    decider.step()
    world.seconds_to(60.005)
    decider.step()
    world.seconds_to(70)
    decider.step()
    (before,) = world.store.history.fires(limit=10)
    clock.step_at = reading
    decider.step()
    decider.step()
    assert world.store.history.fires(limit=10) == [before]


@pytest.mark.expects_error_log
def test_cursor_ahead_of_a_clock_that_was_set_back_is_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    decider = world.decider()
    decider.step()
    world.seconds_to(60.005)
    decider.step()
    world.clock.step(-3_600 * SECOND_US)
    decider.step()
    world.clock.advance(11 * SECOND_US)
    decider.step()
    assert "cursor_ahead" in caplog.text
    assert "2026-03-02T00:01:00Z" in caplog.text


def test_second_owner_takes_over_after_the_lease_and_publishes_what_was_left(
    world: World,
) -> None:
    dead = world.decider("dead")
    dead.step()
    world.seconds_to(58)
    dead.step()
    world.seconds_to(60.005)
    (due,) = world.store.due_index.next_due(range(256))
    epoch = next(x.epoch for x in world.store.leases.leases() if x.partition_id == due)
    # It dies between commit and publish.
    committed = world.store.due_index.commit_due(
        due, epoch, now_us=world.clock.now().earliest_us, row_limit=500
    )
    assert len(committed.ready) == 1
    heir = world.decider("heir")
    heir.step()
    assert heir.partitions == 0
    world.seconds_to(66.5)
    heir.step()
    assert heir.partitions == 256
    assert world.queued() == 1


def test_owner_that_was_away_longer_than_its_lease_is_fenced_not_wrong(world: World) -> None:
    slow, heir = world.decider("slow"), world.decider("heir")
    slow.step()
    heir.step()
    world.seconds_to(50)
    heir.step()
    world.seconds_to(61)
    slow.step()
    heir.step()
    assert len(world.store.history.fires(limit=10)) == 1
    assert slow.partitions + heir.partitions == 256


class _FailingDueIndex(DueIndexPort):
    """Passes on, or fails, as a store that is away does: before or after the transaction."""

    def __init__(self, inner: DueIndexPort) -> None:
        self.inner = inner
        self.fails: str | None = None

    def commit_due(
        self, partition_id: int, epoch: int, *, now_us: int, row_limit: int
    ) -> CommitResult:
        if self.fails == "before":
            raise StoreUnavailable("away")
        result = self.inner.commit_due(partition_id, epoch, now_us=now_us, row_limit=row_limit)
        if self.fails == "after":
            raise StoreUnavailable("away after it was done")
        return result

    def next_due(self, partition_ids: object) -> dict[int, int]:
        return self.inner.next_due(partition_ids)  # type: ignore[arg-type]

    def rebuild(self, *, now_us: int) -> int:
        return self.inner.rebuild(now_us=now_us)

    def pinned_tzdata(self) -> str:
        return self.inner.pinned_tzdata()

    def adopt_tzdata(self, *, now_us: int, actor: str) -> tuple[int, int]:
        return self.inner.adopt_tzdata(now_us=now_us, actor=actor)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_store_failure_decides_nothing_twice_and_nothing_is_lost(world: World, moment: str) -> None:
    failing = _FailingDueIndex(world.store.due_index)
    decider = world.decider(store=replace(world.store, due_index=failing))
    decider.step()
    world.seconds_to(60.005)
    failing.fails = moment
    with pytest.raises(StoreUnavailable):
        decider.step()
    failing.fails = None
    world.seconds_to(66)  # past the age at which the sweep publishes again
    decider.step()
    assert len(world.store.history.fires(limit=10)) == 1
    assert world.queued() == 1


def test_release_lets_another_owner_in_at_once(world: World) -> None:
    first, second = world.decider("first"), world.decider("second")
    first.step()
    assert first.release() == 256
    second.step()
    assert second.partitions == 256
