"""Lanes: who gets which message when."""

from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from ports.lanes import LanesPort
from ports.records import LaneMessage
from scheduling.vocabulary import Lane
from tests.contract.factories import LanesHarness
from tests.support.lane_messages import LEASE_US, a_message, drain, messages_of, pull


def test_pull_from_empty_lanes_returns_nothing(lanes: LanesPort) -> None:
    assert pull(lanes, *Lane) == []


def test_pull_keeps_the_order_of_publication_over_triggers(lanes: LanesPort) -> None:
    published = [a_message(f"t{number}") for number in (3, 1, 2)]
    lanes.publish(published)
    assert messages_of(pull(lanes)) == published


def test_pull_stops_at_its_limit_over_all_lanes(lanes: LanesPort) -> None:
    lanes.publish([a_message(f"t{number}") for number in range(3)])
    lanes.publish([a_message(f"c{number}", lane=Lane.CATCH_UP) for number in range(3)])
    assert len(pull(lanes, Lane.ON_TIME, Lane.CATCH_UP, limit=4)) == 4


def test_pull_serves_earlier_lanes_of_the_list_first(lanes: LanesPort) -> None:
    lanes.publish([a_message("t1", lane=Lane.CATCH_UP), a_message("t2")])
    delivered = pull(lanes, Lane.ON_TIME, Lane.CATCH_UP)
    assert [message.lane for message in messages_of(delivered)] == [Lane.ON_TIME, Lane.CATCH_UP]


def test_pull_of_one_lane_leaves_the_others(lanes: LanesPort) -> None:
    lanes.publish([a_message("t1"), a_message("t2", lane=Lane.CATCH_UP)])
    assert messages_of(pull(lanes, Lane.ON_TIME)) == [a_message("t1")]
    assert lanes.depth()[Lane.CATCH_UP] == 1


def test_pull_hides_a_later_message_while_an_earlier_one_is_out(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=instant) for instant in (1, 2)])
    first = pull(lanes)
    assert messages_of(first) == [a_message(instant=1)]
    assert pull(lanes) == []
    lanes.ack([first[0].handle])
    assert messages_of(pull(lanes)) == [a_message(instant=2)]


def test_pull_keeps_publication_order_even_against_instants(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=2)])
    lanes.publish([a_message(instant=1)])
    assert messages_of(pull(lanes)) == [a_message(instant=2)]


def test_pull_does_not_hold_one_lane_of_a_trigger_for_another(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=1), a_message(instant=2, lane=Lane.CATCH_UP)])
    assert len(pull(lanes, Lane.ON_TIME, Lane.CATCH_UP)) == 2


def test_pull_delivers_again_when_the_lease_ended(lanes: LanesPort) -> None:
    lanes.publish([a_message()])
    pull(lanes, at_us=100)
    assert pull(lanes, at_us=100 + LEASE_US - 1) == []
    assert messages_of(pull(lanes, at_us=100 + LEASE_US)) == [a_message()]


def test_pull_after_the_lease_ended_delivers_the_earlier_message_first(lanes: LanesPort) -> None:
    lanes.publish([a_message(instant=instant) for instant in (1, 2)])
    pull(lanes)
    assert messages_of(pull(lanes, at_us=LEASE_US)) == [a_message(instant=1)]


def test_pull_behind_a_long_queue_reaches_the_other_triggers(lanes: LanesPort) -> None:
    lanes.publish([a_message("long", instant) for instant in range(500)])
    lanes.publish([a_message("short")])
    assert messages_of(pull(lanes, limit=2)) == [a_message("long", 0), a_message("short")]


def test_pull_by_several_processes_delivers_each_message_to_one_in_order(
    lanes_harness: LanesHarness,
) -> None:
    published = [a_message(f"t{number % 5}", number) for number in range(60)]
    lanes_harness.open().publish(published)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        shares = list(pool.map(drain, [lanes_harness.opener] * 2))
    assert Counter(chain.from_iterable(shares)) == Counter(published)
    for share in shares:
        assert all(instants == sorted(instants) for instants in _instants(share).values())


def _instants(messages: list[LaneMessage]) -> dict[str, list[int]]:
    by_trigger: defaultdict[str, list[int]] = defaultdict(list)
    for message in messages:
        by_trigger[message.key.trigger_id].append(message.key.scheduled_us)
    return by_trigger


def test_pull_passes_over_tenants_and_leaves_theirs_where_they_are(lanes: LanesPort) -> None:
    mine, other = a_message("t1"), a_message("t2")
    other = other._replace(key=other.key._replace(tenant_id="other"))
    lanes.publish([mine, other])
    delivered = lanes.pull(
        (Lane.ON_TIME,), limit=10, now_us=0, lease_us=1, without={mine.key.tenant_id}
    )
    assert [each.message for each in delivered] == [other]
    assert messages_of(pull(lanes, Lane.ON_TIME)) == [mine]
