"""A fire shows as many tries as were claimed, however it ended, and what its work said."""

from collections.abc import Callable
from typing import Any

import pytest

from ports.records import FireRecord
from scheduling.vocabulary import FireState, OverlapPolicy
from tests.support.hand_crank import BUSY, LOST, OK, HandCrank
from tests.support.store_builders import at

HOURLY = ("0 * * * *",)


def _one_try(crank: HandCrank, **changes: Any) -> FireRecord:
    """A fire whose first try failed, and that waits for another."""
    crank.put(**changes)
    crank.attempt(crank.commit_at(60), result=BUSY)
    crank.to(62)
    return crank.fire(60)


def _waits(crank: HandCrank) -> None:
    _one_try(crank)


def _is_ready_again(crank: HandCrank) -> None:
    _one_try(crank)
    crank.sweep()


def _is_under_way_again(crank: HandCrank) -> None:
    _one_try(crank)
    crank.claim(crank.sweep())


def _is_cancelled(crank: HandCrank) -> None:
    crank.cancel(_one_try(crank).key)


def _is_cancelled_when_ready(crank: HandCrank) -> None:
    _is_ready_again(crank)
    crank.cancel(crank.key(60))


def _is_paused(crank: HandCrank) -> None:
    _one_try(crank)
    crank.pause()


def _is_deleted(crank: HandCrank) -> None:
    _one_try(crank)
    crank.delete()


def _gives_way_to_the_next(crank: HandCrank) -> None:
    _one_try(crank, overlap_policy=OverlapPolicy.SKIP)
    crank.commit_at(120)


def _comes_too_late(crank: HandCrank) -> None:
    _one_try(crank)
    again = crank.sweep()
    crank.to(120)
    crank.claim(again)


def _is_swept_too_late(crank: HandCrank) -> None:
    _one_try(crank)
    crank.to(121)
    crank.sweep()


def _has_an_outcome_while_it_waits(crank: HandCrank) -> None:
    crank.report(_one_try(crank).key, FireState.SUCCEEDED)


def _is_answered_late(crank: HandCrank) -> None:
    crank.put()
    (fire,) = crank.claim(crank.commit_at(60))
    crank.to(76)
    crank.sweep()
    crank.finish(fire.key, 1, result=OK)


def _is_never_tried(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)


def _is_cancelled_untried(crank: HandCrank) -> None:
    _is_never_tried(crank)
    crank.cancel(crank.key(60))


ENDS: dict[str, tuple[Callable[[HandCrank], None], str, int]] = {
    "waits": (_waits, "held", 1),
    "is_ready_again": (_is_ready_again, "ready", 1),
    "is_under_way_again": (_is_under_way_again, "dispatching", 2),
    "is_cancelled": (_is_cancelled, "undelivered", 1),
    "is_cancelled_when_ready": (_is_cancelled_when_ready, "undelivered", 1),
    "is_paused": (_is_paused, "undelivered", 1),
    "is_deleted": (_is_deleted, "undelivered", 1),
    "gives_way_to_the_next": (_gives_way_to_the_next, "undelivered", 1),
    "comes_too_late": (_comes_too_late, "undelivered", 1),
    "is_swept_too_late": (_is_swept_too_late, "undelivered", 1),
    "has_an_outcome_while_it_waits": (_has_an_outcome_while_it_waits, "succeeded", 1),
    "is_answered_late": (_is_answered_late, "accepted", 1),
    "is_never_tried": (_is_never_tried, "ready", 0),
    "is_cancelled_untried": (_is_cancelled_untried, "not_dispatched", 0),
}


@pytest.mark.parametrize(("play", "state", "tries"), ENDS.values(), ids=ENDS)
def test_fire_shows_as_many_tries_as_were_claimed(
    crank: HandCrank, play: Callable[[HandCrank], None], state: str, tries: int
) -> None:
    play(crank)
    fire = crank.fire(60)
    assert (fire.state, fire.attempts) == (state, tries)
    assert len(crank.store.history.attempts(fire.key)) == tries
    (listed,) = [each for each in crank.fires() if each.key == fire.key]
    assert listed == fire


def test_lost_fire_shows_its_one_try(crank: HandCrank) -> None:
    crank.put(recurrence=HOURLY)
    crank.attempt(crank.commit_at(3_600), result=LOST)
    crank.to(3_601)
    crank.cancel(crank.key(3_600))
    fire = crank.fire(3_600)
    assert (fire.state, fire.attempts) == (FireState.UNKNOWN, 1)


@pytest.mark.parametrize(
    ("outcome", "cause", "told"),
    [
        (FireState.FAILED, "no paper", "no paper"),
        (FireState.FAILED, None, None),
        (FireState.SUCCEEDED, "all well", None),
    ],
    ids=["failed", "failed_in_silence", "succeeded"],
)
def test_fire_tells_what_its_work_said_of_a_failure(
    crank: HandCrank, outcome: FireState, cause: str | None, told: str | None
) -> None:
    crank.put(recurrence=HOURLY)
    crank.attempt(crank.commit_at(3_600))
    assert crank.fire(3_600).outcome_cause is None
    crank.store.ledger.report_outcome(
        crank.key(3_600), outcome, now_us=at(3_601), reported_by="attempt 1", cause=cause
    )
    assert (crank.fire(3_600).state, crank.fire(3_600).outcome_cause) == (outcome, told)
