"""What the dispatcher counts: attempts by class of answer, lateness, and stale messages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from control_api.exposition import Exposition
from dispatcher.dispatcher import Dispatcher
from dispatcher.http_delivery import DeliveryResult
from ports.records import LaneMessage
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, Lane, TransportResult
from tests.dispatcher.bench import Bench, Held, run_with, until
from tests.support.metrics_page import values_of

ATTEMPTS = "punctual_attempts_total"
LATE_SUM_S = "punctual_lateness_seconds_sum{lane=on_time}"
LATE_COUNT = "punctual_lateness_seconds_count{lane=on_time}"
STALE = "punctual_messages_stale_total"


@pytest.fixture
def page() -> Iterator[Exposition]:
    with Exposition(lambda: ()) as page:
        yield page


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def _deliver(bench: Bench, result: DeliveryResult, *, attempts: int = 1) -> None:
    """Run until so many attempts have begun and nothing is under way."""
    deliverer = Held(result=result)
    deliverer.go.set()

    async def play(_: Dispatcher) -> None:
        await until(lambda: len(deliverer.begun) == attempts)

    run_with(bench, deliverer, play)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (DeliveryResult(TransportResult.RESPONSE, http_status=204), "2xx"),
        (DeliveryResult(TransportResult.RESPONSE, http_status=302), "3xx"),
        (DeliveryResult(TransportResult.RESPONSE, http_status=429), "4xx"),
        (DeliveryResult(TransportResult.RESPONSE, http_status=503), "5xx"),
        (DeliveryResult(TransportResult.NOT_SENT, error="refused"), "not_sent"),
        (DeliveryResult(TransportResult.AMBIGUOUS, error="timed out"), "ambiguous"),
    ],
    ids=["2xx", "3xx", "4xx", "5xx", "not_sent", "ambiguous"],
)
def test_attempt_is_counted_by_the_class_of_its_answer(
    bench: Bench, page: Exposition, result: DeliveryResult, told: str
) -> None:
    bench.decide(1)
    _deliver(bench, result)
    counted = {name: n for name, n in values_of(page).items() if name.startswith(ATTEMPTS)}
    assert counted == {f"{ATTEMPTS}{{lane=on_time,result={told},target_class=http}}": 1}


def test_lateness_is_that_of_first_attempts_alone(bench: Bench, page: Exposition) -> None:
    bench.decide(1)
    bench.clock.advance(3 * SECOND_US)
    busy = DeliveryResult(TransportResult.RESPONSE, http_status=503)
    _deliver(bench, busy)
    assert (values_of(page)[LATE_SUM_S], values_of(page)[LATE_COUNT]) == (3, 1)
    (state,) = bench.states().values()
    assert state in (FireState.HELD, FireState.UNDELIVERED)


def test_message_whose_fire_moved_on_is_counted_as_stale(bench: Bench, page: Exposition) -> None:
    bench.decide(1)
    (fire,) = bench.store.history.fires(limit=2)
    _deliver(bench, DeliveryResult(TransportResult.RESPONSE, http_status=200))
    assert values_of(page)[STALE] == 0
    # As a crash between publishing and marking would.
    bench.lanes.publish([LaneMessage(fire.key, Lane.ON_TIME, 1)])

    async def play(_: Dispatcher) -> None:
        await until(lambda: sum(bench.lanes.depth().values()) == 0)

    run_with(bench, Held(), play)
    assert values_of(page)[STALE] == 1
    assert list(bench.states().values()) == [FireState.ACCEPTED]
