"""Lanes: what a publication adds."""

import pytest

from ports.lanes import LanesPort
from ports.records import LaneMessage
from scheduling.vocabulary import Lane
from tests.contract.factories import LanesHarness
from tests.support.lane_messages import a_message, messages_of, pull


def test_publish_then_pull_returns_the_whole_message(lanes: LanesPort) -> None:
    message = a_message("t1", -5, lane=Lane.CATCH_UP, n=3)
    lanes.publish([message])
    assert messages_of(pull(lanes, Lane.CATCH_UP)) == [message]


def test_publish_of_nothing_adds_nothing(lanes: LanesPort) -> None:
    lanes.publish([])
    assert set(lanes.depth().values()) == {0}


@pytest.mark.parametrize("in_one_call", [True, False], ids=["one_call", "two_calls"])
def test_publish_twice_keeps_one(lanes: LanesPort, in_one_call: bool) -> None:
    if in_one_call:
        lanes.publish([a_message(), a_message()])
    else:
        lanes.publish([a_message()])
        lanes.publish([a_message()])
    assert lanes.depth()[Lane.ON_TIME] == 1


def test_publish_of_a_message_that_is_out_adds_nothing(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    pull(lanes)
    lanes.publish([a_message()])
    assert lanes.depth()[Lane.ON_TIME] == 1
    assert pull(lanes) == []


def test_publish_after_the_ack_adds_the_message_again(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    lanes.ack([pull(lanes)[0].handle])
    lanes.publish([a_message()])
    assert messages_of(pull(lanes)) == [a_message()]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_message(n=2), id="attempt"),
        pytest.param(a_message(instant=2), id="instant"),
        pytest.param(a_message("t2"), id="trigger"),
    ],
)
def test_publish_of_a_different_message_adds_it(lanes: LanesPort, other: LaneMessage) -> None:
    lanes.publish([a_message(), other])
    assert lanes.depth()[Lane.ON_TIME] == 2


def test_depth_counts_what_is_not_acknowledged_per_lane(lanes: LanesPort) -> None:
    lanes.publish([a_message("t1"), a_message("t2"), a_message("t3", lane=Lane.BACKFILL)])
    pull(lanes)
    assert lanes.depth() == {Lane.ON_TIME: 2, Lane.CATCH_UP: 0, Lane.BACKFILL: 1}


def test_publish_is_seen_by_another_handle(lanes_harness: LanesHarness) -> None:
    lanes_harness.open().publish([a_message()])
    assert messages_of(pull(lanes_harness.open())) == [a_message()]
