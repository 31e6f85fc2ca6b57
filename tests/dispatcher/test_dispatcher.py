"""The dispatcher on a real store and lanes, with a deliverer that the test holds in its hand."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from dispatcher import dispatcher as module
from dispatcher.dispatcher import Dispatcher
from dispatcher.envelope import Delivery
from dispatcher.http_delivery import DeliveryResult
from ports.changes import PutTenant, PutTrigger
from ports.errors import StoreUnavailable
from ports.ledger import LedgerPort
from ports.records import (
    ClaimedFire,
    ClaimRequest,
    FinishRequest,
    FinishResult,
    LaneMessage,
)
from ports.store import Store
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.vocabulary import FireState, TransportResult
from tests.support.manual_clock import ManualClock
from tests.support.store_builders import TENANT, a_definition, a_tenant, at, put_target, since_start

OK = DeliveryResult(TransportResult.RESPONSE, http_status=200)
WAIT_S = 10.0


@dataclass
class Held:
    """Deliveries stay until the test lets them go; `sent` says whether their headers went out."""

    result: DeliveryResult = OK
    sends: bool = True
    begun: list[float] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def deliver(
        self, delivery: Delivery, *, on_sent: Callable[[], None] | None = None
    ) -> DeliveryResult:
        self.begun.append(since_start(delivery.scheduled_instant_us))
        if self.sends and on_sent is not None:
            on_sent()
        await self.go.wait()
        return self.result


class Bench:
    """A trigger that is due every second, its fires committed and on the lane."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US)
        self.store: Store = open_sqlite_store(
            folder / "store.db",
            payload_keys=TinkPayloadKeys(folder / "keys"),
            now_us=at(0),
            synchronous="OFF",
        )
        self.database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.lanes = LocalLanes(self.database)
        every_second = a_definition(recurrence=("* * * * * *",))
        self.store.registry.apply(
            [
                PutTenant(tenant=a_tenant()),
                put_target(),
                PutTrigger(tenant_id=TENANT, name="job", definition=every_second),
            ],
            now_us=at(0),
            actor="test",
        )
        beat = self.store.leases.heartbeat(
            "owner", now_us=at(0), ttl_us=60 * SECOND_US, epsilon_us=0
        )
        self.leases = beat.held

    def decide(self, seconds: float) -> None:
        self.clock.advance(at(seconds) - self.clock.wall_us)
        now_us = self.clock.wall_us
        for partition_id in self.store.due_index.next_due(self.leases):
            ready = self.store.due_index.commit_due(
                partition_id, self.leases[partition_id], now_us=now_us, row_limit=500
            ).ready
            self.lanes.publish(ready)
            self.store.ledger.mark_queued(ready, now_us=now_us)

    def dispatcher(self, deliverer: Held, *, ledger: LedgerPort | None = None) -> Dispatcher:
        return Dispatcher(
            ledger=ledger or self.store.ledger,
            lanes=self.lanes,
            clock=self.clock,
            deliverer=deliverer,
            in_flight_max=10,
        )

    def states(self) -> dict[float, FireState]:
        fires = self.store.history.fires(limit=100)
        return {since_start(fire.key.scheduled_us): fire.state for fire in fires}

    def close(self) -> None:
        self.database.close()
        self.store.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


def _run(bench: Bench, deliverer: Held, play: Callable[[Dispatcher], object]) -> None:
    """`play` is a coroutine function; the dispatcher stops and drains after it."""

    async def main() -> None:
        stop = asyncio.Event()
        dispatcher = bench.dispatcher(deliverer)
        running = asyncio.create_task(dispatcher.run(stop))
        await play(dispatcher)  # type: ignore[misc]
        deliverer.go.set()
        stop.set()
        await running

    asyncio.run(main())


def test_failed_acknowledgement_still_sends_what_was_claimed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledge = bench.lanes.ack
    failures = [StoreUnavailable("another process holds the store")]

    def ack(handles: object) -> None:
        if failures:
            raise failures.pop()
        acknowledge(handles)  # type: ignore[arg-type]

    monkeypatch.setattr(bench.lanes, "ack", ack)
    deliverer = Held()
    bench.decide(1)

    async def play(_: Dispatcher) -> None:
        await _until(lambda: deliverer.begun == [1.0])

    _run(bench, deliverer, play)
    assert failures == []
    assert bench.states() == {1.0: FireState.ACCEPTED}


def test_next_first_attempt_goes_out_once_the_one_before_is_on_its_way(bench: Bench) -> None:
    deliverer = Held()
    bench.decide(1)
    bench.decide(2)

    async def play(_: Dispatcher) -> None:
        await _until(lambda: deliverer.begun == [1.0, 2.0])

    _run(bench, deliverer, play)
    assert set(bench.states().values()) == {FireState.ACCEPTED}


