"""The draft of a decision: what it counts, and where its cursor goes."""

from scheduling.decision import DecidedGap
from scheduling.draft import Coalescing, Draft
from scheduling.instants import SECOND_US
from scheduling.rules import Span, Undecided, segments
from scheduling.vocabulary import Cause, FireState, MissedPolicy, SpanKind
from tests.support.builders import a_row, a_rules, a_view, at_seconds


def test_draft_dispatch_counts_and_moves_the_cursor() -> None:
    draft = Draft(a_view(), 0)
    draft.dispatch(a_row(60))
    assert (draft.fired, draft.cursor_us, draft.dispatched_us) == (1, 60, 60)


def test_draft_plan_reserves_the_gap_and_moves_the_cursor_to_its_end() -> None:
    draft = Draft(a_view(), 0)
    draft.plan(DecidedGap(0, 900, 1, 1_000, MissedPolicy.FIRE_ALL, 150))
    assert (draft.fired, draft.cursor_us, draft.dispatched_us) == (150, 900, 900)


def test_draft_cover_counts_nothing_and_never_moves_back() -> None:
    draft = Draft(a_view(), 500)
    draft.cover(None)
    draft.cover(a_row(60, state=FireState.NOT_DISPATCHED, cause=Cause.PAUSED, through_us=400))
    assert (draft.fired, draft.cursor_us, draft.dispatched_us) == (0, 500, None)
    draft.cover(a_row(510, state=FireState.NOT_DISPATCHED, cause=Cause.PAUSED, through_us=900))
    assert draft.cursor_us == 900


def test_draft_owes_a_fire_until_one_is_dispatched() -> None:
    draft = Draft(a_view(), 0)
    assert not draft.owes_a_fire()
    draft.coalescing.append(Coalescing(0, a_rules(), 0, 60, 90))
    assert draft.owes_a_fire()
    draft.dispatch(a_row(120))
    assert not draft.owes_a_fire()


def test_draft_copy_shares_no_list() -> None:
    draft = Draft(a_view(), 0)
    copy = draft.copy()
    copy.dispatch(a_row(60))
    copy.plan(DecidedGap(60, 900, 1, 1_000, MissedPolicy.FIRE_ALL, 150))
    copy.coalescing.append(Coalescing(0, a_rules(), 0, 60, 90))
    assert draft == Draft(draft.view, 0)


def test_draft_first_ahead_looks_behind_its_cursor_and_its_count() -> None:
    rules = a_rules(recurrence=at_seconds(60, 120), max_fires=2)
    view = a_view(rules=rules, spans=(Span(0, SpanKind.LIVE, 1),))
    (segment,) = segments(view.spans, 0)
    draft = Draft(view, 60 * SECOND_US)
    assert draft.first_ahead(segment) == Undecided(120 * SECOND_US, 120 * SECOND_US, 1)
    assert draft.first_ahead(segment, reserved=2) is None
    draft.cursor_us = 120 * SECOND_US
    assert draft.first_ahead(segment) is None


def test_draft_first_ahead_of_a_pause_is_none() -> None:
    spans = (Span(0, SpanKind.PAUSED, 1), Span(100 * SECOND_US, SpanKind.LIVE, 1))
    paused, _ = segments(spans, 0)
    assert Draft(a_view(spans=spans), 0).first_ahead(paused) is None
