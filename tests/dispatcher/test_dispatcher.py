"""The dispatcher on a real store and lanes: order, room, and what a failing store changes."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

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
from scheduling.keys import FireKey
from scheduling.vocabulary import FireState, TransportResult
from tests.dispatcher.bench import OK, WAIT_S, Bench, Held, run_with, until
from tests.support.store_builders import TENANT, a_definition, a_tenant, at, put_target


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


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
        await until(lambda: deliverer.begun == [1.0])

    run_with(bench, deliverer, play)
    assert failures == []
    assert bench.states() == {1.0: FireState.ACCEPTED}


def test_next_first_attempt_goes_out_once_the_one_before_is_on_its_way(bench: Bench) -> None:
    deliverer = Held()
    bench.decide(1)
    bench.decide(2)

    async def play(_: Dispatcher) -> None:
        await until(lambda: deliverer.begun == [1.0, 2.0])

    run_with(bench, deliverer, play)
    assert set(bench.states().values()) == {FireState.ACCEPTED}


def test_fires_behind_a_stuck_first_attempt_stay_unclaimed_on_their_lane(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNSENT_S", 0.05)
    deliverer = Held(sends=False)
    bench.decide(1)

    async def play(_: Dispatcher) -> None:
        await until(lambda: deliverer.begun == [1.0])
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

    run_with(bench, deliverer, play)
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
        await until(lambda: bench.states()[2.0] is FireState.DISPATCHING)
        await until(lambda: bench.states()[2.0] is not FireState.DISPATCHING)

    run_with(bench, deliverer, play)
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
        await until(lambda: deliverer.begun == [1.0])
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
            await until(partial(_counts, tenants, second))
        assert len(hanging.begun) < 10
        hanging.go.set()

    run_with(bench, deliverer, play)
