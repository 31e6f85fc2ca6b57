"""finish: an end, or another try at a later time; every class of answer."""

import pytest

from ports.records import FinishRequest
from scheduling.instants import SECOND_US
from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, HeldReason, TransportResult
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, OK, REFUSED, HandCrank
from tests.support.store_builders import at

RESPONSE = TransportResult.RESPONSE
HOURLY = ("0 * * * *",)


def _answer(status: int, *, retry_after_s: float | None = None) -> AttemptResult:
    wish_us = None if retry_after_s is None else round(retry_after_s * SECOND_US)
    return AttemptResult(RESPONSE, status, wish_us)


@pytest.fixture
def hourly(crank: HandCrank) -> HandCrank:
    """A fire of an hourly trigger at 3600, claimed at its time."""
    crank.put(recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    return crank


@pytest.mark.parametrize(
    ("result", "state"),
    [
        *[pytest.param(_answer(code), "accepted", id=str(code)) for code in (200, 202, 204)],
        *[pytest.param(_answer(code), "refused", id=str(code)) for code in (400, 401, 404, 410)],
        *[pytest.param(_answer(code), "refused", id=str(code)) for code in (301, 308)],
        *[pytest.param(_answer(code), "held", id=str(code)) for code in (408, 425, 429)],
        *[pytest.param(_answer(code), "held", id=str(code)) for code in (500, 502, 503, 599)],
        pytest.param(LOST, "held", id="ambiguous"),
        pytest.param(AttemptResult(TransportResult.NOT_SENT), "held", id="not_sent"),
    ],
)
def test_finish_moves_the_fire_on_by_the_answers_class(
    hourly: HandCrank, result: AttemptResult, state: str
) -> None:
    assert hourly.finish(hourly.key(3_600), result=result).state == state
    assert hourly.fires()[0].state == state


def test_finish_records_the_attempt(hourly: HandCrank) -> None:
    hourly.to(3_603)
    hourly.finish(hourly.key(3_600), result=AttemptResult(RESPONSE, 503, None, "busy"))
    (attempt,) = hourly.store.history.attempts(hourly.key(3_600))
    assert (attempt.finished_us, attempt.transport_result) == (at(3_603), "response")
    assert (attempt.http_status, attempt.error) == (503, "busy")


def test_finish_holds_a_retry_with_backoff(hourly: HandCrank) -> None:
    hourly.to(3_601)
    hourly.finish(hourly.key(3_600), result=BUSY)
    (fire,) = hourly.fires()
    assert (fire.held_reason, fire.next_attempt_n) == (HeldReason.BACKOFF, 2)
    assert fire.not_before_us is not None
    assert at(3_601) <= fire.not_before_us <= at(3_602)


def test_finish_honours_retry_after(hourly: HandCrank) -> None:
    hourly.finish(hourly.key(3_600), result=_answer(429, retry_after_s=120))
    assert hourly.fires()[0].not_before_us == at(3_720)


def test_finish_after_the_budget_is_undelivered(hourly: HandCrank) -> None:
    for n in (1, 2, 3):
        state = hourly.finish(hourly.key(3_600), n, result=BUSY).state
        hourly.to(3_600 + 60 * n)
        hourly.claim(hourly.sweep())
    assert state is FireState.UNDELIVERED
    assert [attempt.n for attempt in hourly.store.history.attempts(hourly.key(3_600))] == [1, 2, 3]


def test_finish_after_the_budget_is_unknown_when_the_last_try_was_ambiguous(
    crank: HandCrank,
) -> None:
    crank.put(attempt_budget=2, recurrence=HOURLY)
    crank.attempt(crank.commit_at(3_600), result=BUSY)
    crank.to(3_660)
    (finished,) = crank.attempt(crank.sweep(), result=LOST)
    assert finished.state is FireState.UNKNOWN


def test_finish_beyond_the_retry_window_ends(crank: HandCrank) -> None:
    crank.put(retry_window_s=60, recurrence=HOURLY)
    crank.claim(crank.commit_at(3_600))
    wish = _answer(503, retry_after_s=61)
    assert crank.finish(crank.key(3_600), result=wish).state is FireState.UNDELIVERED


def test_retry_window_of_a_catch_up_fire_begins_with_its_first_try(crank: HandCrank) -> None:
    crank.put(retry_window_s=60, recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    crank.claim(crank.release())
    wish = _answer(503, retry_after_s=60)
    assert crank.finish(crank.key(600), result=wish).state is FireState.HELD


def test_finish_of_an_on_time_fire_retries_no_longer_than_its_next_due_time(
    crank: HandCrank,
) -> None:
    crank.put()
    crank.claim(crank.commit_at(60))
    assert crank.finish(crank.key(60), result=_answer(503, retry_after_s=59)).state == "held"
    crank.claim(crank.commit_at(120))
    wish = _answer(503, retry_after_s=60)
    assert crank.finish(crank.key(120), result=wish).state is FireState.UNDELIVERED


def test_on_time_retry_whose_time_came_after_the_next_due_time_is_not_made(
    crank: HandCrank,
) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.attempt(crank.commit_at(120), result=LOST)
    crank.to(190)
    assert crank.sweep() == []
    assert crank.lines() == ["60 undelivered", "120 unknown"]


def test_finish_of_a_catch_up_fire_retries_beyond_the_next_due_time(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    crank.claim(crank.release())
    wish = _answer(503, retry_after_s=400)
    assert crank.finish(crank.key(600), result=wish).state is FireState.HELD
    crank.to(1_301)
    assert crank.sweep() == []
    assert crank.lines() == ["600 catch_up held lane_rate"]
    assert [message.n for message in crank.release()] == [2]


def test_response_as_outcome_succeeds_at_once(crank: HandCrank) -> None:
    crank.put(response_is_outcome=True)
    (finished,) = crank.attempt(crank.commit_at(60))
    assert finished.state is FireState.SUCCEEDED


def test_finish_repeated_changes_nothing(hourly: HandCrank, peek: StorePeek) -> None:
    for result in (BUSY, OK, REFUSED):
        first = hourly.finish(hourly.key(3_600), result=BUSY)
        before = peek.content()
        hourly.to(3_610)
        assert hourly.finish(hourly.key(3_600), result=result).state is first.state
        assert peek.content() == before


def test_finish_of_an_attempt_that_never_was_changes_nothing(
    hourly: HandCrank, peek: StorePeek
) -> None:
    before = peek.content()
    unknown = hourly.key(3_600)._replace(trigger_id="t-none")
    requests = [
        FinishRequest(hourly.key(3_600), 2, OK, at(3_601)),
        FinishRequest(hourly.key(7_200), 1, OK, at(3_601)),
        FinishRequest(unknown, 1, OK, at(3_601)),
    ]
    assert hourly.store.ledger.finish(requests) == []
    assert peek.content() == before


def test_finish_of_a_batch_moves_each_fire(crank: HandCrank) -> None:
    crank.put()
    crank.claim(crank.commit_at(60, 120))
    requests = [
        FinishRequest(crank.key(60), 1, OK, at(121)),
        FinishRequest(crank.key(120), 1, REFUSED, at(121)),
    ]
    states = [finished.state for finished in crank.store.ledger.finish(requests)]
    assert states == [FireState.ACCEPTED, FireState.REFUSED]
