"""The dispatcher claims nothing while its clock is wrong: at a claim early and late are judged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.attempt_tokens_local import LocalAttemptTokens
from dispatcher.dispatcher import Dispatcher
from dispatcher.envelope import Delivery
from dispatcher.http_delivery import DeliveryResult
from scheduling.instants import SECOND_US, from_text
from scheduling.vocabulary import FireState, MissedPolicy
from tests.support.definitions import a_trigger
from tests.support.engine import Engine
from tests.support.service import Service


class NoDeliverer:
    """Nothing is delivered here."""

    async def deliver(
        self, delivery: Delivery, *, on_sent: Callable[[], None] | None = None
    ) -> DeliveryResult:
        raise AssertionError(delivery)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """A process that has one fire of 10:01 on its lane, at 10:01:00.010."""
    service = Service(tmp_path, from_text("2026-03-02T10:00:30Z"))
    engine = service.start()
    service.apply(a_trigger("job", missed_policy=MissedPolicy.SKIP))
    engine.clock.advance(30 * SECOND_US + 10_000)
    assert engine.look().fires == 1
    return engine


@pytest.fixture
def dispatcher(engine: Engine, tmp_path: Path) -> Dispatcher:
    """It has seen a right clock."""
    dispatcher = Dispatcher(
        ledger=engine.store.ledger,
        lanes=engine.lanes,
        clock=engine.clock,
        deliverer=NoDeliverer(),
        attempt_tokens=LocalAttemptTokens(tmp_path / "keys"),
        in_flight_max=10,
    )
    dispatcher._now_us()
    return dispatcher


def test_dispatcher_whose_clock_is_right_claims(dispatcher: Dispatcher) -> None:
    assert len(dispatcher._take(10)) == 1


@pytest.mark.parametrize("step_s", [-120, 120])
def test_dispatcher_whose_clock_stepped_leaves_fires_on_their_lane(
    engine: Engine, dispatcher: Dispatcher, step_s: int
) -> None:
    """Claimed by the wrong time it would be dropped, as too late or as still ahead."""
    engine.clock.step(step_s * SECOND_US)
    assert dispatcher._take(10) == []
    engine.clock.step(-step_s * SECOND_US)
    assert dispatcher._take(10) == []
    engine.clock.advance(10 * SECOND_US)
    assert len(dispatcher._take(10)) == 1


def test_dispatcher_whose_clock_is_uncertain_leaves_fires_on_their_lane(
    engine: Engine, dispatcher: Dispatcher
) -> None:
    engine.clock.epsilon_us = 200_000
    assert dispatcher._take(10) == []
    (fire,) = engine.store.history.fires(limit=10)
    assert fire.state is FireState.QUEUED
