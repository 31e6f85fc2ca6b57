"""Missed instants: each policy, the horizon's and the gap's boundaries, and `max_fires`."""

from typing import Any

import pytest

from scheduling.decide import decide
from scheduling.draft import Draft
from scheduling.instants import SECOND_US
from scheduling.missed import catch_up_row, newest_due, range_row
from scheduling.rules import Rules, due_of
from scheduling.vocabulary import Cause, HeldReason, MissedPolicy
from tests.support.brief import brief, brief_row
from tests.support.builders import HOUR_US, a_rules, a_view, at_seconds
from tests.support.enumerators import CountingEnumerator, PeriodEnumerator

ONCE, ALL, SKIP = MissedPolicy.FIRE_ONCE_NOW, MissedPolicy.FIRE_ALL, MissedPolicy.SKIP
# Every minute from 60 s to 600 s, then one an hour later: the last one's grace ends at 660 s.
TEN_MINUTES = at_seconds(*range(60, 601, 60), 4200)


def each(first: int, last: int, text: str = "catch_up held lane_rate") -> list[str]:
    """A line for every minute of a range."""
    return [f"{at} {text}" for at in range(first, last + 1, 60)]


@pytest.mark.parametrize(
    ("policy", "now", "horizon", "expected"),
    [
        pytest.param(
            ONCE, 630, 3600, ["60..540 x9 coalesced>600", "600 ready"], id="once_some_on_time"
        ),
        pytest.param(
            ONCE,
            661,
            3600,
            ["60..540 x9 coalesced>600", "600 catch_up held lane_rate"],
            id="once_none_on_time",
        ),
        pytest.param(
            ONCE,
            700,
            300,
            [
                "60..360 x6 expired_past_horizon",
                "420..540 x3 coalesced>600",
                "600 catch_up held lane_rate",
            ],
            id="once_some_past_horizon",
        ),
        pytest.param(
            ONCE, 700, 50, ["60..600 x10 expired_past_horizon"], id="once_all_past_horizon"
        ),
        pytest.param(ALL, 630, 3600, [*each(60, 540), "600 ready"], id="all_some_on_time"),
        pytest.param(ALL, 661, 3600, each(60, 600), id="all_none_on_time"),
        pytest.param(
            ALL,
            700,
            300,
            ["60..360 x6 expired_past_horizon", *each(420, 600)],
            id="all_some_past_horizon",
        ),
        pytest.param(
            SKIP, 630, 3600, ["60..540 x9 skipped_by_policy", "600 ready"], id="skip_some_on_time"
        ),
        pytest.param(SKIP, 661, 3600, ["60..600 x10 skipped_by_policy"], id="skip_none_on_time"),
        pytest.param(
            SKIP,
            630,
            300,
            ["60..300 x5 expired_past_horizon", "360..540 x4 skipped_by_policy", "600 ready"],
            id="skip_past_horizon_and_on_time",
        ),
    ],
)
def test_missed_policy_by_what_is_on_time(
    policy: MissedPolicy, now: int, horizon: int, expected: list[str]
) -> None:
    rules = a_rules(recurrence=TEN_MINUTES, missed_policy=policy, horizon_us=horizon * SECOND_US)
    decision = decide(a_view(rules=rules), now * SECOND_US)
    assert brief(decision) == expected
    assert decision.cursor_us == 600 * SECOND_US
    assert decision.next_due_us == 4200 * SECOND_US


@pytest.mark.parametrize(
    ("now", "pending"),
    [
        pytest.param(630, None, id="on_time_fire_is_not_pending"),
        pytest.param(700, 600, id="catch_up_fire_is_pending"),
    ],
)
def test_missed_fire_once_names_its_pending_fire(now: int, pending: int | None) -> None:
    decision = decide(a_view(rules=a_rules(recurrence=TEN_MINUTES)), now * SECOND_US)
    assert decision.pending_us == (None if pending is None else pending * SECOND_US)
    assert decision.fired_delta == 1


@pytest.mark.parametrize(
    ("age_us", "expected"),
    [
        pytest.param(HOUR_US - 1, "60 catch_up held lane_rate", id="one_microsecond_inside"),
        pytest.param(HOUR_US, "60 catch_up held lane_rate", id="exactly_the_horizon"),
        pytest.param(HOUR_US + 1, "60 expired_past_horizon", id="one_microsecond_beyond"),
    ],
)
@pytest.mark.parametrize("smear_us", [0, 50 * SECOND_US])
def test_missed_horizon_counts_from_due_at(age_us: int, expected: str, smear_us: int) -> None:
    rules = a_rules(recurrence=at_seconds(60, 90_000), smear_us=smear_us)
    now_us = due_of(rules, 60 * SECOND_US) + age_us
    first, *_ = decide(a_view(rules=rules), now_us).rows
    assert brief_row(first).replace("..60 x1", "") == expected


