"""The dispatcher without the means for an attempt: it puts the fire back, tells it, and rests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from control_api.exposition import Exposition
from dispatcher import lacks as module
from dispatcher.dispatcher import Dispatcher
from dispatcher.http_delivery import DeliveryResult
from dispatcher.lacks import REST_S, TOLD_EVERY_S, Lacks
from ports.errors import StoreUnavailable
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, HeldReason, TransportResult
from tests.dispatcher.bench import OK, Bench, Held, run_with, until
from tests.support.metrics_page import values_of
from tests.support.store_builders import at

NO_FILES = DeliveryResult(TransportResult.UNTRIED, lack="files", error="no files")
PUT_BACK = "punctual_attempts_put_back_total{lack=files}"


@pytest.fixture
def page() -> Iterator[Exposition]:
    with Exposition(lambda: ()) as page:
        yield page


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def deliver(bench: Bench, result: DeliveryResult) -> Held:
    """Run until one attempt has begun and nothing is under way."""
    deliverer = Held(result=result)
    deliverer.go.set()

    async def play(_: Dispatcher) -> None:
        await until(lambda: FireState.QUEUED not in bench.states().values())

    run_with(bench, deliverer, play)
    return deliverer


def test_fire_that_could_not_be_tried_is_put_back_told_and_counted(
    bench: Bench, page: Exposition
) -> None:
    bench.decide(1)
    with capture_logs() as logs:
        deliver(bench, NO_FILES)
    (fire,) = bench.store.history.fires(limit=9)
    assert (fire.state, fire.held_reason) == (FireState.HELD, HeldReason.NO_RESOURCES)
    assert (fire.attempts, bench.store.history.attempts(fire.key)) == (0, [])
    values = values_of(page)
    assert values[PUT_BACK] == 1
    assert not [name for name in values if name.startswith("punctual_attempts_total{")]
    assert not [name for name in values if name.startswith("punctual_lateness_seconds_count{")]
    told = [line for line in logs if line["log_level"] == "warning"]
    assert [(line["action"], line["error"], line["lacks"]) for line in told] == [
        ("attempts_put_back", "no files", {"files": 1})
    ]


def test_fire_that_was_put_back_goes_out_when_it_can(bench: Bench) -> None:
    bench.decide(1)
    deliver(bench, NO_FILES)
    bench.clock.advance(2 * SECOND_US)
    again = bench.store.repair.sweep("owner", now_us=bench.clock.wall_us)
    bench.lanes.publish(again)
    bench.store.ledger.mark_queued(again, now_us=bench.clock.wall_us)
    assert deliver(bench, OK).begun == [1.0]
    (fire,) = bench.store.history.fires(limit=9)
    assert (fire.state, fire.attempts) == (FireState.ACCEPTED, 1)
    assert fire.first_dispatched_us == at(3)


def test_token_that_cannot_be_made_is_no_try(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def mint(*_: object, **__: object) -> str:
        raise StoreUnavailable("the signing key cannot be read")

    monkeypatch.setattr(bench.attempt_tokens, "mint", mint)
    bench.decide(1)
    assert deliver(bench, OK).begun == []
    (fire,) = bench.store.history.fires(limit=9)
    assert (fire.state, fire.held_reason) == (FireState.HELD, HeldReason.NO_RESOURCES)


def test_nothing_is_taken_while_the_dispatcher_rests(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_S", 3_600.0)
    bench.decide(1)
    deliverer = Held(result=NO_FILES)
    deliverer.go.set()

    async def play(_: Dispatcher) -> None:
        await until(lambda: bench.states()[1.0] is FireState.HELD)
        bench.decide(2)

    run_with(bench, deliverer, play)
    assert deliverer.begun == [1.0]
    assert bench.states()[2.0] is FireState.QUEUED


class _Clock:
    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


def test_lacks_are_told_at_first_and_then_together() -> None:
    clock = _Clock()
    lacks = Lacks(clock)
    no_memory = DeliveryResult(TransportResult.UNTRIED, lack="memory", error="no memory")
    with capture_logs() as logs:
        for result in (NO_FILES, NO_FILES, no_memory):
            lacks.note(result)
            clock.now_s += 1
        clock.now_s += TOLD_EVERY_S
        lacks.note(no_memory)
    assert [line["lacks"] for line in logs] == [{"files": 1}, {"files": 1, "memory": 2}]


@pytest.mark.parametrize(
    ("lack", "rests"),
    [
        *(pytest.param(lack, True, id=lack) for lack in ("files", "memory", "threads")),
        *(
            pytest.param(lack, False, id=lack)
            for lack in ("ports", "network", "resolver", "connections", "token")
        ),
    ],
)
def test_rest_is_from_what_every_attempt_needs(lack: str, rests: bool) -> None:
    lacks = Lacks(_Clock())
    lacks.note(DeliveryResult(TransportResult.UNTRIED, lack=lack, error="x"))
    assert (lacks.rest_s() > 0) is rests


def test_rest_is_counted_from_the_last_lack() -> None:
    clock = _Clock()
    lacks = Lacks(clock)
    assert lacks.rest_s() < 0
    lacks.note(NO_FILES)
    clock.now_s += REST_S / 2
    assert lacks.rest_s() == REST_S / 2
    lacks.note(NO_FILES)
    assert lacks.rest_s() == REST_S
