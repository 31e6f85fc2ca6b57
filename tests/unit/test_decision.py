"""The values of a decision."""

import pickle

import pytest

from scheduling.decision import DecidedGap, Decision
from scheduling.vocabulary import Cause, FireState, MissedPolicy
from tests.support.builders import a_row


@pytest.mark.parametrize(
    ("through_us", "last_us"),
    [pytest.param(None, 60, id="a_fire"), pytest.param(900, 900, id="a_range_row")],
)
def test_row_ends_at_its_last_instant(through_us: int | None, last_us: int) -> None:
    assert a_row(60, through_us=through_us).last_us == last_us


def test_decision_pickles_to_an_equal_value() -> None:
    row = a_row(60, state=FireState.NOT_DISPATCHED, cause=Cause.PAUSED, through_us=900)
    gap = DecidedGap(900, 1_900, 1, 2_000, MissedPolicy.FIRE_ALL, 150)
    decision = Decision((row,), (gap,), 1_900, 2_500, fired_delta=150)
    assert pickle.loads(pickle.dumps(decision)) == decision
