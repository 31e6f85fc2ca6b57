"""commit_due: what is due becomes rows, once, in order, and the due row moves with them."""

import pytest

from ports.records import CommitResult, LaneMessage
from ports.store import Store
from scheduling.keys import partition_of, trigger_id_of
from scheduling.vocabulary import Lane, MissedPolicy, TriggerState
from scheduling.zones import tzdata_version
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, at, names_of_one_partition


def test_commit_due_instant_becomes_a_ready_fire_to_publish(crank: HandCrank) -> None:
    crank.put()
    crank.to(60.25)
    result = crank.commit()
    assert result == CommitResult(
        ready=(LaneMessage(crank.key(60), Lane.ON_TIME, 1),), rows=1, triggers=1
    )
    (fire,) = crank.fires()
    assert (fire.due_us, fire.decided_us, fire.committed_us) == (at(60), at(60.25), at(60.25))
    assert (fire.version, fire.next_attempt_n) == (1, 1)
    assert fire.tzdata_version == tzdata_version()


def test_commit_due_a_microsecond_early_decides_nothing(crank: HandCrank) -> None:
    crank.put()
    crank.to(59.999999)
    assert crank.commit() == CommitResult()
    assert crank.lines() == []


def test_commit_due_repeated_decides_nothing_twice(crank: HandCrank) -> None:
    crank.put()
    crank.to(60)
    crank.commit()
    assert crank.commit() == CommitResult()
    assert crank.lines() == ["60 ready"]


def test_commit_due_moves_cursor_count_and_next_due(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.commit_at(60)
    (row,) = peek.due_index()
    assert (row.decided_through_us, row.next_due_us, row.fired_count) == (at(60), at(120), 1)


def test_commit_due_several_late_instants_are_ready_in_order(crank: HandCrank) -> None:
    crank.put(recurrence=("*/2 * * * * *",))
    crank.to(6.5)
    assert [message.key for message in crank.commit().ready] == [
        crank.key(2),
        crank.key(4),
        crank.key(6),
    ]


@pytest.mark.parametrize(
    ("policy", "lines"),
    [
        pytest.param(
            MissedPolicy.FIRE_ONCE_NOW,
            ["60..60 x1 coalesced>120", "120 catch_up held lane_rate"],
            id="fire_once_now",
        ),
        pytest.param(MissedPolicy.SKIP, ["60..120 x2 skipped_by_policy"], id="skip"),
        pytest.param(
            MissedPolicy.FIRE_ALL,
            ["60 catch_up held lane_rate", "120 catch_up held lane_rate"],
            id="fire_all",
        ),
    ],
)
def test_commit_due_missed_instants_go_by_policy(
    crank: HandCrank, policy: MissedPolicy, lines: list[str]
) -> None:
    crank.put(missed_policy=policy, recurrence=("1,2 * * * *",))
    crank.to(600)
    assert crank.commit().ready == ()
    assert crank.lines() == lines


def test_commit_due_past_the_horizon_says_which_horizon(crank: HandCrank) -> None:
    crank.put(catchup_horizon_s=90, horizon_source="chosen by bob")
    crank.to(325)
    crank.commit()
    assert crank.lines() == [
        "60..180 x3 expired_past_horizon",
        "240..240 x1 coalesced>300",
        "300 ready",
    ]
    assert crank.fires()[0].cause_detail == "horizon 90s, chosen by bob"


def test_commit_due_leaves_other_partitions_alone(crank: HandCrank) -> None:
    crank.put("one")
    crank.put("two")
    assert partition_of(crank.ids["one"]) != partition_of(crank.ids["two"])
    crank.to(60)
    crank.commit("one")
    assert (crank.lines("one"), crank.lines("two")) == (["60 ready"], [])


def test_commit_due_takes_every_due_trigger_of_the_partition(crank: HandCrank) -> None:
    names = names_of_one_partition(3)
    for name in names:
        crank.put(name)
    crank.to(60)
    result = crank.commit(names[0])
    assert (result.triggers, result.rows, result.more) == (3, 3, False)
    assert [crank.lines(name) for name in names] == [["60 ready"]] * 3


def test_commit_due_smeared_instant_waits_for_its_due_time(crank: HandCrank) -> None:
    crank.put(smear_s=30)
    (due_us,) = crank.store.due_index.next_due([partition_of(crank.ids["job"])]).values()
    assert at(60) < due_us < at(90)
    crank.now_us = due_us - 1
    assert crank.commit().ready == ()
    crank.now_us = due_us
    assert [message.key for message in crank.commit().ready] == [crank.key(60)]
    assert crank.fires()[0].due_us == due_us


def test_commit_due_last_instant_finishes_the_trigger(crank: HandCrank) -> None:
    crank.put(recurrence=("at 2026-03-02T00:01",))
    crank.commit_at(60)
    trigger = crank.trigger()
    assert (trigger.state, trigger.next_due_us) == (TriggerState.FINISHED, None)


def test_commit_due_max_fires_finishes_the_trigger(crank: HandCrank) -> None:
    crank.put(max_fires=2)
    crank.commit_at(60, 120, 180)
    assert crank.lines() == ["60 ready", "120 ready"]
    trigger = crank.trigger()
    assert (trigger.state, trigger.fired_count) == (TriggerState.FINISHED, 2)


def test_commit_due_of_another_handle_sees_the_same_rows(
    crank: HandCrank, store: Store, peek: StorePeek
) -> None:
    crank.put()
    crank.commit_at(60)
    rows = peek.due_index()
    assert crank.commit() == CommitResult()
    assert peek.due_index() == rows
    assert store.due_index.next_due(range(256)) == {partition_of(crank.ids["job"]): at(120)}


def test_next_due_is_the_earliest_of_each_partition(crank: HandCrank) -> None:
    names = names_of_one_partition(2)
    crank.put(names[0], recurrence=("*/5 * * * *",))
    crank.put(names[1], recurrence=("*/3 * * * *",))
    crank.put("alone", recurrence=("7 * * * *",))
    shared = partition_of(trigger_id_of(TENANT, names[0], generation=0))
    alone = partition_of(crank.ids["alone"])
    empty = next(number for number in range(256) if number not in (shared, alone))
    assert crank.store.due_index.next_due([empty, shared, alone]) == {
        shared: at(180),
        alone: at(420),
    }
    assert crank.store.due_index.next_due([empty]) == {}
