"""The gap planner: any slicing gives the same fires as one go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.decide import decide
from scheduling.decision import DecidedGap, DecidedRow
from scheduling.gaps import plan_gap
from scheduling.instants import SECOND_US
from scheduling.rules import Rules
from scheduling.vocabulary import FireState, HeldReason, Lane, MissedPolicy
from tests.support.brief import brief_row
from tests.support.builders import a_rules, at_seconds
from tests.support.decision_cases import moments, rules, views
from tests.support.decision_model import decided_fates


def _planned(version: Rules, gap: DecidedGap, limits: list[int]) -> list[DecidedRow]:
    """The gap's fires, planned in slices whose sizes go round."""
    rows: list[DecidedRow] = []
    through_us, done, turn = gap.after_us, False, 0
    while not done:
        limit = limits[turn % len(limits)]
        plan = plan_gap(
            version,
            through_us,
            through_us=gap.through_us,
            limit=limit,
            detected_us=gap.detected_us,
        )
        assert len(plan.rows) <= limit
        assert plan.planned_through_us > through_us
        rows += plan.rows
        through_us, done, turn = plan.planned_through_us, plan.done, turn + 1
    assert through_us == gap.through_us
    return rows


@given(data=st.data(), limits=st.lists(st.integers(1, 200), min_size=1, max_size=5))
def test_gap_in_any_slicing_equals_one_go(data: st.DataObject, limits: list[int]) -> None:
    version = data.draw(rules())
    after_us, through_us = sorted(data.draw(st.tuples(moments((version,)), moments((version,)))))
    if after_us == through_us:
        through_us += 1
    count = version.recurrence.count_between_us(after_us, through_us)
    gap = DecidedGap(after_us, through_us, 1, through_us, MissedPolicy.FIRE_ALL, count)
    rows = _planned(version, gap, limits)
    assert rows == _planned(version, gap, [10_000])
    instants = version.recurrence.between_us(after_us, through_us, 10_000)
    assert [row.scheduled_us for row in rows] == instants


@given(data=st.data())
def test_gap_of_a_decision_plans_what_it_reserved(data: st.DataObject) -> None:
    view = data.draw(views(missed_policy=MissedPolicy.FIRE_ALL, horizon_us=10**15))
    decision = decide(view, data.draw(moments(tuple(view.versions.values()))))
    fates = decided_fates(view, decision)
    for gap in decision.gaps:
        rows = _planned(view.versions[gap.version], gap, [7, 50])
        assert len(rows) == gap.instant_count
        assert {fates[row.scheduled_us].kind for row in rows} == {"catch_up"}


def test_gap_rows_wait_in_the_catch_up_lane_with_their_own_instants() -> None:
    version = a_rules(recurrence=at_seconds(60, 120, 180))
    plan = plan_gap(version, 60 * SECOND_US, through_us=180 * SECOND_US, limit=10)
    assert [brief_row(row) for row in plan.rows] == [
        "120 catch_up held lane_rate",
        "180 catch_up held lane_rate",
    ]
    assert {(row.lane, row.state) for row in plan.rows} == {(Lane.CATCH_UP, FireState.HELD)}
    assert plan.done


@pytest.mark.parametrize(
    ("after", "through", "limit", "planned_through", "done"),
    [
        pytest.param(0, 180, 2, 120, False, id="a_slice"),
        pytest.param(0, 180, 3, 180, True, id="just_all"),
        pytest.param(120, 180, 3, 180, True, id="the_rest"),
        pytest.param(180, 999, 3, 999, True, id="no_instant_left"),
        pytest.param(120, 999, 1, 180, False, id="end_not_known_yet"),
    ],
)
def test_gap_slice_says_how_far_it_is_planned(
    after: int, through: int, limit: int, *, planned_through: int, done: bool
) -> None:
    version = a_rules(recurrence=at_seconds(60, 120, 180))
    plan = plan_gap(version, after * SECOND_US, through_us=through * SECOND_US, limit=limit)
    assert (plan.planned_through_us, plan.done) == (planned_through * SECOND_US, done)


@pytest.mark.parametrize("limit", [0, -1])
def test_gap_slice_of_nothing_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=r"limit: .* give at least 1"):
        plan_gap(a_rules(), 0, through_us=60 * SECOND_US, limit=limit)


def test_gap_of_a_pause_holds_what_was_not_due_when_it_was_detected() -> None:
    version = a_rules(recurrence=at_seconds(60, 4200), smear_us=600 * SECOND_US)
    (row,) = plan_gap(
        version, 0, through_us=60 * SECOND_US, limit=9, detected_us=61 * SECOND_US
    ).rows
    assert row.held_reason is HeldReason.DUE_LATER
    assert row.not_before_us == row.due_us > 61 * SECOND_US
