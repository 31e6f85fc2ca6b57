"""One segment of the walk: grace, pauses and their resume, quarantines, and several at once."""

import pytest

from scheduling.decide import decide
from scheduling.draft import TriggerView
from scheduling.errors import RuleError
from scheduling.instants import SECOND_US
from scheduling.rules import Rules, Span, due_of
from scheduling.vocabulary import Cause, HeldReason, MissedPolicy, ResumeRule, SpanKind
from tests.support.brief import brief, brief_row
from tests.support.builders import HOUR_US, a_paused_view, a_rules, a_view, at_seconds, seconds
from tests.support.enumerators import BrokenEnumerator

LIVE, PAUSED, QUARANTINED = SpanKind.LIVE, SpanKind.PAUSED, SpanKind.QUARANTINED
SKIP = MissedPolicy.SKIP


@pytest.mark.parametrize(
    ("instants", "late_us", "expected"),
    [
        pytest.param((60, 61, 4000), 5 * SECOND_US, ["60 ready", "61 ready"], id="5_s_exactly"),
        pytest.param(
            (60, 61, 4000),
            5 * SECOND_US + 1,
            ["60..60 x1 skipped_by_policy", "61 ready"],
            id="5_s_and_a_microsecond",
        ),
        pytest.param((60, 70), 10 * SECOND_US, ["60 ready", "70 ready"], id="10_s_exactly"),
        pytest.param(
            (60, 70), 10 * SECOND_US + 1, ["60..60 x1 skipped_by_policy", "70 ready"], id="10_s_up"
        ),
        pytest.param((60, 4000), 60 * SECOND_US, ["60 ready"], id="60_s_exactly"),
        pytest.param((60, 4000), 60 * SECOND_US + 1, ["60..60 x1 skipped_by_policy"], id="60_s_up"),
        pytest.param((60,), 60 * SECOND_US, ["60 ready"], id="no_next_instant_exactly"),
        pytest.param(
            (60,), 60 * SECOND_US + 1, ["60..60 x1 skipped_by_policy"], id="no_next_instant_up"
        ),
        pytest.param((60,), 0, ["60 ready"], id="due_just_now"),
        pytest.param((60,), -1, [], id="a_microsecond_ahead"),
    ],
)
def test_live_instant_is_late_within_its_grace_and_missed_beyond(
    instants: tuple[int, ...], late_us: int, expected: list[str]
) -> None:
    rules = a_rules(recurrence=at_seconds(*instants), missed_policy=SKIP)
    assert brief(decide(a_view(rules=rules), 60 * SECOND_US + late_us)) == expected


@pytest.mark.parametrize(
    ("beyond_us", "expected"),
    [
        pytest.param(0, "60 ready", id="at_the_end_of_its_grace"),
        pytest.param(1, "60..60 x1 skipped_by_policy", id="a_microsecond_later"),
    ],
)
def test_live_grace_counts_from_due_at(beyond_us: int, expected: str) -> None:
    rules = a_rules(recurrence=at_seconds(60, 4000), missed_policy=SKIP, smear_us=600 * SECOND_US)
    due_us = due_of(rules, 60 * SECOND_US)
    assert due_us > 60 * SECOND_US
    (row,) = decide(a_view(rules=rules), due_us + 60 * SECOND_US + beyond_us).rows
    assert brief_row(row) == expected
    assert row.due_us == due_us


def test_live_smear_may_leave_an_older_instant_on_time_and_the_newer_missed() -> None:
    # The first one's distance is 58 s, its successors' 1 s: grace until due + 58 s and + 5 s.
    instants = at_seconds(2, 60, 61, 62, 4000)
    rules = a_rules(recurrence=instants, missed_policy=SKIP, smear_us=58 * SECOND_US)
    due_us = due_of(rules, 2 * SECOND_US)
    assert due_us > 50 * SECOND_US
    decision = decide(a_view(rules=rules, cursor_us=SECOND_US), due_us + 58 * SECOND_US)
    assert brief(decision) == ["2 ready", "60..61 x2 skipped_by_policy", "62 ready"]


def test_live_ready_rows_carry_grace_and_the_end_of_their_retries() -> None:
    rules = a_rules(recurrence=at_seconds(60, 62, 90))
    decision = decide(a_view(rules=rules), 62 * SECOND_US)
    assert [row.grace_until_us for row in decision.rows] == seconds(65, 90)
    # The next due time after they became ready, not the older one's successor.
    assert [row.retry_until_us for row in decision.rows] == seconds(90, 90)


