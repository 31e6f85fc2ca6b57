"""`decide` against the slow model, over generated triggers, and its bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.decide import decide, decide_fully
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.rules import Span
from scheduling.vocabulary import FireState, ResumeRule, SpanKind
from tests.support.builders import a_view
from tests.support.decision_cases import EXAMPLES, moments, rules, views
from tests.support.decision_model import (
    Fate,
    decided_fates,
    instants_after,
    model_fates,
    model_next_due,
)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_any_trigger_gives_every_instant_the_fate_of_the_model(data: st.DataObject) -> None:
    view = data.draw(views())
    now_us = data.draw(moments(tuple(view.versions.values())))
    decision = decide(view, now_us)
    expected = model_fates(view, now_us)
    assert decided_fates(view, decision) == expected
    assert decision.cursor_us == max(expected, default=view.cursor_us)
    fired = view.fired_count + decision.fired_delta
    assert decision.next_due_us == model_next_due(view, decision.cursor_us, fired=fired)
    kinds = [fate.kind for fate in expected.values()]
    assert decision.fired_delta == kinds.count("on_time") + kinds.count("catch_up")


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_any_trigger_covers_all_through_the_cursor_and_nothing_beyond(
    data: st.DataObject,
) -> None:
    view = data.draw(views(max_fires=None))
    now_us = data.draw(moments(tuple(view.versions.values())))
    decision = decide(view, now_us)
    instants = [found.instant_us for found in instants_after(view, view.cursor_us)]
    through_cursor = [instant_us for instant_us in instants if instant_us <= decision.cursor_us]
    assert sorted(decided_fates(view, decision)) == through_cursor


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_any_trigger_dispatches_nothing_before_its_due_time(data: st.DataObject) -> None:
    view = data.draw(views())
    now_us = data.draw(moments(tuple(view.versions.values())))
    due = {found.instant_us: found.due_us for found in instants_after(view, view.cursor_us)}
    decision = decide(view, now_us)
    assert all(row.scheduled_us <= now_us for row in decision.rows)
    assert all(row.due_us == due[row.scheduled_us] for row in decision.rows)
    early = [row for row in decision.rows if row.cause is None and row.due_us > now_us]
    assert [row for row in early if row.state is not FireState.HELD] == []
    assert [row.not_before_us for row in early] == [row.due_us for row in early]
    assert decision.next_due_us is None or decision.next_due_us > now_us


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_single_live_span_shortcut_equals_the_full_walk(data: st.DataObject) -> None:
    version = data.draw(rules(max_fires=None))
    cursor_us = data.draw(moments((version,)))
    now_us = data.draw(st.one_of(moments((version,)), st.just(cursor_us + SECOND_US)))
    view = a_view(rules=version, cursor_us=cursor_us, pending_us=-5)
    assert decide(view, now_us) == decide_fully(view, now_us)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_time_cut_anywhere_gives_one_fate_each_and_covers_the_same(
    data: st.DataObject,
) -> None:
    view = data.draw(views(max_fires=None))
    versions = tuple(view.versions.values())
    cuts = sorted(data.draw(st.lists(moments(versions), min_size=1, max_size=6)))
    fates, end = _decide_in_steps(view, cuts)
    whole = decide(view, cuts[-1])
    assert sorted(fates) == sorted(decided_fates(view, whole))
    assert end.cursor_us == whole.cursor_us
    assert end.fired_count == view.fired_count + sum(
        fate.kind in ("on_time", "catch_up") for fate in fates.values()
    )


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_bounded_trigger_cut_anywhere_never_exceeds_max_fires(data: st.DataObject) -> None:
    view = data.draw(views())
    versions = tuple(view.versions.values())
    cuts = sorted(data.draw(st.lists(moments(versions), min_size=1, max_size=6)))
    fates, end = _decide_in_steps(view, cuts)
    bounds = [each.max_fires for each in versions if each.max_fires is not None]
    if len(bounds) == len(versions):
        assert end.fired_count <= max(view.fired_count, *bounds)
    assert max(fates, default=view.cursor_us) == end.cursor_us


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_next_due_is_when_the_next_decision_moves_the_cursor(data: st.DataObject) -> None:
    view = data.draw(views())
    first = decide(view, data.draw(moments(tuple(view.versions.values()))))
    if first.next_due_us is None:
        return
    rest = view._replace(
        cursor_us=first.cursor_us, fired_count=view.fired_count + first.fired_delta
    )
    assert decide(rest, first.next_due_us - 1).rows == ()
    assert decide(rest, first.next_due_us).cursor_us > first.cursor_us


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_decide_paused_span_resumed_does_not_depend_on_when_it_runs(data: st.DataObject) -> None:
    version = data.draw(rules(max_fires=None))
    resumed_us = data.draw(moments((version,)))
    spans = (
        Span(-1, SpanKind.PAUSED, 1),
        Span(resumed_us, SpanKind.LIVE, 1, data.draw(st.sampled_from(ResumeRule))),
        Span(resumed_us, SpanKind.PAUSED, 1),
    )
    view = a_view(rules=version, spans=spans, cursor_us=-1)
    later_us = resumed_us + data.draw(st.integers(0, 5_000)) * SECOND_US
    assert decide(view, later_us) == decide(view, resumed_us)
    assert decide(view, resumed_us - 1).rows == ()


def test_decide_model_run_over_many_examples_meets_every_fate() -> None:
    """The generator is worth its time only if the rare fates do come up."""
    met: set[str] = set()

    # More than elsewhere: what comes up depends on which modules the process has loaded.
    @settings(max_examples=6 * EXAMPLES, database=None)
    @given(data=st.data())
    def collect(data: st.DataObject) -> None:
        view = data.draw(views())
        now_us = data.draw(moments(tuple(view.versions.values())))
        met.update(fate.kind for fate in model_fates(view, now_us).values())

    collect()
    assert met == {
        "on_time",
        "catch_up",
        "coalesced",
        "skipped_by_policy",
        "expired_past_horizon",
        "paused",
        "quarantined",
    }


def _decide_in_steps(view: TriggerView, nows_us: list[int]) -> tuple[dict[int, Fate], TriggerView]:
    """Decide at each time in turn; fails where an instant gets a second fate."""
    fates: dict[int, Fate] = {}
    for now_us in nows_us:
        decision = decide(view, now_us)
        found = decided_fates(view, decision)
        assert not fates.keys() & found.keys()
        assert all(instant_us > view.cursor_us for instant_us in found)
        fates |= found
        view = view._replace(
            cursor_us=decision.cursor_us, fired_count=view.fired_count + decision.fired_delta
        )
    return fates, view
