"""Odd nights: which clock changes touch which recurrences. Local and UTC times stand beside."""

import pytest

from control_api.answers.odd_nights import mark_of, odd_nights
from scheduling import compile_recurrence
from scheduling.instants import from_text

YEAR = (from_text("2026-06-01T00:00:00Z"), from_text("2027-06-01T00:00:00Z"))
BERLIN = "Europe/Berlin"  # 2026-10-25 03:00 -> 02:00 at 01:00Z; 2027-03-28 02:00 -> 03:00 at 01:00Z
LORD_HOWE = "Australia/Lord_Howe"  # 2026-10-04 02:00 -> 02:30; 2027-04-04 02:00 -> 01:30


def texts(*expressions: str, zone: str = BERLIN, gap: str = "shift_forward") -> list[str]:
    recurrence = compile_recurrence(list(expressions), zone, gap=gap)
    return [night.text(recurrence) for night in odd_nights(recurrence, *YEAR)]


@pytest.mark.parametrize(
    ("expressions", "zone"),
    [
        pytest.param(("0 9 * * *",), BERLIN, id="by-day"),
        pytest.param(("30 2 * * *",), "UTC", id="a-zone-without-changes"),
        pytest.param(("30 2 * * MON",), BERLIN, id="another-weekday"),
        pytest.param(("* * * * *",), BERLIN, id="every-minute"),
        pytest.param(("*/15 * * * *",), BERLIN, id="every-quarter"),
        pytest.param(("every 15m",), BERLIN, id="elapsed-time"),
    ],
)
def test_odd_nights_of_what_no_change_touches_are_none(
    expressions: tuple[str, ...], zone: str
) -> None:
    assert texts(*expressions, zone=zone) == []


def test_odd_nights_of_an_interval_in_some_hours_tell_that_no_rule_moves_it() -> None:
    assert texts("*/20 1-3 * * *") == [
        "Sun 2026-10-25: the clock repeats 02:00 to 03:00; 02:00, 02:20, 02:40 count in both "
        "passes (from 00:00:00Z and 01:00:00Z)",
        "Sun 2027-03-28: the clock skips 02:00 to 03:00; 02:00, 02:20, 02:40 are left out",
    ]


def test_odd_nights_of_one_time_in_two_expressions_name_it_once() -> None:
    assert texts("30 2 * * *", "30 2 * * *", gap="skip")[1] == (
        "Sun 2027-03-28: the clock skips 02:00 to 03:00; 02:30 is left out"
    )


def test_odd_nights_with_many_times_name_the_first_and_count_the_rest() -> None:
    assert texts("0,10,20,30,40 2 * * *")[1] == (
        "Sun 2027-03-28: the clock skips 02:00 to 03:00; 02:00, 02:10, 02:20 and 2 more move to "
        "2027-03-28 03:00:00 +02:00, as one"
    )


def test_odd_nights_of_a_half_hour_change_touch_its_half_hour_alone() -> None:
    assert texts("0 2 * * *", "45 2 * * *", zone=LORD_HOWE) == [
        "Sun 2026-10-04: the clock skips 02:00 to 02:30; 02:00 moves to 2026-10-04 02:30:00 +11:00"
    ]


def test_mark_of_an_instant_with_a_time_of_its_own_after_a_gap_is_still_the_skipped_one() -> None:
    recurrence = compile_recurrence(["30 2 * * *", "0 3 * * *"], BERLIN)
    assert mark_of(recurrence, from_text("2027-03-28T01:00:00Z")) == (
        "moved from 02:30, which the clock skips"
    )


def test_mark_of_an_ordinary_instant_is_none() -> None:
    recurrence = compile_recurrence("0 3 * * *", BERLIN)
    assert mark_of(recurrence, from_text("2027-03-28T01:00:00Z")) is None
