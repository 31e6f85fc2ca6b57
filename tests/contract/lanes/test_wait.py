"""Lanes: waiting for something to pull. Long waits here end by a signal, never by the clock."""

from concurrent.futures import ThreadPoolExecutor

from ports.lanes import LanesPort
from tests.support.lane_messages import a_message, pull

FOREVER_S = 60.0


def test_wait_without_news_ends_with_its_time(lanes: LanesPort) -> None:
    assert lanes.wait(0.0) is False


def test_wait_wakes_when_this_process_publishes(lanes: LanesPort) -> None:
    with ThreadPoolExecutor(1) as pool:
        woken = pool.submit(lanes.wait, FOREVER_S)
        lanes.publish([a_message()])
        assert woken.result() is True


def test_wait_wakes_every_waiting_thread(lanes: LanesPort) -> None:
    with ThreadPoolExecutor(3) as pool:
        woken = [pool.submit(lanes.wait, FOREVER_S) for _ in range(3)]
        lanes.publish([a_message()])
        assert [each.result() for each in woken] == [True, True, True]


def test_wait_sees_what_came_between_the_pull_and_the_wait(lanes: LanesPort) -> None:
    pull(lanes)
    lanes.publish([a_message()])
    assert lanes.wait(FOREVER_S) is True
    assert lanes.wait(0.0) is False


def test_wait_wakes_when_an_ack_lets_the_next_message_out(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=instant) for instant in (1, 2)])
    handle = pull(lanes)[0].handle
    lanes.wait(0.0)
    lanes.ack([handle])
    assert lanes.wait(FOREVER_S) is True


def test_wait_is_not_woken_by_a_message_that_was_there(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    lanes.wait(0.0)
    lanes.publish([a_message()])
    assert lanes.wait(0.0) is False
