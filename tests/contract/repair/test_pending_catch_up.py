"""The one catch-up fire that stands for an outage: absorbed by a newer one while unattempted."""

import pytest

from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, HandCrank
from tests.support.store_builders import at


@pytest.fixture
def outage(crank: HandCrank) -> HandCrank:
    """Every ten minutes; one instant, 600, was missed."""
    crank.put(recurrence=("*/10 * * * *",), max_fires=100)
    crank.commit_at(900)
    assert crank.lines() == ["600 catch_up held lane_rate"]
    return crank


def test_due_row_names_the_pending_fire(outage: HandCrank, peek: StorePeek) -> None:
    assert [row.pending_catch_up_us for row in peek.due_index()] == [at(600)]


def test_newer_ready_fire_absorbs_the_held_one(outage: HandCrank, peek: StorePeek) -> None:
    outage.commit_at(1_200)
    assert outage.lines() == ["600 coalesced>1200", "1200 ready"]
    assert outage.trigger().fired_count == 1
    assert [row.pending_catch_up_us for row in peek.due_index()] == [None]


def test_newer_ready_fire_absorbs_a_released_but_unattempted_one(outage: HandCrank) -> None:
    messages = outage.release()
    outage.store.ledger.mark_queued(messages, now_us=outage.now_us)
    outage.commit_at(1_200)
    assert outage.claim(messages) == []
    assert outage.lines() == ["600 coalesced>1200", "1200 ready"]


@pytest.mark.parametrize("is_finished", [True, False], ids=["failed_try", "out"])
def test_attempted_fire_is_not_absorbed(outage: HandCrank, is_finished: bool) -> None:
    (claimed,) = outage.claim(outage.release())
    if is_finished:
        outage.finish(claimed.key, result=BUSY)
    before = outage.lines()[0]
    outage.commit_at(1_200)
    assert outage.lines() == [before, "1200 ready"]
    assert outage.trigger().fired_count == 2


def test_two_outages_in_a_row_leave_one_run(outage: HandCrank) -> None:
    outage.commit_at(2_700)
    assert outage.lines() == [
        "600 coalesced>2400",
        "1200..1800 x2 coalesced>2400",
        "2400 catch_up held lane_rate",
    ]
    assert [message.key for message in outage.release()] == [outage.key(2_400)]
    assert outage.trigger().fired_count == 1


def test_pause_stops_the_pending_fire_and_the_due_row_forgets_it(
    outage: HandCrank, peek: StorePeek
) -> None:
    outage.pause()
    assert outage.lines() == ["600 paused"]
    assert [row.pending_catch_up_us for row in peek.due_index()] == [None]
    assert outage.trigger().fired_count == 0


def test_edit_leaves_the_pending_fire_to_be_absorbed(outage: HandCrank) -> None:
    outage.put(recurrence=("* * * * *",))
    outage.commit_at(960)
    assert outage.lines() == ["600 coalesced>960", "960 ready"]