def test_missed_expired_row_says_which_horizon_and_who_chose_it() -> None:
    rules = a_rules(
        recurrence=TEN_MINUTES, horizon_us=120 * SECOND_US, horizon_source="chosen by ann"
    )
    expired, *_ = decide(a_view(rules=rules), 700 * SECOND_US).rows
    assert expired.cause_detail == "horizon 2m, chosen by ann"


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(99, [], id="99_are_rows"),
        pytest.param(100, [], id="100_are_rows"),
        pytest.param(101, ["gap (0..101] x101 at 900"], id="101_are_a_gap"),
        pytest.param(102, ["gap (0..102] x102 at 900"], id="102_are_a_gap"),
    ],
)
def test_missed_fire_all_over_a_hundred_becomes_a_gap(count: int, expected: list[str]) -> None:
    instants = at_seconds(*range(1, count + 1), 4000)
    rules = a_rules(recurrence=instants, missed_policy=ALL)
    decision = decide(a_view(rules=rules), 900 * SECOND_US)
    assert brief(decision)[len(decision.rows) :] == expected
    assert len(decision.rows) == (0 if expected else count)
    assert decision.fired_delta == count
    assert decision.cursor_us == count * SECOND_US


def test_missed_gap_starts_after_what_expired() -> None:
    instants = at_seconds(*range(1, 301), 4000)
    rules = a_rules(recurrence=instants, missed_policy=ALL, horizon_us=700 * SECOND_US)
    decision = decide(a_view(rules=rules), 850 * SECOND_US)
    assert brief(decision) == [
        "1..149 x149 expired_past_horizon",
        "gap (149..300] x151 at 850",
    ]
    assert decision.gaps[0].policy is ALL
    assert decision.fired_delta == 151


@pytest.mark.parametrize(
    ("policy", "now", "fired", "maximum", "expected", "cursor"),
    [
        pytest.param(ONCE, 700, 2, 3, ["60..540 x9 coalesced>600", "600 catch_up held lane_rate"],
                     600, id="once_takes_the_last_one"),
        pytest.param(ONCE, 630, 2, 3, ["60..540 x9 coalesced>600", "600 ready"],
                     600, id="once_coalesces_into_the_last_on_time_one"),
        pytest.param(ONCE, 700, 3, 3, [], 0, id="once_reached_before"),
        pytest.param(ALL, 630, 2, 5, each(60, 180), 180, id="all_ends_mid_way"),
        pytest.param(ALL, 630, 0, 10, [*each(60, 540), "600 ready"], 600, id="all_just_enough"),
        pytest.param(ALL, 630, 0, 9, each(60, 540), 540, id="all_leaves_none_on_time"),
        pytest.param(ALL, 700, 0, 9, each(60, 540), 540, id="all_but_one"),
        pytest.param(ALL, 700, 5, 5, [], 0, id="all_reached_before"),
        pytest.param(SKIP, 630, 4, 5, ["60..540 x9 skipped_by_policy", "600 ready"],
                     600, id="skip_counts_only_what_fires"),
        pytest.param(SKIP, 700, 5, 5, [], 0, id="skip_reached_before"),
    ],
)  # fmt: skip
def test_missed_max_fires_ends_each_policy_mid_way(
    policy: MissedPolicy, now: int, fired: int, maximum: int, *, expected: list[str], cursor: int
) -> None:
    rules = a_rules(recurrence=TEN_MINUTES, missed_policy=policy, max_fires=maximum)
    decision = decide(a_view(rules=rules, fired_count=fired), now * SECOND_US)
    assert brief(decision) == expected
    assert decision.cursor_us == cursor * SECOND_US
    is_reached = fired + decision.fired_delta == maximum
    assert decision.finished == is_reached
    assert decision.next_due_us == (None if is_reached else 4200 * SECOND_US)


@pytest.mark.parametrize("maximum", [101, 150, 100_000])
def test_missed_gap_reserves_no_more_than_max_fires(maximum: int) -> None:
    recurrence = CountingEnumerator(PeriodEnumerator(SECOND_US))
    rules = a_rules(recurrence=recurrence, missed_policy=ALL, max_fires=maximum, horizon_us=10**15)
    decision = decide(a_view(rules=rules), 200_000 * SECOND_US)
    assert brief(decision) == [f"gap (0..{maximum}] x{maximum} at 200000"]
    assert (decision.cursor_us, decision.fired_delta) == (maximum * SECOND_US, maximum)
    assert recurrence.listed == 0


MONTH_S = 30 * 86_400


UNBOUNDED = {"horizon_us": 10**15}


