"""Overlap policies, given the slot and what is buffered already."""

import pytest

from scheduling.decision import DecidedRow
from scheduling.limits import OVERLAP_BUFFER_MAX
from scheduling.overlap import resolve_overlap
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, OverlapPolicy
from tests.support.builders import a_row

ALLOW, SKIP = OverlapPolicy.ALLOW, OverlapPolicy.SKIP
ONE, ALL = OverlapPolicy.BUFFER_ONE, OverlapPolicy.BUFFER_ALL


def _letters(policy: OverlapPolicy, count: int, *, slot_taken: bool, buffered: int) -> str:
    """The fates of `count` on-time instants: r ready, h held for overlap, x not dispatched."""
    rows = [a_row(instant_us, retry_until_us=99) for instant_us in range(count)]
    resolved = resolve_overlap(policy, rows, slot_taken=slot_taken, buffered=buffered)
    assert [row.scheduled_us for row in resolved] == list(range(count))
    letters = {FireState.READY: "r", FireState.HELD: "h", FireState.NOT_DISPATCHED: "x"}
    for row in resolved:
        is_held, is_skipped = row.state is FireState.HELD, row.state is FireState.NOT_DISPATCHED
        assert row.held_reason is (HeldReason.OVERLAP if is_held else None)
        assert row.cause is (Cause.OVERLAP if is_skipped else None)
        assert row.retry_until_us == (99 if row.state is FireState.READY else None)
    return "".join(letters[row.state] for row in resolved)


@pytest.mark.parametrize(
    ("policy", "slot_taken", "buffered", "expected"),
    [
        pytest.param(ALLOW, False, 0, "rrr", id="allow"),
        pytest.param(ALLOW, True, 7, "rrr", id="allow_whatever_runs"),
        pytest.param(SKIP, False, 0, "rxx", id="skip_first_takes_the_slot"),
        pytest.param(SKIP, True, 0, "xxx", id="skip_slot_taken"),
        pytest.param(ONE, False, 0, "rhx", id="buffer_one_holds_the_oldest"),
        pytest.param(ONE, True, 0, "hxx", id="buffer_one_slot_taken"),
        pytest.param(ONE, True, 1, "xxx", id="buffer_one_keeps_the_one_it_has"),
        pytest.param(ONE, False, 1, "xxx", id="buffer_one_free_slot_is_for_the_buffered"),
        pytest.param(ALL, False, 0, "rhh", id="buffer_all"),
        pytest.param(ALL, True, 0, "hhh", id="buffer_all_slot_taken"),
        pytest.param(ALL, False, 1, "hhh", id="buffer_all_newer_queue_behind"),
        pytest.param(ALL, True, 98, "hhx", id="buffer_all_up_to_its_bound"),
        pytest.param(ALL, True, 100, "xxx", id="buffer_all_full"),
    ],
)
def test_overlap_policy_resolves_on_time_instants(
    policy: OverlapPolicy, slot_taken: bool, buffered: int, expected: str
) -> None:
    assert _letters(policy, 3, slot_taken=slot_taken, buffered=buffered) == expected


def test_overlap_buffer_all_is_bounded_in_one_decision() -> None:
    assert OVERLAP_BUFFER_MAX == 100
    letters = _letters(ALL, 103, slot_taken=False, buffered=0)
    assert letters == "r" + "h" * 100 + "xx"


@pytest.mark.parametrize("policy", OverlapPolicy)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(a_row(state=FireState.HELD, lane=Lane.CATCH_UP), id="catch_up_waits"),
        pytest.param(a_row(lane=Lane.CATCH_UP), id="ready_catch_up"),
        pytest.param(
            a_row(state=FireState.NOT_DISPATCHED, cause=Cause.PAUSED, through_us=9), id="range_row"
        ),
    ],
)
def test_overlap_leaves_other_rows_alone(policy: OverlapPolicy, row: DecidedRow) -> None:
    assert resolve_overlap(policy, [row], slot_taken=True, buffered=100) == (row,)
