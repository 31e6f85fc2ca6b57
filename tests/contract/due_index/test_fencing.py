"""commit_due: another epoch than the lease's writes nothing."""

import pytest

from ports.records import CommitResult
from scheduling.instants import SECOND_US
from scheduling.keys import partition_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import OWNER, HandCrank


@pytest.mark.parametrize("offset", [pytest.param(-1, id="older"), pytest.param(1, id="newer")])
def test_commit_due_with_another_epoch_writes_nothing(
    crank: HandCrank, peek: StorePeek, offset: int
) -> None:
    crank.put()
    crank.to(60)
    partition_id = partition_of(crank.ids["job"])
    before = peek.content()
    result = crank.store.due_index.commit_due(
        partition_id, crank.epochs[partition_id] + offset, now_us=crank.now_us, row_limit=500
    )
    assert result == CommitResult(fenced=True)
    assert peek.content() == before


def test_commit_due_after_a_take_over_is_fenced_and_the_new_owner_decides(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    crank.to(120)
    crank.store.leases.release(OWNER, now_us=crank.now_us)
    beat = crank.store.leases.heartbeat(
        "other", now_us=crank.now_us, ttl_us=6 * SECOND_US, epsilon_us=0
    )
    before = peek.content()
    assert crank.commit().fenced
    assert peek.content() == before
    crank.epochs = beat.held
    assert crank.commit().rows == 2


def test_commit_due_with_an_expired_lease_that_nobody_took_decides(crank: HandCrank) -> None:
    crank.put()
    crank.to(3_600)
    assert crank.commit().fenced is False
    assert crank.lines()[-1] == "3600 ready"