# At half a second past the month's end its last five instants are within their grace.
@pytest.mark.parametrize(
    ("changes", "expected", "covered"),
    [
        pytest.param(
            {},
            [
                "1..2588400 x2588400 expired_past_horizon",
                "2588401..2591995 x3595 coalesced>2592000",
                *(f"{second} ready" for second in range(2_591_996, 2_592_001)),
            ],
            MONTH_S,
            id="once",
        ),
        pytest.param(
            {**UNBOUNDED, "missed_policy": SKIP},
            ["1..2591995 x2591995 skipped_by_policy"],
            MONTH_S,
            id="skip",
        ),
        pytest.param({**UNBOUNDED, "missed_policy": ALL}, [], MONTH_S, id="all"),
        pytest.param(
            {**UNBOUNDED, "missed_policy": ALL, "max_fires": 1_000_000},
            ["gap (0..1000000] x1000000 at 2592000.5"],
            1_000_000,
            id="all_bounded",
        ),
        pytest.param({"smear_us": HOUR_US}, [], MONTH_S, id="once_smeared"),
        pytest.param(
            {"max_fires": 3},
            [
                "1..2588400 x2588400 expired_past_horizon",
                "2588401..2591995 x3595 coalesced>2591998",
            ],
            MONTH_S - 2,
            id="once_bounded",
        ),
    ],
)
def test_missed_month_of_a_secondly_trigger_costs_a_few_rows_and_calls(
    changes: dict[str, Any], expected: list[str], covered: int
) -> None:
    recurrence = CountingEnumerator(PeriodEnumerator(SECOND_US))
    rules = a_rules(recurrence=recurrence, **changes)
    decision = decide(a_view(rules=rules), MONTH_S * SECOND_US + 500_000)
    assert len(decision.rows) + len(decision.gaps) <= 9
    assert recurrence.calls < 250
    assert recurrence.listed == 0
    assert brief(decision)[: len(expected)] == expected
    counted = sum(row.instant_count for row in decision.rows)
    counted += sum(gap.instant_count for gap in decision.gaps)
    assert counted == covered
    assert decision.cursor_us == covered * SECOND_US


@pytest.mark.parametrize(
    ("now", "held_reason", "not_before"),
    [
        pytest.param(60, HeldReason.LANE_RATE, None, id="due_waits_for_the_lane"),
        pytest.param(59, HeldReason.DUE_LATER, 60, id="ahead_waits_for_its_due_time"),
    ],
)
def test_catch_up_row_is_never_released_before_its_due_time(
    now: int, held_reason: HeldReason, not_before: int | None
) -> None:
    row = catch_up_row(a_rules(), 60 * SECOND_US, now_us=now * SECOND_US)
    assert row.held_reason is held_reason
    assert row.not_before_us == (None if not_before is None else not_before * SECOND_US)


@pytest.mark.parametrize(
    ("after", "through", "expected"),
    [
        pytest.param(0, 600, "60..600 x10 paused", id="all"),
        pytest.param(60, 120, "120..120 x1 paused", id="one"),
        pytest.param(600, 4199, None, id="none"),
        pytest.param(4200, 9999, None, id="beyond_the_last"),
    ],
)
def test_range_row_counts_the_instants_of_its_range(
    after: int, through: int, expected: str | None
) -> None:
    rules = a_rules(recurrence=TEN_MINUTES)
    row = range_row(rules, after * SECOND_US, through * SECOND_US, cause=Cause.PAUSED)
    assert (row and brief_row(row)) == expected


def _smeared() -> Rules:
    return a_rules(recurrence=at_seconds(60, 120), smear_us=50 * SECOND_US)


@pytest.mark.parametrize(
    ("after_us", "beyond_us", "expected_s"),
    [
        pytest.param(0, 0, 120, id="due_just_now"),
        pytest.param(0, -1, 60, id="one_microsecond_ahead"),
        pytest.param(60 * SECOND_US, -1, None, id="ahead_and_the_older_is_decided"),
        pytest.param(120 * SECOND_US, 0, None, id="nothing_after"),
    ],
)
def test_newest_due_looks_at_due_times(
    after_us: int, beyond_us: int, expected_s: int | None
) -> None:
    rules = _smeared()
    due_through_us = due_of(rules, 120 * SECOND_US) + beyond_us
    found = newest_due(rules, after_us, through_us=10**12, due_through_us=due_through_us)
    assert found == (None if expected_s is None else expected_s * SECOND_US)


def test_draft_remaining_never_falls_below_zero() -> None:
    draft = Draft(a_view(fired_count=9), 0)
    assert draft.remaining(a_rules(max_fires=3)) == 0
    assert draft.remaining(a_rules(max_fires=12)) == 3
    assert draft.remaining(a_rules()) is None
