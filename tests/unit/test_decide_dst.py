"""Decisions over compiled recurrences on the two odd nights: outages, pauses and cuts.

Berlin 2026-03-29: 02:00 +01:00 becomes 03:00 +02:00 at 01:00Z.
Berlin 2026-10-25: 03:00 +02:00 becomes 02:00 +01:00 at 01:00Z.
Lord Howe 2026-04-05: 02:00 +11:00 becomes 01:30 +10:30 at 2026-04-04 15:00Z.
"""

from typing import Any

import pytest

from scheduling import compile_recurrence
from scheduling.decide import decide
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.rules import Rules, Span
from scheduling.vocabulary import MissedPolicy, ResumeRule, SpanKind
from tests.support.builders import HOUR_US, a_rules, a_view
from tests.support.decision_model import Fate, decided_fates, model_fates
from tests.support.enumerators import ListEnumerator


def _rules(expression: str, zone: str, **changes: Any) -> Rules:
    return a_rules(recurrence=compile_recurrence(expression, zone), **changes)


def _lived_from(rules: Rules, since: str) -> TriggerView:
    since_us = from_text(since)
    spans = (Span(since_us, SpanKind.LIVE, 1),)
    return a_view(rules=rules, spans=spans, cursor_us=since_us)


def _listed(view: TriggerView, through_us: int) -> TriggerView:
    """The same view for the model, which walks lists."""
    versions = {
        version: a_rules(
            version=version,
            recurrence=ListEnumerator(
                rules.recurrence.between_us(view.cursor_us, through_us + 86_400 * SECOND_US, 10_000)
            ),
            missed_policy=rules.missed_policy,
            smear_us=rules.smear_us,
            horizon_us=rules.horizon_us,
        )
        for version, rules in view.versions.items()
    }
    return view._replace(versions=versions)


def _texts(fates: dict[int, Fate]) -> list[str]:
    return [f"{to_text(instant_us)[11:16]} {fates[instant_us].kind}" for instant_us in fates]


@pytest.mark.parametrize(
    ("expression", "zone", "since", "now", "expected"),
    [
        pytest.param(
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T23:00:00Z",
            "2026-03-29T01:00:30Z",
            ["01:00 on_time"],
            id="berlin_2026_03_29_skipped_time_fires_after_the_gap",
        ),
        pytest.param(
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T23:00:00Z",
            "2026-10-25T02:00:00Z",
            ["00:30 catch_up"],
            id="berlin_2026_10_25_repeated_time_is_missed_once",
        ),
        pytest.param(
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-24T23:45:00Z",
            "2026-10-25T02:00:30Z",
            [
                "00:00 expired_past_horizon",
                "00:30 expired_past_horizon",
                "01:00 expired_past_horizon",
                "01:30 coalesced",
                "02:00 on_time",
            ],
            id="berlin_2026_10_25_interval_knows_both_passes",
        ),
        pytest.param(
            "*/15 * * * *",
            "Australia/Lord_Howe",
            "2026-04-04T14:20:00Z",
            "2026-04-04T15:31:00Z",
            [
                "14:30 expired_past_horizon",
                "14:45 coalesced",
                "15:00 coalesced",
                "15:15 coalesced",
                "15:30 on_time",
            ],
            id="lord_howe_2026_04_05_half_an_hour_twice",
        ),
    ],
)
def test_decide_outage_over_an_odd_night(
    expression: str, zone: str, since: str, *, now: str, expected: list[str]
) -> None:
    horizon_us = HOUR_US if expression.startswith("*") else 24 * HOUR_US
    view = _lived_from(_rules(expression, zone, horizon_us=horizon_us), since)
    assert _texts(decided_fates(view, decide(view, from_text(now)))) == expected


@pytest.mark.parametrize("policy", MissedPolicy)
@pytest.mark.parametrize("smear_s", [0, 90])
@pytest.mark.parametrize(
    ("expression", "zone", "since"),
    [
        pytest.param("30 2 * * *", "Europe/Berlin", "2026-03-28T20:00:00Z", id="berlin_spring"),
        pytest.param("*/7 2 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", id="berlin_autumn"),
        pytest.param("*/5 * * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", id="both_passes"),
        pytest.param("20 */2 * * *", "Africa/Cairo", "2026-04-23T18:00:00Z", id="cairo_midnight"),
        pytest.param("0,30 1-3 * * *", "Australia/Lord_Howe", "2026-04-04T10:00Z", id="lord_howe"),
        pytest.param("* * * * *", "Antarctica/Troll", "2026-10-24T22:00:00Z", id="troll_2_hours"),
    ],
)
def test_decide_odd_night_cut_anywhere_equals_the_model(
    expression: str, zone: str, since: str, *, smear_s: int, policy: MissedPolicy
) -> None:
    rules = _rules(expression, zone, missed_policy=policy, smear_us=smear_s * SECOND_US)
    view = _lived_from(rules, since)
    decided: dict[int, Fate] = {}
    for minutes in (0, 1, 119, 121, 179, 180, 181, 240, 241, 420, 900):
        now_us = from_text(since) + minutes * 60 * SECOND_US
        decision = decide(view, now_us)
        fates = decided_fates(view, decision)
        assert fates == model_fates(_listed(view, now_us), now_us)
        assert not decided.keys() & fates.keys()
        decided |= fates
        view = view._replace(cursor_us=decision.cursor_us)
    due_from_us = from_text(since)
    assert sorted(decided) == rules.recurrence.between_us(due_from_us, view.cursor_us, 10_000)


def test_decide_pause_over_the_repeated_hour_is_one_row_that_counts_both_passes() -> None:
    rules = _rules("* * * * *", "Europe/Berlin")
    paused, resumed = from_text("2026-10-24T23:59:30Z"), from_text("2026-10-25T02:00:30Z")
    spans = (
        Span(paused, SpanKind.PAUSED, 1),
        Span(resumed, SpanKind.LIVE, 1, ResumeRule.DROP),
    )
    view = a_view(rules=rules, spans=spans, cursor_us=paused)
    (row,) = decide(view, resumed).rows
    assert row.instant_count == 121
    assert to_text(row.scheduled_us) == "2026-10-25T00:00:00Z"
    assert to_text(row.last_us) == "2026-10-25T02:00:00Z"