def test_live_last_instant_has_no_end_of_retries_and_finishes() -> None:
    decision = decide(a_view(rules=a_rules(recurrence=at_seconds(60))), 60 * SECOND_US)
    assert brief(decision) == ["60 ready"]
    assert decision.rows[0].retry_until_us is None
    assert (decision.finished, decision.next_due_us) == (True, None)


def test_live_cursor_ahead_of_now_decides_nothing_and_keeps_the_cursor() -> None:
    decision = decide(a_view(cursor_us=900 * SECOND_US), 300 * SECOND_US)
    assert (decision.rows, decision.cursor_us) == ((), 900 * SECOND_US)
    assert decision.next_due_us == 960 * SECOND_US


# -- pause and resume --------------------------------------------------------------------------

PAUSED_MINUTES = at_seconds(*range(60, 601, 60), 4200)


def catch_ups(first: int, last: int) -> list[str]:
    return [f"{at} catch_up held lane_rate" for at in range(first, last + 1, 60)]


@pytest.mark.parametrize("later_s", [0, 30, 86_400])
@pytest.mark.parametrize(
    ("resume_rule", "horizon_s", "expected"),
    [
        pytest.param(None, 3600, ["60..600 x10 paused"], id="no_choice_drops"),
        pytest.param(ResumeRule.DROP, 3600, ["60..600 x10 paused"], id="drop"),
        pytest.param(ResumeRule.DROP, 60, ["60..600 x10 paused"], id="drop_knows_no_horizon"),
        pytest.param(ResumeRule.SKIP, 3600, ["60..600 x10 skipped_by_policy"], id="skip"),
        pytest.param(
            ResumeRule.FIRE_ONCE_NOW,
            3600,
            ["60..540 x9 coalesced>600", "600 catch_up held lane_rate"],
            id="once",
        ),
        pytest.param(ResumeRule.FIRE_ALL, 3600, catch_ups(60, 600), id="all"),
        pytest.param(
            ResumeRule.FIRE_ALL,
            300,
            ["60..240 x4 expired_past_horizon", *catch_ups(300, 600)],
            id="all_with_a_horizon",
        ),
    ],
)
def test_pause_resumed_is_judged_as_of_the_resume(
    resume_rule: ResumeRule | None, horizon_s: int, expected: list[str], later_s: int
) -> None:
    rules = a_rules(recurrence=PAUSED_MINUTES, missed_policy=SKIP, horizon_us=horizon_s * SECOND_US)
    view = a_paused_view(rules=rules, resume_rule=resume_rule, until_us=600 * SECOND_US)
    decision = decide(view, (600 + later_s) * SECOND_US)
    assert [line for line in brief(decision) if not line.startswith("4200")] == expected


def test_pause_choice_wins_over_the_versions_policy() -> None:
    rules = a_rules(recurrence=PAUSED_MINUTES, missed_policy=MissedPolicy.FIRE_ALL)
    view = a_paused_view(rules=rules, resume_rule=ResumeRule.SKIP, until_us=600 * SECOND_US)
    assert brief(decide(view, 600 * SECOND_US)) == ["60..600 x10 skipped_by_policy"]


@pytest.mark.parametrize("now_s", [0, 59, 60, 599.999999])
def test_pause_decides_nothing_before_its_end(now_s: float) -> None:
    view = a_paused_view(
        rules=a_rules(recurrence=PAUSED_MINUTES), resume_rule=None, until_us=600 * SECOND_US
    )
    decision = decide(view, round(now_s * SECOND_US))
    assert (decision.rows, decision.cursor_us) == ((), 0)
    assert decision.next_due_us == 600 * SECOND_US


def test_pause_resumed_with_a_long_fire_all_freezes_the_resume_as_now() -> None:
    rules = a_rules(recurrence=at_seconds(*range(1, 301), 4200))
    view = a_paused_view(rules=rules, resume_rule=ResumeRule.FIRE_ALL, until_us=400 * SECOND_US)
    assert brief(decide(view, 3_000 * SECOND_US)) == ["gap (0..300] x300 at 400"]


