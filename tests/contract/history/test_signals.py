"""History: the number that pages, and cursors ahead of the clock."""

import pytest

from ports.records import FireRecord
from ports.store import Store
from scheduling.vocabulary import FireState, HeldReason, Lane
from tests.contract.factories import StoreHarness
from tests.support.hand_crank import HandCrank
from tests.support.history_records import a_fire
from tests.support.store_builders import at


@pytest.mark.parametrize(
    ("fire", "due_us"),
    [
        pytest.param(a_fire(state=FireState.READY, due_us=70), 70, id="ready"),
        pytest.param(a_fire(state=FireState.QUEUED, due_us=70), 70, id="queued"),
        pytest.param(a_fire(state=FireState.DISPATCHING, due_us=70), 70, id="dispatching"),
        pytest.param(
            a_fire(state=FireState.QUEUED, due_us=70, first_dispatched_us=71), None, id="retried"
        ),
        pytest.param(
            a_fire(
                sequence=1,
                state=FireState.HELD,
                due_us=70,
                held_reason=HeldReason.DUE_LATER,
                not_before_us=70,
            ),
            70,
            id="waits_for_the_owner",
        ),
        pytest.param(
            a_fire(
                state=FireState.HELD,
                due_us=70,
                held_reason=HeldReason.BACKOFF,
                not_before_us=75,
                first_dispatched_us=71,
            ),
            None,
            id="held_backoff",
        ),
        pytest.param(
            a_fire(state=FireState.READY, due_us=70, lane=Lane.CATCH_UP), None, id="catch_up"
        ),
        pytest.param(
            a_fire(state=FireState.READY, due_us=70, lane=Lane.BACKFILL), None, id="backfill"
        ),
        *(
            pytest.param(
                a_fire(state=FireState.HELD, due_us=70, held_reason=reason),
                None,
                id=f"held_{reason}",
            )
            for reason in (HeldReason.OVERLAP, HeldReason.LANE_RATE)
        ),
        *(
            pytest.param(a_fire(state=state, due_us=70), None, id=f"ended_{state}")
            for state in (FireState.ACCEPTED, FireState.UNDELIVERED, FireState.NOT_DISPATCHED)
        ),
    ],
)
def test_oldest_undispatched_counts_on_time_fires_without_an_attempt(
    harness: StoreHarness, store: Store, fire: FireRecord, due_us: int | None
) -> None:
    harness.plant(fire)
    assert store.history.oldest_undispatched_due_us() == due_us


def test_oldest_undispatched_is_the_oldest_of_all_partitions(
    harness: StoreHarness, store: Store
) -> None:
    harness.plant(
        *(
            a_fire(f"t{number}", state=FireState.READY, due_us=1_000 - number)
            for number in range(50)
        )
    )
    assert store.history.oldest_undispatched_due_us() == 951


@pytest.mark.parametrize(
    ("next_due_us", "oldest_us"),
    [
        pytest.param(60, 60, id="row_older_than_the_fire"),
        pytest.param(80, 70, id="row_younger_than_the_fire"),
        pytest.param(None, 70, id="row_that_is_never_due"),
    ],
)
def test_oldest_undispatched_counts_due_rows_that_nobody_decided(
    harness: StoreHarness, store: Store, next_due_us: int | None, oldest_us: int
) -> None:
    harness.plant_trigger("acme", trigger_id="t1", name="n", next_due_us=next_due_us)
    harness.plant(a_fire(state=FireState.READY, due_us=70))
    assert store.history.oldest_undispatched_due_us() == oldest_us


def test_oldest_undispatched_of_an_empty_store_is_none(store: Store) -> None:
    assert store.history.oldest_undispatched_due_us() is None


def test_decided_ahead_counts_cursors_after_the_time(crank: HandCrank) -> None:
    history = crank.store.history
    crank.put("early")
    crank.put("late", recurrence=("*/2 * * * *",))
    crank.commit_at(60, name="early")
    crank.commit_at(120, name="late")
    assert history.decided_ahead(crank.now_us) is None
    assert history.decided_ahead(at(90)) == (1, at(120))
    assert history.decided_ahead(at(30)) == (2, at(120))
