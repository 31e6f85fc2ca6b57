"""commit_due: the primary key is the backstop when a due row is behind the ledger."""

import pytest

from ports.records import LaneMessage
from scheduling.vocabulary import FireState, Lane, MissedPolicy, OverlapPolicy
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import START_US, TENANT, at, names_of_one_partition


def _put_back(crank: HandCrank, peek: StorePeek, name: str = "job") -> None:
    """The due row as it was when the trigger was made."""
    peek.set_cursor((TENANT, crank.ids[name]), decided_through_us=START_US, next_due_us=at(60))


def test_stale_row_commits_nothing_twice_and_publishes_nothing_twice(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    crank.commit_at(60, 120)
    rows = crank.fires()
    before = peek.due_index()
    _put_back(crank, peek)
    result = crank.commit()
    assert (result.ready, result.rows) == ((), 0)
    assert crank.fires() == rows
    assert peek.due_index() == before


def test_stale_row_decides_on_from_where_the_ledger_stands(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    crank.commit_at(60)
    _put_back(crank, peek)
    crank.to(120)
    assert crank.commit().ready == (LaneMessage(crank.key(120), Lane.ON_TIME, 1),)
    assert crank.lines() == ["60 ready", "120 ready"]


def test_stale_row_does_not_keep_others_from_committing(crank: HandCrank, peek: StorePeek) -> None:
    names = names_of_one_partition(3)
    for name in names:
        crank.put(name)
    crank.commit_at(60, name=names[0])
    _put_back(crank, peek, names[1])
    crank.to(120)
    result = crank.commit(names[0])
    assert sorted(message.key for message in result.ready) == sorted(
        crank.key(120, name) for name in names
    )
    assert [crank.lines(name) for name in names] == [["60 ready", "120 ready"]] * 3


def test_stale_row_counts_no_fire_twice(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(max_fires=5)
    crank.commit_at(60, 120)
    _put_back(crank, peek)
    crank.commit_at(180)
    assert crank.trigger().fired_count == 3


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(MissedPolicy.FIRE_ALL, id="a_gap"),
        pytest.param(MissedPolicy.FIRE_ONCE_NOW, id="a_range_row"),
    ],
)
def test_stale_row_behind_a_long_range_changes_nothing(
    crank: HandCrank, peek: StorePeek, policy: MissedPolicy
) -> None:
    crank.put(missed_policy=policy, catchup_horizon_s=86_400)
    crank.commit_at(150 * 60)
    rows, gaps = crank.fires(), crank.store.history.gaps()
    _put_back(crank, peek)
    assert crank.commit().rows == 0
    assert (crank.fires(), crank.store.history.gaps()) == (rows, gaps)


def test_stale_row_behind_a_planned_gap_plans_nothing_twice(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.commit_at(150 * 60)
    crank.plan_gaps()
    rows = crank.fires()
    assert crank.store.history.gaps() == []
    _put_back(crank, peek)
    crank.commit()
    crank.plan_gaps()
    assert crank.fires() == rows


def test_stale_row_takes_no_slot_for_a_run_that_is_over(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.attempt(crank.commit_at(60))
    crank.report(crank.key(60), FireState.SUCCEEDED)
    _put_back(crank, peek)
    crank.commit()
    crank.commit_at(120)
    assert crank.lines() == ["60 succeeded", "120 ready"]


def test_stale_row_keeps_the_pending_catch_up_absorbable(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    assert crank.lines() == ["600 catch_up held lane_rate"]
    _put_back(crank, peek)
    crank.commit_at(1_200)
    assert crank.lines() == ["600 coalesced>1200", "1200 ready"]


def test_edit_of_a_stale_row_settles_nothing_twice(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.commit_at(60, 120)
    _put_back(crank, peek)
    crank.to(150)
    crank.put(recurrence=("*/2 * * * *",))
    assert crank.lines() == ["60 ready", "120 ready"]
    crank.commit_at(240)
    assert crank.lines()[2:] == ["240 ready"]
