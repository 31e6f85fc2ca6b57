"""Odd nights: which clock changes touch which recurrences. Local and UTC times stand beside."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from control_api.answers.clock_change import wall_of
from control_api.answers.odd_nights import OddNight, mark_of, nights_text, odd_nights
from control_api.answers.zone_times import wall_text
from scheduling import compile_recurrence
from scheduling.calendars import ExclusionCalendar
from scheduling.instants import from_text

HOUR_US = 3_600_000_000
JUNE = from_text("2026-06-01T00:00:00Z")
BERLIN = "Europe/Berlin"  # 2026-10-25 03:00 -> 02:00 at 01:00Z; 2027-03-28 02:00 -> 03:00 at 01:00Z
LORD_HOWE = "Australia/Lord_Howe"  # 2026-10-04 02:00 -> 02:30; 2027-04-04 02:00 -> 01:30


def nights(
    *expressions: str, zone: str = BERLIN, since: int = JUNE, **rules: Any
) -> list[OddNight]:
    return odd_nights(compile_recurrence(list(expressions), zone, **rules), since)


def texts(*expressions: str, zone: str = BERLIN, since: int = JUNE, **rules: Any) -> list[str]:
    return [night.text for night in nights(*expressions, zone=zone, since=since, **rules)]


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


# The spring change of Berlin: 02:30 in each of the ways in which it can fare.
SPRING = from_text("2027-01-01T00:00:00Z")
EASTER = date(2027, 3, 28)


@pytest.mark.parametrize(
    ("expressions", "rules", "fate"),
    [
        pytest.param(("30 2 * * *",), {}, "02:30 moves to 2027-03-28 03:00:00 +02:00", id="moves"),
        pytest.param(
            ("30 2 * * *", "0 3 * * *"),
            {},
            "02:30 moves to 2027-03-28 03:00:00 +02:00, as one with 03:00",
            id="meets-a-regular-time",
        ),
        pytest.param(
            ("0,30 2 * * *",),
            {},
            "02:00, 02:30 move to 2027-03-28 03:00:00 +02:00, as one",
            id="several-become-one",
        ),
        pytest.param(("30 2 * * *",), {"gap": "skip"}, "02:30 is left out", id="skip"),
        pytest.param(
            ("30 2 * * *",),
            {"exclusions": [EASTER]},
            "02:30 is left out: 2027-03-28 is excluded",
            id="excluded",
        ),
        pytest.param(
            ("0,30 2 * * *",),
            {
                "calendars": [
                    ExclusionCalendar("easter", 1, (EASTER,)),
                    ExclusionCalendar("feasts", 1, (EASTER,)),
                ]
            },
            "02:00, 02:30 are left out: 2027-03-28 is excluded by calendar easter and feasts",
            id="excluded-by-calendars",
        ),
    ],
)
def test_odd_night_of_a_gap_says_what_becomes_of_its_times(
    expressions: tuple[str, ...], rules: dict[str, Any], fate: str
) -> None:
    found = [each for each in texts(*expressions, since=SPRING, **rules) if "03-28" in each]
    assert found == [f"Sun 2027-03-28: the clock skips 02:00 to 03:00; {fate}"]


@pytest.mark.parametrize(
    ("expressions", "rules", "fate"),
    [
        pytest.param(
            ("30 2 * * *",), {}, "02:30 counts once, in the first pass (00:30:00Z)", id="first"
        ),
        pytest.param(
            ("30 2 * * *",),
            {"fold": "last"},
            "02:30 counts once, in the last pass (01:30:00Z)",
            id="last",
        ),
        pytest.param(
            ("0,30 2 * * *",),
            {"fold": "both"},
            "02:00, 02:30 count in both passes (from 00:00:00Z and 01:00:00Z)",
            id="both",
        ),
        pytest.param(
            ("30 2 * * *",),
            {"exclusions": [date(2026, 10, 25)]},
            "02:30 is left out: 2026-10-25 is excluded",
            id="excluded",
        ),
    ],
)
def test_odd_night_of_a_fold_says_what_becomes_of_its_times(
    expressions: tuple[str, ...], rules: dict[str, Any], fate: str
) -> None:
    first = texts(*expressions, **rules)[0]
    assert first == f"Sun 2026-10-25: the clock repeats 02:00 to 03:00; {fate}"


def test_odd_night_of_a_skipped_date_tells_the_date_to_which_it_moves() -> None:
    # Pacific/Apia: after Thursday 2011-12-29 comes Saturday 2011-12-31, at 10:00Z.
    since = from_text("2011-10-01T00:00:00Z")
    whole_day = "Fri 2011-12-30: the clock skips the whole day; 12:00 "
    rules: dict[str, Any] = {"zone": "Pacific/Apia", "since": since}
    assert texts("0 12 * * *", **rules) == [f"{whole_day}moves to 2011-12-31 00:00:00 +14:00"]
    # The date that the clock shows at the instant counts, not the one that never was.
    excluded = "is left out: 2011-12-31 is excluded"
    saturday = texts("0 12 * * *", exclusions=[date(2011, 12, 31)], **rules)
    assert saturday == [f"{whole_day}{excluded}"]
    friday = texts("0 12 * * *", exclusions=[date(2011, 12, 30)], **rules)
    assert friday == [f"{whole_day}moves to 2011-12-31 00:00:00 +14:00"]


def test_odd_night_of_a_gap_at_midnight_has_the_new_date() -> None:
    # Africa/Cairo: Friday 2027-04-30 00:00 -> 01:00, at 22:00Z the day before.
    (spring,) = nights("@daily", zone="Africa/Cairo", since=SPRING)[:1]
    assert (spring.on, spring.kind) == (date(2027, 4, 30), "gap")
    assert spring.text == (
        "Fri 2027-04-30: the clock skips 00:00 to 01:00; 00:00 moves to 2027-04-30 01:00:00 +03:00"
    )


def test_odd_night_of_a_fold_before_midnight_has_the_old_date() -> None:
    # America/Santiago: Saturday 2027-04-03 24:00 -> 23:00, at 03:00Z on Sunday.
    (autumn,) = nights("30 23 * * *", zone="America/Santiago", since=SPRING)
    assert autumn.text == (
        "Sat 2027-04-03: the clock repeats 23:00 to 24:00; 23:30 counts once, in the first pass "
        "(02:30:00Z)"
    )


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        pytest.param(("2026-10-26", None), [], id="begins-after"),
        pytest.param((None, "2026-10-20"), [], id="ended-before"),
        pytest.param(
            (None, "2026-10-25T00:50:00"), ["in the first pass (00:30:00Z)"], id="first-alone"
        ),
        pytest.param(
            ("2026-10-25T01:10:00", None), ["in the last pass (01:30:00Z)"], id="last-alone"
        ),
        pytest.param(("2026-10-24", "2026-10-26"), ["in both passes"], id="around"),
    ],
)
def test_odd_night_at_the_window_tells_only_what_is_inside(
    bounds: tuple[str | None, str | None], expected: list[str]
) -> None:
    starts_at, ends_at = (
        each and datetime.fromisoformat(each).replace(tzinfo=UTC) for each in bounds
    )
    found = texts("30 2 * * *", fold="both", starts_at=starts_at, ends_at=ends_at)
    autumn = [each for each in found if "2026-10-25" in each]
    assert [part in each for part, each in zip(expected, autumn, strict=True)] == [True] * len(
        expected
    )


def test_odd_nights_reach_as_many_months_as_asked() -> None:
    assert len(nights("30 2 * * *")) == 2
    recurrence = compile_recurrence("30 2 * * *", BERLIN)
    assert len(odd_nights(recurrence, JUNE, months=5)) == 1
    assert len(odd_nights(recurrence, JUNE, months=24)) == 4
    leap_day = from_text("2028-02-29T00:00:00Z")
    assert len(odd_nights(recurrence, leap_day)) == 2


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize("gap", ["shift_forward", "skip"])
@pytest.mark.parametrize(
    ("expression", "zone"),
    [
        ("30 2 * * *", BERLIN),
        ("0,15,45 1,2 * * *", LORD_HOWE),
        ("*/20 0-2 * * *", "Africa/Cairo"),
        ("30 23 * * *", "America/Santiago"),
        ("10 0 * * *", "America/Havana"),
    ],
)
def test_odd_nights_name_exactly_the_instants_that_the_recurrence_has(
    expression: str, zone: str, gap: str, fold: str
) -> None:
    excluded = [date(2026, 10, 25), date(2027, 4, 4)]
    recurrence = compile_recurrence(expression, zone, gap=gap, fold=fold, exclusions=excluded)
    for night in odd_nights(recurrence, JUNE):
        for time in night.times:
            for instant_us in time.instants_us:
                assert recurrence.next_after_us(instant_us - 1) == instant_us
            if not time.instants_us:
                around = recurrence.between_us(night.at_us - HOUR_US, night.at_us + HOUR_US, 1_000)
                walls = [wall_text(zone, each)[:16] for each in around]
                assert f"{night.on} {wall_of(time.wall_s)}" not in walls


def test_odd_night_as_json_has_date_times_and_text() -> None:
    night = nights("30 2 * * *", "15 2 * * *")[0]
    assert night.json() == {
        "date": "2026-10-25",
        "kind": "fold",
        "changes_at": "2026-10-25T01:00:00Z",
        "from_local": "02:00",
        "to_local": "03:00",
        "times": [
            {"local": "02:15", "instants": ["2026-10-25T00:15:00Z"]},
            {"local": "02:30", "instants": ["2026-10-25T00:30:00Z"]},
        ],
        "count": 2,
        "text": night.text,
    }


def test_nights_text_tells_when_there_is_none() -> None:
    assert nights_text([], BERLIN, JUNE) == (
        "No odd night within a year of 2026-06-01: no clock change touches it."
    )
