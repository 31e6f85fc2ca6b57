"""Overlap and absorption on a decision just made, and what they give back to `max_fires`."""

import pytest

from scheduling.decide import decide
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.resolve import SlotView, resolve
from scheduling.vocabulary import MissedPolicy, OverlapPolicy
from tests.support.brief import brief
from tests.support.builders import a_rules, a_view, at_seconds, seconds

ALLOW, SKIP = OverlapPolicy.ALLOW, OverlapPolicy.SKIP
ONE, ALL = OverlapPolicy.BUFFER_ONE, OverlapPolicy.BUFFER_ALL
FREE, TAKEN = SlotView(), SlotView(taken=True)


def _view(
    *instants: int, pending: int | None = None, fired: int = 0, **changes: object
) -> TriggerView:
    rules = a_rules(recurrence=at_seconds(*instants), **changes)
    pending_us = None if pending is None else pending * SECOND_US
    return a_view(
        rules=rules, cursor_us=(pending or 0) * SECOND_US, fired_count=fired, pending_us=pending_us
    )


def test_resolve_allow_without_pending_changes_nothing() -> None:
    view = _view(60, 62, 4000)
    decision = decide(view, 62 * SECOND_US)
    assert resolve(decision, view, policy=ALLOW, slot=TAKEN) == decision


@pytest.mark.parametrize(
    ("policy", "slot", "expected", "fired"),
    [
        pytest.param(SKIP, FREE, ["60 ready", "61 overlap", "62 overlap"], 1, id="skip"),
        pytest.param(SKIP, TAKEN, ["60 overlap", "61 overlap", "62 overlap"], 0, id="skip_taken"),
        pytest.param(ONE, FREE, ["60 ready", "61 held overlap", "62 overlap"], 2, id="one"),
        pytest.param(ALL, FREE, ["60 ready", "61 held overlap", "62 held overlap"], 3, id="all"),
    ],
)
def test_resolve_overlap_gives_back_what_it_skips(
    policy: OverlapPolicy, slot: SlotView, expected: list[str], fired: int
) -> None:
    view = _view(60, 61, 62, 4000)
    resolved = resolve(decide(view, 62 * SECOND_US), view, policy=policy, slot=slot)
    assert brief(resolved) == expected
    assert resolved.fired_delta == fired
    assert [row.retry_until_us for row in resolved.rows] == [
        4000 * SECOND_US if line.endswith("ready") else None for line in expected
    ]


def test_resolve_overlap_at_max_fires_reopens_the_trigger() -> None:
    view = _view(60, 61, 62, 63, max_fires=2)
    decision = decide(view, 63 * SECOND_US)
    assert brief(decision) == ["60 ready", "61 ready"]
    assert (decision.finished, decision.next_due_us) == (True, None)
    resolved = resolve(decision, view, policy=SKIP, slot=FREE)
    assert brief(resolved) == ["60 ready", "61 overlap"]
    assert (resolved.fired_delta, resolved.finished) == (1, False)
    assert resolved.next_due_us == resolved.rows[0].retry_until_us == 62 * SECOND_US


def test_resolve_missed_follow_the_fire_that_overlap_left() -> None:
    view = _view(10, 20, 60, 61, 62, 4000)
    decision = decide(view, 62 * SECOND_US)
    assert brief(decision)[0] == "10..20 x2 coalesced>62"
    skipped = resolve(decision, view, policy=SKIP, slot=FREE)
    assert brief(skipped)[:2] == ["10..20 x2 coalesced>60", "60 ready"]
    held = resolve(decision, view, policy=ONE, slot=FREE)
    assert brief(held)[:3] == ["10..20 x2 coalesced>61", "60 ready", "61 held overlap"]
    taken = resolve(decision, view, policy=SKIP, slot=TAKEN)
    assert brief(taken)[0] == "10..20 x2 coalesced>62"


def test_resolve_ready_fire_absorbs_the_pending_one() -> None:
    view = _view(60, 120, 4000, pending=60, fired=1)
    resolved = resolve(decide(view, 120 * SECOND_US), view, policy=ALLOW, slot=FREE)
    assert brief(resolved) == ["120 ready"]
    assert [resolved.absorbed_us, resolved.absorbed_into_us] == seconds(60, 120)
    assert (resolved.fired_delta, resolved.pending_us) == (0, None)


def test_resolve_newest_of_several_fires_absorbs() -> None:
    view = _view(60, 120, 121, 4000, pending=60)
    resolved = resolve(decide(view, 121 * SECOND_US), view, policy=ALLOW, slot=FREE)
    assert resolved.absorbed_into_us == 121 * SECOND_US
    assert resolved.fired_delta == 1


def test_resolve_next_catch_up_fire_absorbs_and_is_pending_itself() -> None:
    view = _view(60, 120, 4000, pending=60)
    resolved = resolve(decide(view, 600 * SECOND_US), view, policy=ALLOW, slot=FREE)
    assert brief(resolved) == ["120 catch_up held lane_rate"]
    assert [resolved.absorbed_us, resolved.absorbed_into_us] == seconds(60, 120)
    assert (resolved.fired_delta, resolved.pending_us) == (0, 120 * SECOND_US)


@pytest.mark.parametrize(
    ("policy", "slot"),
    [
        pytest.param(SKIP, TAKEN, id="skipped"),
        pytest.param(ONE, TAKEN, id="buffered"),
    ],
)
def test_resolve_fire_that_overlap_stopped_absorbs_nothing(
    policy: OverlapPolicy, slot: SlotView
) -> None:
    view = _view(60, 120, 4000, pending=60)
    resolved = resolve(decide(view, 120 * SECOND_US), view, policy=policy, slot=slot)
    assert (resolved.absorbed_us, resolved.pending_us) == (None, 60 * SECOND_US)


@pytest.mark.parametrize("policy", [ALLOW, SKIP])
def test_resolve_nothing_due_keeps_the_pending_fire(policy: OverlapPolicy) -> None:
    view = _view(60, 120, pending=60)
    resolved = resolve(decide(view, 119 * SECOND_US), view, policy=policy, slot=FREE)
    assert (resolved.rows, resolved.absorbed_us) == ((), None)
    assert (resolved.pending_us, resolved.next_due_us) == (60 * SECOND_US, 120 * SECOND_US)


def test_resolve_skipped_missed_absorb_nothing() -> None:
    view = _view(60, 120, 4000, pending=60, missed_policy=MissedPolicy.SKIP)
    resolved = resolve(decide(view, 600 * SECOND_US), view, policy=ALLOW, slot=FREE)
    assert brief(resolved) == ["120..120 x1 skipped_by_policy"]
    assert (resolved.absorbed_us, resolved.pending_us) == (None, 60 * SECOND_US)


def test_resolve_absorption_gives_back_to_max_fires() -> None:
    view = _view(60, 120, 180, pending=60, fired=1, max_fires=2)
    decision = decide(view, 120 * SECOND_US)
    assert decision.finished
    resolved = resolve(decision, view, policy=ALLOW, slot=FREE)
    assert (resolved.fired_delta, resolved.finished) == (0, False)
    assert resolved.next_due_us == resolved.rows[0].retry_until_us == 180 * SECOND_US


def test_resolve_bound_spent_by_the_pending_fire_is_not_absorbed() -> None:
    view = _view(60, 120, pending=60, fired=1, max_fires=1)
    resolved = resolve(decide(view, 120 * SECOND_US), view, policy=ALLOW, slot=FREE)
    assert (resolved.rows, resolved.absorbed_us, resolved.finished) == ((), None, True)
