"""Grace, due times, the parts of spans after a cursor, and the first undecided instant."""

from typing import Any

import pytest

from scheduling.errors import RuleError
from scheduling.instants import SECOND_US
from scheduling.rules import Rules, Segment, Span, due_of, due_us, first_undecided, segments
from scheduling.rules import grace_us as grace_of
from scheduling.vocabulary import ResumeRule, SpanKind
from tests.support.builders import a_rules, at_seconds
from tests.support.enumerators import BrokenEnumerator

LIVE, PAUSED = SpanKind.LIVE, SpanKind.PAUSED
QUARANTINED, DELETED = SpanKind.QUARANTINED, SpanKind.DELETED


@pytest.mark.parametrize(
    ("distance_s", "grace_s"),
    [
        pytest.param(1, 5, id="one_second_gets_five"),
        pytest.param(4.999999, 5, id="just_under_five"),
        pytest.param(5, 5, id="five"),
        pytest.param(5.000001, 5.000001, id="just_over_five"),
        pytest.param(59.999999, 59.999999, id="just_under_sixty"),
        pytest.param(60, 60, id="sixty"),
        pytest.param(60.000001, 60, id="just_over_sixty"),
        pytest.param(86_400, 60, id="a_day"),
        pytest.param(None, 60, id="no_next_instant"),
    ],
)
def test_grace_is_the_distance_to_the_next_instant_within_bounds(
    distance_s: float | None, grace_s: float
) -> None:
    instant_us = 7_000_000
    next_us = None if distance_s is None else instant_us + round(distance_s * SECOND_US)
    assert grace_of(instant_us, next_us) == round(grace_s * SECOND_US)


@pytest.mark.parametrize(
    ("smear_s", "next_s", "window_s"),
    [
        pytest.param(0, 120, 0, id="no_smear"),
        pytest.param(2, 120, 2, id="shorter_than_the_distance"),
        pytest.param(3_600, 61, 1, id="bounded_by_the_distance"),
        pytest.param(90, None, 90, id="no_next_instant"),
    ],
)
def test_due_time_lies_within_its_window(smear_s: int, next_s: int | None, window_s: int) -> None:
    instants = [60] if next_s is None else [60, next_s]
    rules = a_rules(recurrence=at_seconds(*instants), smear_us=smear_s * SECOND_US)
    next_us = None if next_s is None else next_s * SECOND_US
    due = due_us(rules, 60 * SECOND_US, next_us)
    assert due == due_of(rules, 60 * SECOND_US)
    assert 0 <= due - 60 * SECOND_US <= max(0, window_s * SECOND_US - 1)
    assert (due == 60 * SECOND_US) == (smear_s == 0)


def test_segments_cut_the_spans_at_the_cursor() -> None:
    spans = (Span(0, LIVE, 1), Span(100, LIVE, 2), Span(100, LIVE, 3), Span(200, LIVE, 4))
    found = [(part.after_us, part.through_us, part.span.version) for part in segments(spans, 50)]
    assert found == [(50, 100, 1), (100, 200, 3), (200, None, 4)]
    assert [part.after_us for part in segments(spans, 250)] == [250]
    assert [part.after_us for part in segments(spans, 100)] == [100, 200]


def _pause_of(*spans: Span) -> Segment:
    return next(part for part in segments(spans, 0) if part.span.kind is not LIVE)


@pytest.mark.parametrize(
    ("spans", "rule", "ended_us"),
    [
        pytest.param([(10, PAUSED)], None, None, id="open"),
        pytest.param([(10, PAUSED), (20, LIVE)], ResumeRule.SKIP, 20, id="resumed"),
        pytest.param(
            [(10, PAUSED), (15, PAUSED), (20, LIVE)], ResumeRule.SKIP, 20, id="edited_and_resumed"
        ),
        pytest.param([(10, PAUSED), (15, PAUSED)], None, None, id="edited_and_open"),
        pytest.param([(10, PAUSED), (20, DELETED)], None, 20, id="deleted"),
        pytest.param([(10, QUARANTINED), (20, PAUSED)], None, 20, id="quarantine_then_pause"),
    ],
)
def test_segments_pause_lasts_until_its_resume(
    spans: list[tuple[int, SpanKind]], rule: ResumeRule | None, ended_us: int | None
) -> None:
    following = [
        Span(from_us, kind, 1, ResumeRule.SKIP if kind is LIVE else None) for from_us, kind in spans
    ]
    found = _pause_of(Span(0, LIVE, 1), *following)
    assert (found.resume_rule, found.ended_us) == (rule, ended_us)


