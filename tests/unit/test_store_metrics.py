"""What the store's transactions count: once they are committed, and only then."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase
from control_api.exposition import Exposition
from ports.changes import PauseTrigger
from ports.errors import StoreConflict, StoreUnavailable
from ports.records import ClaimRequest
from scheduling.vocabulary import FireState, MissedPolicy
from tests.contract.factories import SqliteHarness
from tests.support.hand_crank import BUSY, LOST, REFUSED, HandCrank
from tests.support.metrics_page import Values, values_of
from tests.support.store_builders import START_US, TENANT, at

DECIDED = "punctual_fires_decided_total"
ENDED = "punctual_fires_ended_total"
DUPLICATES = "punctual_duplicate_keys_total"
ERRORS = "punctual_store_write_errors_total"


@pytest.fixture
def page() -> Iterator[Exposition]:
    with Exposition(lambda: ()) as page:
        yield page


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[SqliteHarness]:
    harness = SqliteHarness(tmp_path)
    yield harness
    harness.close()


@pytest.fixture
def crank(harness: SqliteHarness) -> HandCrank:
    return HandCrank(harness.open()).begin()


def _of(metric: str, page: Exposition) -> Values:
    """The metric's samples, by their labels alone."""
    return {
        name.removeprefix(metric).strip("{}"): value
        for name, value in values_of(page).items()
        if name.startswith(metric)
    }


def test_commit_counts_rows_by_lane_and_first_state(crank: HandCrank, page: Exposition) -> None:
    crank.put("once")
    crank.put("all", missed_policy=MissedPolicy.FIRE_ALL)
    crank.to(600)
    crank.commit("once")
    assert _of(DECIDED, page) == {
        "lane=on_time,state=not_dispatched": 1,  # a range row of eight instants
        "lane=on_time,state=ready": 2,  # the older of them within its grace
    }
    crank.commit("all")
    assert _of(DECIDED, page)["lane=catch_up,state=held"] == 8
    assert _of(DECIDED, page)["lane=on_time,state=ready"] == 4


def test_change_counts_what_it_settles_and_a_dry_run_nothing(
    crank: HandCrank, page: Exposition
) -> None:
    crank.put()
    crank.to(61)
    pause = PauseTrigger(tenant_id=TENANT, name="job", note=None)
    crank.apply(pause, dry_run=True)
    assert _of(DECIDED, page) == {}
    crank.apply(pause)
    assert _of(DECIDED, page) == {"lane=on_time,state=held": 1}


def test_plan_of_a_gap_counts_its_rows(crank: HandCrank, page: Exposition) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.to(12 * 3_600)
    crank.commit()
    before = _of(DECIDED, page).get("lane=catch_up,state=held", 0)
    planned = crank.plan_gaps()
    assert planned > 0
    assert _of(DECIDED, page)["lane=catch_up,state=held"] - before == planned


def test_commit_that_the_primary_key_stops_counts_a_duplicate_and_no_fire(
    crank: HandCrank, harness: SqliteHarness, page: Exposition
) -> None:
    crank.put()
    crank.commit_at(60)
    harness.peek.set_cursor(
        (TENANT, crank.ids["job"]), decided_through_us=START_US, next_due_us=at(60)
    )
    crank.commit()
    assert _of(DUPLICATES, page) == {"": 1}
    assert _of(DECIDED, page) == {"lane=on_time,state=ready": 1}


@pytest.mark.parametrize("many", [False, True], ids=["commit_due", "commit_due_many"])
def test_duplicate_is_counted_however_the_commit_was_asked_for(
    crank: HandCrank, harness: SqliteHarness, page: Exposition, many: bool
) -> None:
    crank.put()
    crank.commit_at(60)
    trigger = crank.trigger()
    harness.peek.set_cursor(
        (TENANT, trigger.trigger_id), decided_through_us=START_US, next_due_us=at(60)
    )
    epoch = crank.epochs[trigger.partition_id]
    due_index = crank.store.due_index
    if many:
        due_index.commit_due_many({trigger.partition_id: epoch}, now_us=at(60), row_limit=500)
    else:
        due_index.commit_due(trigger.partition_id, epoch, now_us=at(60), row_limit=500)
    assert _of(DUPLICATES, page)[""] >= 1


