"""`settle`: what a change leaves behind, with a smeared instant ahead, and whole histories."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.decide import decide, settle
from scheduling.decision import Decision
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.rules import Span, due_of
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, ResumeRule, SpanKind
from tests.support.brief import brief
from tests.support.builders import a_rules, a_view, at_seconds, seconds
from tests.support.decision_cases import DISTANCES_S, EXAMPLES, moments, rules, views
from tests.support.decision_model import (
    Fate,
    decided_fates,
    instants_after,
    model_fates,
    model_next_due,
)

CHANGES = {"edit": None, "pause": Cause.PAUSED, "delete": Cause.DELETED}
# Instants at 60 and 3600 s, each up to 50 s later by its smear.
SMEARED = a_rules(recurrence=at_seconds(60, 3600), smear_us=50 * SECOND_US)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_settle_any_trigger_gives_every_instant_the_fate_of_the_model(data: st.DataObject) -> None:
    view = data.draw(views())
    drawn_us = data.draw(moments(tuple(view.versions.values())))
    at_us = max(drawn_us, view.cursor_us, view.spans[-1].from_us)
    cause = data.draw(st.sampled_from(tuple(CHANGES.values())))
    decision = settle(view, at_us, stopped_by=cause)
    expected = model_fates(view, at_us, is_settling=True, stopped_by=cause)
    assert decided_fates(view, decision) == expected
    assert decision.cursor_us == max(expected, default=view.cursor_us)
    fired = view.fired_count + decision.fired_delta
    assert decision.next_due_us == model_next_due(view, decision.cursor_us, fired=fired)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param("edit", ["60 held due_later"], id="edit_keeps_it_until_its_due_time"),
        pytest.param("pause", ["60 paused"], id="pause_stops_it"),
        pytest.param("delete", ["60 deleted"], id="delete_stops_it"),
    ],
)
def test_settle_smeared_instant_ahead_goes_by_the_change(change: str, expected: list[str]) -> None:
    view = a_view(rules=SMEARED)
    decision = settle(view, 60 * SECOND_US, stopped_by=CHANGES[change])
    assert brief(decision) == expected
    assert decision.cursor_us == 60 * SECOND_US
    assert decision.fired_delta == (1 if change == "edit" else 0)
    assert decision.next_due_us == due_of(SMEARED, 3600 * SECOND_US)


def test_settle_kept_instant_carries_its_due_time_and_grace() -> None:
    due_us = due_of(SMEARED, 60 * SECOND_US)
    assert 60 * SECOND_US < due_us < 110 * SECOND_US
    (row,) = settle(a_view(rules=SMEARED), 60 * SECOND_US, stopped_by=None).rows
    assert (row.due_us, row.not_before_us) == (due_us, due_us)
    assert row.grace_until_us == due_us + 60 * SECOND_US
    assert (row.state, row.lane) == (FireState.HELD, Lane.ON_TIME)
    assert row.held_reason is HeldReason.DUE_LATER


def test_settle_instant_due_just_now_is_ready_and_not_kept() -> None:
    due_us = due_of(SMEARED, 60 * SECOND_US)
    assert brief(settle(a_view(rules=SMEARED), due_us, stopped_by=None)) == ["60 ready"]
    assert brief(settle(a_view(rules=SMEARED), due_us, stopped_by=Cause.PAUSED)) == ["60 ready"]


@pytest.mark.parametrize("change", CHANGES)
def test_settle_without_smear_decides_up_to_the_change_and_no_further(change: str) -> None:
    view = a_view(rules=a_rules(recurrence=at_seconds(60, 120, 180)), cursor_us=60 * SECOND_US)
    decision = settle(view, 120 * SECOND_US, stopped_by=CHANGES[change])
    assert brief(decision) == ["120 ready"]
    assert decision.next_due_us == 180 * SECOND_US


def test_settle_missed_instants_before_the_kept_one_still_fire_once() -> None:
    each_minute = at_seconds(60, 120, 180, 240, 300)
    view = a_view(rules=a_rules(recurrence=each_minute, smear_us=50 * SECOND_US))
    decision = settle(view, 300 * SECOND_US, stopped_by=None)
    assert brief(decision)[-1] == "300 held due_later"
    ready = [row for row in decision.rows if row.state is FireState.READY]
    assert [row.retry_until_us for row in ready] == [due_of(view.versions[1], 300 * SECOND_US)]


def test_settle_in_an_open_pause_leaves_the_pause_as_the_cover() -> None:
    view = a_view(spans=(Span(0, SpanKind.PAUSED, 1),))
    decision = settle(view, 600 * SECOND_US, stopped_by=Cause.DELETED)
    assert (decision.rows, decision.cursor_us, decision.next_due_us) == ((), 0, None)


@pytest.mark.parametrize("change", CHANGES)
def test_settle_with_max_fires_reached_adds_nothing_even_when_paused(change: str) -> None:
    spans = (Span(0, SpanKind.LIVE, 1), Span(300 * SECOND_US, SpanKind.PAUSED, 1))
    view = a_view(rules=a_rules(max_fires=1), spans=spans, cursor_us=60 * SECOND_US, fired_count=1)
    assert settle(view, 900 * SECOND_US, stopped_by=CHANGES[change]).rows == ()


def test_settle_bound_spent_by_the_missed_fire_leaves_the_smeared_one_not_due() -> None:
    instants = at_seconds(60, 3600, 7200)
    view = a_view(rules=a_rules(recurrence=instants, smear_us=3_000 * SECOND_US, max_fires=1))
    decision = settle(view, 3600 * SECOND_US, stopped_by=None)
    assert brief(decision) == ["60 catch_up held lane_rate"]
    assert decision.finished


class History(NamedTuple):
    """What a run of changes and wakes has decided so far."""

    view: TriggerView
    fates: dict[int, Fate]

    def after(self, decision: Decision) -> "History":
        found = decided_fates(self.view, decision)
        assert not self.fates.keys() & found.keys()
        moved = self.view._replace(cursor_us=decision.cursor_us)
        return History(moved, {**self.fates, **found})


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_settle_and_decide_any_history_covers_every_instant_once(data: st.DataObject) -> None:
    first = data.draw(rules(version=1, max_fires=None))
    history = History(a_view(rules=first, cursor_us=-1, spans=(Span(-1, SpanKind.LIVE, 1),)), {})
    now_us = 0
    for _ in range(data.draw(st.integers(1, 8))):
        now_us += data.draw(st.sampled_from((0, *DISTANCES_S))) * SECOND_US
        action = data.draw(st.sampled_from(("wake", "edit", "pause", "resume")))
        if action == "wake":
            history = history.after(decide(history.view, now_us))
        else:
            history = _changed(data, history, action, now_us=now_us)
    history = history.after(decide(history.view, 10**12))
    decided = [
        found.instant_us
        for found in instants_after(history.view, -1)
        if found.instant_us <= history.view.cursor_us
    ]
    assert sorted(history.fates) == decided
    assert history.view.spans[-1].kind is SpanKind.PAUSED or decided == [
        found.instant_us for found in instants_after(history.view, -1)
    ]


def _changed(data: st.DataObject, history: History, action: str, *, now_us: int) -> History:
    """Settle, then a new span, as the transaction of a change does it."""
    last = history.view.spans[-1]
    if (action == "resume") != (last.kind is SpanKind.PAUSED) and action != "edit":
        return history
    at_us = max(now_us, history.view.cursor_us, last.from_us)
    cause = Cause.PAUSED if action == "pause" else None
    history = history.after(settle(history.view, at_us, stopped_by=cause))
    version, kind, resume_rule = last.version, last.kind, None
    versions = dict(history.view.versions)
    if action == "edit":
        version += 1
        versions[version] = data.draw(rules(version=version, max_fires=None))
    if action == "pause":
        kind = SpanKind.PAUSED
    if action == "resume":
        kind, resume_rule = SpanKind.LIVE, data.draw(st.sampled_from(ResumeRule))
    spans = (*history.view.spans, Span(at_us, kind, version, resume_rule))
    return history._replace(view=history.view._replace(spans=spans, versions=versions))


def test_settle_then_edit_creates_no_past_instant() -> None:
    old = a_rules(recurrence=at_seconds(60, 120))
    new = a_rules(version=2, recurrence=at_seconds(*range(10, 400, 10)))
    settled = settle(a_view(rules=old), 125 * SECOND_US, stopped_by=None)
    spans = (Span(0, SpanKind.LIVE, 1), Span(125 * SECOND_US, SpanKind.LIVE, 2))
    view = a_view(rules=[old, new], spans=spans, cursor_us=settled.cursor_us)
    decision = decide(view, 140 * SECOND_US)
    assert [row.scheduled_us for row in decision.rows] == seconds(130, 140)