def test_segments_say_what_led_to_a_quarantine() -> None:
    spans = (Span(0, LIVE, 1), Span(10, QUARANTINED, 1), Span(20, LIVE, 2))
    assert [part.is_quarantined for part in segments(spans, 0)] == [True, True, False]


EVERY_100 = a_rules(recurrence=at_seconds(*range(100, 1_000, 100)))
ONE_AT_250 = a_rules(version=2, recurrence=at_seconds(250))
ALMOST_SPENT = a_rules(version=3, recurrence=at_seconds(*range(100, 1_000, 100)), max_fires=2)
BROKEN = a_rules(version=4, recurrence=BrokenEnumerator())
VERSIONS = {rules.version: rules for rules in (EVERY_100, ONE_AT_250, ALMOST_SPENT, BROKEN)}


@pytest.mark.parametrize(
    ("spans", "cursor", "fired", "expected"),
    [
        pytest.param([(0, LIVE, 1)], 0, 0, (100, 100, 1), id="live"),
        pytest.param([(0, LIVE, 1)], 100, 0, (200, 200, 1), id="strictly_after_the_cursor"),
        pytest.param([(150, LIVE, 1)], 0, 0, (200, 200, 1), id="strictly_after_the_span_began"),
        pytest.param([(0, LIVE, 1)], 900, 0, None, id="after_the_last"),
        pytest.param([(0, LIVE, 1), (300, LIVE, 2)], 200, 0, (300, 300, 1), id="end_is_inclusive"),
        pytest.param([(0, LIVE, 1), (220, LIVE, 2)], 200, 0, (250, 250, 2), id="next_version"),
        pytest.param([(0, LIVE, 1), (220, LIVE, 2)], 250, 0, None, id="old_version_is_over"),
        pytest.param([(0, PAUSED, 1)], 0, 0, None, id="open_pause"),
        pytest.param([(0, QUARANTINED, 1)], 0, 0, None, id="open_quarantine"),
        pytest.param([(0, DELETED, 1)], 0, 0, None, id="deleted"),
        pytest.param(
            [(0, PAUSED, 1), (220, LIVE, 1)], 0, 0, (100, 220, 1), id="paused_until_the_resume"
        ),
        pytest.param([(0, PAUSED, 1), (50, LIVE, 1)], 0, 0, (100, 100, 1), id="empty_pause"),
        pytest.param(
            [(0, PAUSED, 1), (50, PAUSED, 1), (220, LIVE, 1)], 0, 0, (100, 220, 1), id="long_pause"
        ),
        pytest.param([(0, LIVE, 3)], 0, 1, (100, 100, 3), id="one_fire_left"),
        pytest.param([(0, LIVE, 3)], 0, 2, None, id="no_fire_left"),
        pytest.param(
            [(0, LIVE, 3), (320, LIVE, 1)], 0, 2, (400, 400, 1), id="edit_lifts_the_bound"
        ),
        pytest.param(
            [(0, QUARANTINED, 4), (320, LIVE, 1)], 0, 0, (320, 320, 4), id="broken_quarantine"
        ),
        pytest.param(
            [(0, QUARANTINED, 9), (320, LIVE, 1)], 0, 0, (320, 320, 9), id="unreadable_version"
        ),
    ],
)
def test_first_undecided_under_spans(
    spans: list[tuple[int, SpanKind, int]],
    cursor: int,
    fired: int,
    *,
    expected: tuple[int, int, int] | None,
) -> None:
    listed = [Span(from_s * SECOND_US, kind, version) for from_s, kind, version in spans]
    found = first_undecided(listed, VERSIONS, cursor * SECOND_US, fired_count=fired)
    if expected is not None:
        expected = (expected[0] * SECOND_US, expected[1] * SECOND_US, expected[2])
    assert found == expected


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param([Span(0, LIVE, 4)], id="live"),
        pytest.param([Span(0, PAUSED, 4), Span(9, LIVE, 1)], id="paused"),
    ],
)
def test_first_undecided_broken_rule_raises_so_that_it_is_quarantined(spans: list[Span]) -> None:
    with pytest.raises(RuleError, match="the zone is gone"):
        first_undecided(spans, VERSIONS, 0)


@pytest.mark.parametrize("changes", [{"max_fires": None}, {"smear_us": 2_000_000}])
def test_rules_are_immutable(changes: dict[str, Any]) -> None:
    rules: Rules = a_rules(**changes)
    with pytest.raises(AttributeError):
        rules.version = 2  # type: ignore[misc]
