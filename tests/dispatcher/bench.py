"""A dispatcher on a real store and lanes, with a deliverer that the test holds in its hand."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from dispatcher.dispatcher import Deliverer, Dispatcher
from dispatcher.envelope import Delivery
from dispatcher.http_delivery import DeliveryResult
from ports.changes import PutTenant, PutTrigger
from ports.ledger import LedgerPort
from ports.store import Store
from scheduling.instants import SECOND_US
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
    """A trigger that is due every second, its fires committed and on the lane.

    `target` changes its target's fields.
    """

    def __init__(self, folder: Path, **target: Any) -> None:
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US)
        self.store: Store = open_sqlite_store(
            folder / "store.db",
            payload_keys=TinkPayloadKeys(folder / "keys"),
            now_us=at(0),
            synchronous="OFF",
        )
        self.database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.lanes = LocalLanes(self.database)
        self.attempt_tokens = LocalAttemptTokens(folder / "keys")
        every_second = a_definition(recurrence=("* * * * * *",))
        self.store.registry.apply(
            [
                PutTenant(tenant=a_tenant()),
                put_target(**target),
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

    def dispatcher(self, deliverer: Deliverer, *, ledger: LedgerPort | None = None) -> Dispatcher:
        return Dispatcher(
            ledger=ledger or self.store.ledger,
            lanes=self.lanes,
            clock=self.clock,
            deliverer=deliverer,
            attempt_tokens=self.attempt_tokens,
            in_flight_max=10,
        )

    def states(self) -> dict[float, FireState]:
        fires = self.store.history.fires(limit=100)
        return {since_start(fire.key.scheduled_us): fire.state for fire in fires}

    def close(self) -> None:
        self.database.close()
        self.store.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


def run_with(bench: Bench, deliverer: Held, play: Callable[[Dispatcher], object]) -> None:
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