def test_fires_behind_a_stuck_first_attempt_stay_unclaimed_on_their_lane(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNSENT_S", 0.05)
    deliverer = Held(sends=False)
    bench.decide(1)

    async def play(_: Dispatcher) -> None:
        await _until(lambda: deliverer.begun == [1.0])
        await asyncio.sleep(0.1)  # longer than a first attempt may be on its way
        bench.decide(2)
        bench.decide(3)
        # The lane gives the next one out, and the dispatcher leaves it there.
        await asyncio.sleep(0.3)
        assert bench.states() == {
            1.0: FireState.DISPATCHING,
            2.0: FireState.QUEUED,
            3.0: FireState.QUEUED,
        }

    _run(bench, deliverer, play)
    assert bench.states()[1.0] is FireState.ACCEPTED
    assert deliverer.begun == [1.0]


def test_fire_whose_turn_does_not_come_within_its_claim_is_tried_again_unsent(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLAIM_REST_S", 4.9)  # of the five beyond the timeout
    deliverer = Held(sends=False)
    bench.decide(1)
    bench.decide(2)

    async def play(_: Dispatcher) -> None:
        await _until(lambda: bench.states()[2.0] is FireState.DISPATCHING)
        await _until(lambda: bench.states()[2.0] is not FireState.DISPATCHING)

    _run(bench, deliverer, play)
    assert deliverer.begun == [1.0]
    fire = next(f for f in bench.store.history.fires(limit=9) if f.key.scheduled_us == at(2))
    (attempt,) = bench.store.history.attempts(fire.key)
    assert attempt.transport_result == TransportResult.NOT_SENT
    assert fire.state in (FireState.HELD, FireState.UNDELIVERED)


class _Away(LedgerPort):
    """Takes claims and no results, as a store whose disk has filled up meanwhile."""

    def __init__(self, inner: LedgerPort) -> None:
        self._inner = inner

    def mark_queued(self, messages: Iterable[LaneMessage], *, now_us: int) -> int:
        return self._inner.mark_queued(messages, now_us=now_us)

    def claim(self, requests: Sequence[ClaimRequest], *, now_us: int) -> list[ClaimedFire]:
        return self._inner.claim(requests, now_us=now_us)

    def finish(self, requests: Sequence[FinishRequest]) -> list[FinishResult]:
        raise StoreUnavailable("the disk is full")

    def report_outcome(
        self,
        key: FireKey,
        outcome: FireState,
        *,
        now_us: int,
        reported_by: str,
        cause: str | None = None,
    ) -> FinishResult | None:
        raise StoreUnavailable("the disk is full")


def test_drain_gives_up_on_a_store_that_stays_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DRAIN_STORE_S", 0.1)
    monkeypatch.setattr(module, "STORE_RETRY_S", 0.02)
    deliverer = Held()
    deliverer.go.set()
    bench.decide(1)

    async def main() -> None:
        stop = asyncio.Event()
        dispatcher = bench.dispatcher(deliverer, ledger=_Away(bench.store.ledger))
        running = asyncio.create_task(dispatcher.run(stop))
        await _until(lambda: deliverer.begun == [1.0])
        stop.set()
        async with asyncio.timeout(WAIT_S):
            await running

    asyncio.run(main())
    assert bench.states() == {1.0: FireState.DISPATCHING}


def _counts(tenants: list[str], wanted: int) -> bool:
    return tenants.count("good") == wanted


def test_tenant_whose_targets_hang_leaves_room_for_the_others(bench: Bench) -> None:
    """Ten at once: one tenant's silent target gets half of them, another's fires go on."""
    every_second = a_definition(recurrence=("* * * * * *",))
    bench.store.registry.apply(
        [
            PutTenant(tenant=a_tenant("good")),
            put_target("good"),
            *(
                PutTrigger(tenant_id=TENANT, name=f"bad-{number}", definition=every_second)
                for number in range(19)
            ),
            PutTrigger(tenant_id="good", name="beat", definition=every_second),
        ],
        now_us=at(0),
        actor="test",
    )
    hanging = Held()
    tenants: list[str] = []

    class Sorting(Held):
        async def deliver(
            self, delivery: Delivery, *, on_sent: Callable[[], None] | None = None
        ) -> DeliveryResult:
            tenants.append(delivery.tenant_id)
            if delivery.tenant_id == "good":
                return OK
            return await hanging.deliver(delivery, on_sent=on_sent)

    deliverer = Sorting()

    async def play(_: Dispatcher) -> None:
        for second in (1, 2, 3):
            bench.decide(second)
            await _until(partial(_counts, tenants, second))
        assert len(hanging.begun) < 10
        hanging.go.set()

    _run(bench, deliverer, play)
