"""commit_due: at most so many rows a transaction, a trigger never split, and it says if more."""

import pytest

from scheduling.limits import COMMIT_ROWS_MAX, GAP_THRESHOLD_INSTANTS
from scheduling.vocabulary import MissedPolicy, TriggerState
from tests.contract.factories import StoreHarness
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, names_of_one_partition

FIRE_ALL = MissedPolicy.FIRE_ALL


def _missed(crank: HandCrank, *, triggers: int, instants: int) -> list[str]:
    """Triggers of one partition, each with so many instants that all have to fire."""
    names = names_of_one_partition(triggers)
    for name in names:
        crank.put(
            name,
            missed_policy=FIRE_ALL,
            catchup_horizon_s=86_400,
            ends_us=crank.now_us + instants * 60_000_000,
        )
    crank.to(instants * 60 + 120)
    return names


def test_commit_due_never_splits_a_trigger_and_says_that_more_is_due(crank: HandCrank) -> None:
    names = _missed(crank, triggers=4, instants=40)
    result = crank.commit(names[0], row_limit=100)
    assert (result.rows, result.triggers, result.more) == (80, 2, True)
    assert sorted(len(crank.fires(name)) for name in names) == [0, 0, 40, 40]


def test_commit_due_repeated_until_no_more_decides_everything_once(crank: HandCrank) -> None:
    names = _missed(crank, triggers=5, instants=40)
    sizes = []
    while True:
        result = crank.commit(names[0], row_limit=100)
        sizes.append(result.rows)
        if not result.more:
            break
    assert (sum(sizes), max(sizes)) == (200, 80)
    assert [len(crank.fires(name)) for name in names] == [40] * 5
    assert crank.commit(names[0]).rows == 0


def test_commit_due_default_limit_holds_over_many_triggers(crank: HandCrank) -> None:
    names = _missed(crank, triggers=7, instants=90)
    result = crank.commit(names[0])
    assert (result.rows, result.triggers, result.more) == (450, 5, True)
    assert result.rows <= COMMIT_ROWS_MAX


def test_commit_due_trigger_larger_than_the_limit_commits_whole_and_alone(
    crank: HandCrank,
) -> None:
    names = _missed(crank, triggers=2, instants=30)
    result = crank.commit(names[0], row_limit=10)
    assert (result.rows, result.triggers, result.more) == (30, 1, True)


def test_commit_due_many_triggers_with_one_row_each_stop_at_the_limit(crank: HandCrank) -> None:
    names = names_of_one_partition(12)
    for name in names:
        crank.put(name)
    crank.to(60)
    assert [crank.commit(names[0], row_limit=5).rows for _ in range(3)] == [5, 5, 2]


@pytest.mark.parametrize(
    ("instants", "rows", "gaps"),
    [
        pytest.param(GAP_THRESHOLD_INSTANTS, GAP_THRESHOLD_INSTANTS, 0, id="at_the_threshold"),
        pytest.param(GAP_THRESHOLD_INSTANTS + 1, 1, 1, id="beyond_it"),
    ],
)
def test_commit_due_long_fire_all_becomes_one_gap(
    crank: HandCrank, instants: int, rows: int, gaps: int
) -> None:
    crank.put(
        missed_policy=FIRE_ALL,
        catchup_horizon_s=86_400,
        ends_us=crank.now_us + instants * 60_000_000,
    )
    crank.to(instants * 60 + 120)
    assert crank.commit().rows == rows
    found = crank.store.history.gaps()
    assert [gap.instant_count for gap in found] == [instants] * gaps
    assert [gap.detected_us for gap in found] == [crank.now_us] * gaps


def _keep_a_fire_each(crank: HandCrank, *, triggers: int) -> list[str]:
    """Triggers of one partition, each with a smeared fire that an edit kept, and one then due."""
    names = names_of_one_partition(triggers)
    for name in names:
        crank.to(0)
        crank.put(name, smear_s=50)
        crank.to(60)
        crank.put(name, recurrence=("*/2 * * * *",))
    assert [crank.lines(name) for name in names] == [["60 held due_later"]] * triggers
    crank.to(120)
    return names


def test_commit_due_counts_kept_fires_and_lets_them_all_go_first(crank: HandCrank) -> None:
    names = _keep_a_fire_each(crank, triggers=6)
    results = [crank.commit(names[0], row_limit=4)]
    while results[-1].more:
        results.append(crank.commit(names[0], row_limit=4))
    assert [(each.rows, len(each.ready)) for each in results] == [(4, 4)] * 3 + [(0, 0)]
    sent = [message.key for each in results for message in each.ready]
    assert set(sent[:6]) == {crank.key(60, name) for name in names}
    assert set(sent[6:]) == {crank.key(120, name) for name in names}


def test_commit_due_counts_what_quarantines_write(crank: HandCrank, harness: StoreHarness) -> None:
    names = names_of_one_partition(5)
    for name in names:
        crank.put(name)
        harness.peek.set_rule((TENANT, crank.ids[name]), "nonsense", version=1)
    crank.store = harness.open()
    crank.to(60)
    results = [crank.commit(names[0], row_limit=12) for _ in range(3)]
    assert [(len(each.quarantined), each.rows, each.more) for each in results] == [
        (2, 10, True),
        (2, 10, True),
        (1, 5, False),
    ]
    assert {crank.trigger(name).state for name in names} == {TriggerState.QUARANTINED}