def test_pause_edited_inside_keeps_the_choice_of_its_resume() -> None:
    old, new = (
        a_rules(recurrence=at_seconds(60, 120)),
        a_rules(version=2, recurrence=at_seconds(150, 200, 260, 4200)),
    )
    spans = (Span(0, PAUSED, 1), Span(130 * SECOND_US, PAUSED, 2))
    open_pause = a_view(rules=[old, new], spans=spans)
    assert decide(open_pause, 900 * SECOND_US).rows == ()
    resumed = Span(250 * SECOND_US, LIVE, 2, ResumeRule.FIRE_ONCE_NOW)
    view = open_pause._replace(spans=(*spans, resumed))
    assert brief(decide(view, 250 * SECOND_US)) == [
        "60..120 x2 coalesced>200",
        "150..150 x1 coalesced>200",
        "200 catch_up held lane_rate",
    ]


def test_pause_resumed_late_runs_once_with_what_is_on_time() -> None:
    rules = a_rules(recurrence=PAUSED_MINUTES)
    view = a_paused_view(
        rules=rules, resume_rule=ResumeRule.FIRE_ONCE_NOW, until_us=300 * SECOND_US
    )
    decision = decide(view, 610 * SECOND_US)
    assert brief(decision) == ["60..540 x9 coalesced>600", "600 ready"]
    assert (decision.fired_delta, decision.pending_us) == (1, None)


def test_pause_smeared_instant_at_the_resume_is_held_until_it_is_due() -> None:
    rules = a_rules(recurrence=at_seconds(60, 4200), smear_us=600 * SECOND_US)
    view = a_paused_view(rules=rules, resume_rule=ResumeRule.FIRE_ONCE_NOW, until_us=61 * SECOND_US)
    (row,) = decide(view, 61 * SECOND_US).rows
    assert (row.held_reason, row.not_before_us) == (HeldReason.DUE_LATER, row.due_us)
    assert row.due_us == due_of(rules, 60 * SECOND_US) > 61 * SECOND_US


def test_pause_twice_without_an_instant_between_is_one_range_row() -> None:
    spans = (
        Span(0, PAUSED, 1),
        Span(130 * SECOND_US, LIVE, 1),
        Span(140 * SECOND_US, PAUSED, 1),
        Span(310 * SECOND_US, LIVE, 1),
    )
    view = a_view(rules=a_rules(recurrence=PAUSED_MINUTES), spans=spans)
    assert brief(decide(view, 311 * SECOND_US)) == ["60..300 x5 paused"]


def test_pause_twice_with_a_gap_between_stays_two_range_rows() -> None:
    spans = (
        Span(0, PAUSED, 1),
        Span(500 * SECOND_US, LIVE, 1, ResumeRule.FIRE_ALL),
        Span(500 * SECOND_US, PAUSED, 1),
        Span(1_000 * SECOND_US, LIVE, 1, ResumeRule.FIRE_ALL),
    )
    rules = a_rules(recurrence=at_seconds(*range(1, 1_001), 4200), horizon_us=200 * SECOND_US)
    assert brief(decide(a_view(rules=rules, spans=spans), 1_000 * SECOND_US)) == [
        "1..299 x299 expired_past_horizon",
        "501..799 x299 expired_past_horizon",
        "gap (299..500] x201 at 500",
        "gap (799..1000] x201 at 1000",
    ]


def test_pause_counts_nothing_once_max_fires_is_reached() -> None:
    rules = a_rules(recurrence=PAUSED_MINUTES, max_fires=2)
    view = a_paused_view(rules=rules, resume_rule=None, until_us=600 * SECOND_US)
    assert decide(view._replace(fired_count=2), 700 * SECOND_US).rows == ()
    assert brief(decide(view._replace(fired_count=1), 610 * SECOND_US)) == ["60..600 x10 paused"]


# -- quarantine --------------------------------------------------------------------------------

BROKEN = a_rules(recurrence=BrokenEnumerator())
MENDED = a_rules(version=2, recurrence=at_seconds(60, 700, 4200))
COUNT_0 = "the instants could not be counted: the zone is gone"


