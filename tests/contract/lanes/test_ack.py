"""Lanes: acknowledging."""

from ports.lanes import LanesPort
from scheduling.vocabulary import Lane
from tests.contract.factories import LanesHarness
from tests.support.lane_messages import LEASE_US, a_message, messages_of, pull


def test_ack_forgets_the_messages(lanes: LanesPort) -> None:
    lanes.publish([a_message("t1"), a_message("t2")])
    lanes.ack([each.handle for each in pull(lanes)])
    assert lanes.depth()[Lane.ON_TIME] == 0
    assert pull(lanes, at_us=LEASE_US) == []


def test_ack_of_nothing_changes_nothing(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    lanes.ack([])
    assert lanes.depth()[Lane.ON_TIME] == 1


def test_ack_of_unknown_handles_is_ignored(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    lanes.ack([10_000, "nobody's"])
    assert messages_of(pull(lanes)) == [a_message()]


def test_ack_twice_is_ignored(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=instant) for instant in (1, 2, 3)])
    handle = pull(lanes)[0].handle
    lanes.ack([handle])
    second = pull(lanes)
    lanes.ack([handle])
    assert messages_of(second) == [a_message(instant=2)]
    assert pull(lanes) == []


def test_ack_late_does_not_reach_a_later_message(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    old = pull(lanes)[0].handle
    lanes.ack([pull(lanes, at_us=LEASE_US)[0].handle])
    lanes.publish([a_message(n=2)])
    lanes.ack([old])
    assert lanes.depth()[Lane.ON_TIME] == 1


def test_ack_through_another_handle_counts(lanes_harness: LanesHarness) -> None:
    first, second = lanes_harness.open(), lanes_harness.open()
    first.publish([a_message(instant=instant) for instant in (1, 2)])
    second.ack([pull(first)[0].handle])
    assert messages_of(pull(first)) == [a_message(instant=2)]