def test_ends_of_attempted_fires_are_counted_by_state(crank: HandCrank, page: Exposition) -> None:
    crank.put(attempt_budget=1)
    for number, result in enumerate((None, REFUSED, LOST, BUSY), start=1):
        ready = crank.commit_at(60 * number)
        crank.attempt(ready) if result is None else crank.attempt(ready, result=result)
    assert _of(ENDED, page) == {
        "state=accepted": 1,
        "state=refused": 1,
        "state=unknown": 1,
        "state=undelivered": 1,
    }


def test_try_that_will_be_repeated_is_no_end_and_a_repeated_result_no_second(
    crank: HandCrank, page: Exposition
) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60), result=BUSY)
    assert _of(ENDED, page) == {}
    crank.attempt(crank.commit_at(120))
    crank.finish(crank.key(120))
    assert _of(ENDED, page) == {"state=accepted": 1}


def test_claim_that_expires_for_the_last_time_ends_unknown(
    crank: HandCrank, page: Exposition
) -> None:
    crank.put(attempt_budget=1, recurrence=("0 * * * *",))
    crank.claim(crank.commit_at(3_600))
    crank.to(3_620)
    crank.store.leases.heartbeat("crank", now_us=crank.now_us, ttl_us=60_000_000, epsilon_us=0)
    crank.sweep()
    assert _of(ENDED, page) == {"state=unknown": 1}


def test_fire_that_waits_for_a_try_and_is_stopped_is_counted(
    crank: HandCrank, page: Exposition
) -> None:
    crank.put(recurrence=("0 * * * *",))
    crank.attempt(crank.commit_at(3_600), result=LOST)
    crank.to(3_601)
    crank.delete()
    crank.sweep()
    assert _of(ENDED, page) == {"state=unknown": 1}


def test_outcome_is_an_end_once(crank: HandCrank, page: Exposition) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    crank.report(crank.key(60), FireState.SUCCEEDED)
    crank.report(crank.key(60), FireState.FAILED)
    assert _of(ENDED, page) == {"state=accepted": 1, "state=succeeded": 1}


def test_transaction_that_fails_counts_its_error_and_nothing_else(
    crank: HandCrank, page: Exposition, tmp_path: Path
) -> None:
    crank.put(attempt_budget=1)
    claimed = crank.claim(crank.commit_at(60))
    database = SqliteDatabase(tmp_path / "store.db", synchronous="OFF")
    with database.write() as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON fire BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    with pytest.raises(StoreConflict):
        crank.finish(claimed[0].key)
    assert (_of(ENDED, page), _of(ERRORS, page)) == ({}, {"error=StoreConflict": 1})
    with database.write() as connection:
        connection.execute("DROP TRIGGER full")
    database.close()
    crank.finish(claimed[0].key)
    assert _of(ENDED, page) == {"state=accepted": 1}


def test_writer_behind_a_thread_that_hangs_gives_up_and_is_counted(
    page: Exposition, tmp_path: Path
) -> None:
    database = SqliteDatabase(tmp_path / "store.db", synchronous="OFF")
    inside, go = threading.Event(), threading.Event()

    def hang() -> None:
        with database.write():
            inside.set()
            go.wait()

    hanging = threading.Thread(target=hang)
    hanging.start()
    inside.wait()
    told = "another thread of this process holds the store"
    with pytest.raises(StoreUnavailable, match=told), database.write(wait_s=0.01):
        raise AssertionError("it got its turn")
    go.set()
    hanging.join()
    with database.write(wait_s=0.01) as connection:
        assert connection.in_transaction
    database.close()
    assert _of(ERRORS, page) == {"error=StoreUnavailable": 1}


def test_claims_count_nothing(crank: HandCrank, page: Exposition) -> None:
    crank.put()
    (message,) = crank.commit_at(60)
    before = values_of(page)
    crank.store.ledger.claim([ClaimRequest(message.key, message.n)], now_us=crank.now_us)
    assert values_of(page) == before
