"""commit_due_many: the same decisions as one by one, each partition fenced by itself."""

from typing import Any

from scheduling.limits import COMMIT_ROWS_MAX, GAP_THRESHOLD_INSTANTS, TRIGGER_ROWS_MAX
from scheduling.vocabulary import MissedPolicy
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import START_US, TENANT, at

NAMES = [f"job-{number}" for number in range(12)]


def _put_all(crank: HandCrank, **changes: Any) -> dict[int, int]:
    """A trigger a name; the epochs of their partitions."""
    for name in NAMES:
        crank.put(name, **changes)
    wanted = {crank.trigger(name).partition_id for name in NAMES}
    assert len(wanted) > 3
    return {
        lease.partition_id: lease.epoch
        for lease in crank.store.leases.leases()
        if lease.partition_id in wanted
    }


def _fates(crank: HandCrank) -> list[list[str]]:
    return [crank.lines(name) for name in NAMES]


def test_commit_due_many_decides_every_partition_and_says_what_of_each(crank: HandCrank) -> None:
    leases = _put_all(crank)
    crank.to(60)
    results = crank.store.due_index.commit_due_many(
        leases, now_us=crank.now_us, row_limit=COMMIT_ROWS_MAX
    )
    assert set(results) == set(leases)
    assert sum(result.rows for result in results.values()) == len(NAMES)
    assert sorted(m.key for result in results.values() for m in result.ready) == sorted(
        crank.key(60, name) for name in NAMES
    )
    assert _fates(crank) == [["60 ready"]] * len(NAMES)


def test_commit_due_many_leaves_a_fenced_partition_alone(crank: HandCrank) -> None:
    leases = _put_all(crank)
    fenced = min(leases)
    crank.to(60)
    results = crank.store.due_index.commit_due_many(
        leases | {fenced: leases[fenced] - 1}, now_us=crank.now_us, row_limit=COMMIT_ROWS_MAX
    )
    assert results[fenced].fenced
    assert not any(result.fenced for key, result in results.items() if key != fenced)
    for name in NAMES:
        is_fenced = crank.trigger(name).partition_id == fenced
        assert crank.lines(name) == ([] if is_fenced else ["60 ready"])


def test_commit_due_many_keeps_the_row_limit_and_repeated_decides_all(crank: HandCrank) -> None:
    leases = _put_all(crank, missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.to(GAP_THRESHOLD_INSTANTS * 60 + 30)
    sizes = []
    while leases:
        results = crank.store.due_index.commit_due_many(
            leases, now_us=crank.now_us, row_limit=COMMIT_ROWS_MAX
        )
        assert next(iter(leases)) in results
        sizes.append(sum(result.rows for result in results.values()))
        leases = {p: e for p, e in leases.items() if p not in results or results[p].more}
    assert max(sizes) <= COMMIT_ROWS_MAX
    assert sum(sizes) == GAP_THRESHOLD_INSTANTS * len(NAMES)


def test_commit_due_many_counts_the_kept_fires_of_every_partition(crank: HandCrank) -> None:
    leases = _put_all(crank, smear_s=50)
    crank.to(60)
    for name in NAMES:
        crank.put(name, ends_us=at(60))
    assert _fates(crank) == [["60 held due_later"]] * len(NAMES)
    crank.to(120)
    results = crank.store.due_index.commit_due_many(
        leases, now_us=crank.now_us, row_limit=TRIGGER_ROWS_MAX + 2
    )
    rows = sum(result.rows for result in results.values())
    assert rows == sum(len(result.ready) for result in results.values())
    assert rows >= 3
    assert len(results) < len(leases)


def test_commit_due_many_with_a_stale_row_commits_nothing_twice_and_all_others(
    crank: HandCrank, peek: StorePeek
) -> None:
    leases = _put_all(crank)
    crank.commit_at(60, name=NAMES[0])
    peek.set_cursor((TENANT, crank.ids[NAMES[0]]), decided_through_us=START_US, next_due_us=at(60))
    crank.to(60)
    results = crank.store.due_index.commit_due_many(
        leases, now_us=crank.now_us, row_limit=COMMIT_ROWS_MAX
    )
    assert set(results) == set(leases)
    assert _fates(crank) == [["60 ready"]] * len(NAMES)