def _mended(*spans: Span, first: Rules = BROKEN) -> TriggerView:
    mended = Span(600 * SECOND_US, LIVE, 2)
    return a_view(rules=[first, MENDED], spans=(*spans, mended))


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param([Span(0, QUARANTINED, 1)], id="quarantined"),
        pytest.param([Span(0, LIVE, 1), Span(0, QUARANTINED, 1)], id="from_the_cursor"),
    ],
)
def test_quarantine_broken_rule_leaves_a_row_of_count_0_and_goes_on(spans: list[Span]) -> None:
    decision = decide(_mended(*spans), 700 * SECOND_US)
    assert brief(decision) == ["600..600 x0 quarantined", "700 ready"]
    assert decision.rows[0].cause_detail == COUNT_0
    assert decision.next_due_us == 4200 * SECOND_US


@pytest.mark.parametrize("kind", [LIVE, PAUSED])
def test_quarantine_covers_what_the_broken_rule_left_undecided_before_it(kind: SpanKind) -> None:
    spans = (Span(0, kind, 1), Span(300 * SECOND_US, QUARANTINED, 1))
    decision = decide(_mended(*spans), 700 * SECOND_US)
    assert brief(decision) == [
        "300..300 x0 quarantined",
        "600..600 x0 quarantined",
        "700 ready",
    ]


def test_quarantine_unreadable_version_leaves_a_row_of_count_0() -> None:
    view = _mended(Span(0, QUARANTINED, 1))
    view = view._replace(versions={2: MENDED})
    assert brief(decide(view, 700 * SECOND_US))[0] == "600..600 x0 quarantined"


def test_quarantine_whole_rule_counts_its_instants() -> None:
    view = _mended(Span(0, QUARANTINED, 1), first=a_rules(recurrence=PAUSED_MINUTES))
    assert brief(decide(view, 700 * SECOND_US)) == ["60..600 x10 quarantined", "700 ready"]


def test_quarantine_open_decides_nothing() -> None:
    view = a_view(rules=BROKEN, spans=(Span(0, QUARANTINED, 1),))
    decision = decide(view, HOUR_US)
    assert (decision.rows, decision.next_due_us, decision.finished) == ((), None, False)


@pytest.mark.parametrize("kind", [LIVE, PAUSED])
def test_broken_rule_raises_where_nothing_was_quarantined(kind: SpanKind) -> None:
    with pytest.raises(RuleError, match="the zone is gone"):
        decide(_mended(Span(0, kind, 1)), 700 * SECOND_US)


# -- several segments --------------------------------------------------------------------------


def test_walk_stops_at_an_instant_ahead_and_leaves_later_versions_alone() -> None:
    old = a_rules(recurrence=at_seconds(99, 4200), smear_us=600 * SECOND_US)
    new = a_rules(version=2, recurrence=at_seconds(101, 4200))
    spans = (Span(0, LIVE, 1), Span(100 * SECOND_US, LIVE, 2))
    decision = decide(a_view(rules=[old, new], spans=spans), 102 * SECOND_US)
    assert (decision.rows, decision.cursor_us) == ((), 0)
    assert decision.next_due_us == due_of(old, 99 * SECOND_US)


def test_walk_edit_that_raises_max_fires_goes_on_from_the_edit() -> None:
    old, new = a_rules(max_fires=1), a_rules(version=2, max_fires=3)
    spans = (Span(0, LIVE, 1), Span(900 * SECOND_US, LIVE, 2))
    view = a_view(rules=[old, new], spans=spans, cursor_us=60 * SECOND_US, fired_count=1)
    waiting = decide(view, 901 * SECOND_US)
    assert (waiting.rows, waiting.next_due_us) == ((), 960 * SECOND_US)
    assert brief(decide(view, 960 * SECOND_US)) == ["960 ready"]


def test_walk_missed_of_two_versions_coalesce_into_one_fire() -> None:
    old, new = a_rules(), a_rules(version=2, recurrence=at_seconds(200, 250, 4200))
    spans = (Span(0, LIVE, 1), Span(190 * SECOND_US, LIVE, 2))
    decision = decide(a_view(rules=[old, new], spans=spans), 1_000 * SECOND_US)
    assert brief(decision) == [
        "60..180 x3 coalesced>250",
        "200..200 x1 coalesced>250",
        "250 catch_up held lane_rate",
    ]
    assert decision.pending_us == 250 * SECOND_US
    assert {row.cause for row in decision.rows[:2]} == {Cause.COALESCED}
