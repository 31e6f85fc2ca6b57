"""Exclusion calendars: their text, what it gives beside a slow oracle, and every refusal."""

import pickle
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.calendars import ExclusionCalendar, calendar_dates, rule_dates
from scheduling.instants import from_text
from scheduling.limits import (
    CALENDAR_RULE_CHARS_MAX,
    CALENDAR_RULES_MAX,
    CALENDAR_YEAR_MAX,
    EXCLUSION_DATES_MAX,
)
from tests.support.rrule_oracle import OracleRule

CHRISTMAS = "DTSTART:20261225 RRULE:FREQ=YEARLY"


def days(*texts: str) -> tuple[date, ...]:
    return tuple(map(date.fromisoformat, texts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "DTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=YEARLY;COUNT=2\r\n",
            days("2026-12-25", "2027-12-25"),
            id="as-exported",
        ),
        pytest.param(
            "dtstart:20261225 freq=yearly;until=20271225",
            days("2026-12-25", "2027-12-25"),
            id="in-one-line-of-small-letters",
        ),
        pytest.param(
            "DTSTART:20260101 RRULE:FREQ=YEARLY;COUNT=3 EXDATE:20270101",
            days("2026-01-01", "2028-01-01"),
            id="exdates-are-taken-out",
        ),
        pytest.param(
            "EXDATE;VALUE=DATE:20261224,20261231\n ,20261226\nEXDATE:20261224",
            days("2026-12-24", "2026-12-26", "2026-12-31"),
            id="exdates-alone-over-a-folded-line",
        ),
        pytest.param(
            "DTSTART:20260101 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2",
            days("2026-11-26", "2027-11-25"),
            id="thanksgiving",
        ),
        pytest.param(
            "DTSTART:20260101 RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
            days("2026-01-30", "2026-02-27", "2026-03-31"),
            id="last-workday",
        ),
        pytest.param(
            "DTSTART:20240229 RRULE:FREQ=YEARLY;UNTIL=20330101",
            days("2024-02-29", "2028-02-29", "2032-02-29"),
            id="leap-day",
        ),
        pytest.param(
            "DTSTART:20260105 RRULE:FREQ=DAILY;INTERVAL=10;COUNT=3",
            days("2026-01-05", "2026-01-15", "2026-01-25"),
            id="every-ten-days",
        ),
    ],
)
def test_rule_dates_of_a_good_text(text: str, expected: tuple[date, ...]) -> None:
    assert rule_dates(text) == expected


def test_rule_dates_without_an_end_go_on_to_the_last_year() -> None:
    found = rule_dates(CHRISTMAS)
    assert found[0] == date(2026, 12, 25)
    assert found[-1] == date(CALENDAR_YEAR_MAX, 12, 25)
    assert len(found) == CALENDAR_YEAR_MAX - 2025


def test_rule_dates_of_a_week_that_reaches_over_the_last_year_end_with_it() -> None:
    text = f"DTSTART:{CALENDAR_YEAR_MAX}1220 RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"
    assert rule_dates(text)[-1] == date(CALENDAR_YEAR_MAX, 12, 31)


def _lists(low: int, high: int) -> st.SearchStrategy[tuple[int, ...]]:
    numbers = st.integers(low, high).filter(bool)
    return st.lists(numbers, max_size=3, unique=True).map(sorted).map(tuple)


@st.composite
def rules(draw: st.DrawFn) -> OracleRule:
    frequency = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]))
    start = draw(st.dates(date(2019, 12, 20), date(2028, 3, 5)))
    parts: dict[str, Any] = {"by_month": draw(_lists(1, 12))}
    if frequency != "WEEKLY":
        parts["by_month_day"] = draw(_lists(-31, 31))
    if frequency == "YEARLY":
        parts["by_year_day"] = draw(_lists(-366, 366))
        parts["by_week"] = draw(_lists(-51, 53))
    with_number = frequency in ("YEARLY", "MONTHLY") and not parts.get("by_week")
    high = (5 if frequency == "MONTHLY" or parts["by_month"] else 53) if with_number else 0
    by_day = st.tuples(st.integers(-high, high), st.integers(0, 6))
    at_least = 1 if parts.get("by_week") else 0
    parts["by_day"] = tuple(draw(st.lists(by_day, min_size=at_least, max_size=4, unique=True)))
    if frequency != "DAILY" and any(parts.values()):
        parts["positions"] = draw(_lists(-4, 4))
    return OracleRule(
        start=start,
        until=start.replace(year=start.year + draw(st.integers(1, 5)), day=28),
        frequency=frequency,
        interval=draw(st.integers(1, 7)),
        week_start=draw(st.integers(0, 6)),
        **parts,
    )


@settings(max_examples=150, deadline=None)
@given(rule=rules())
def test_rule_dates_are_those_of_the_oracle(rule: OracleRule) -> None:
    expected = rule.dates()
    if expected:
        assert list(rule_dates(rule.text())) == expected
    else:
        with pytest.raises(InvalidRecurrence, match="gives no date"):
            rule_dates(rule.text())


@settings(max_examples=30, deadline=None)
@given(rule=rules(), count=st.integers(1, 9))
def test_rule_dates_with_a_count_are_the_first_of_the_oracle(rule: OracleRule, count: int) -> None:
    expected = rule.dates()[:count]
    counted = OracleRule(**{**vars(rule), "count": max(len(expected), 1)})
    if expected:
        assert list(rule_dates(counted.text())) == expected


@pytest.mark.parametrize(
    ("text", "field", "part"),
    [
        pytest.param("", "RRULE", "is empty", id="empty"),
        pytest.param("RRULE:FREQ=DAILY", "DTSTART", "add the date", id="no-start"),
        pytest.param("DTSTART:20260101", "DTSTART", "add one", id="start-alone"),
        pytest.param("DTSTART:20260101T000000Z RRULE:FREQ=DAILY", "DTSTART", "without a time"),
        pytest.param("DTSTART;TZID=UTC:20260101 RRULE:FREQ=DAILY", "DTSTART", "VALUE=DATE"),
        pytest.param("DTSTART:20260230 RRULE:FREQ=DAILY", "DTSTART", "in no calendar"),
        pytest.param("DTSTART:18991231 RRULE:FREQ=DAILY", "DTSTART", "from 1900 to 2399"),
        pytest.param("DTSTART:24000101 RRULE:FREQ=DAILY", "DTSTART", "from 1900 to 2399"),
        pytest.param("RDATE:20260101", "RDATE", "under `dates`", id="rdate"),
        pytest.param("EXRULE:FREQ=DAILY", "RRULE", "use DTSTART:", id="exrule"),
        pytest.param("2026-12-25", "RRULE", "use DTSTART:", id="a-date"),
        pytest.param("EXDATE:", "EXDATE", "write a date", id="no-exdate"),
        pytest.param("EXDATE:20261225,", "EXDATE", "write a date", id="trailing-comma"),
        pytest.param("EXDATE:2026-12-25", "EXDATE", "as in 20261225", id="dashes"),
        pytest.param("FREQ=DAILY FREQ=DAILY", "RRULE", "two texts", id="two-rules"),
        pytest.param("RRULE;X=1:FREQ=DAILY", "RRULE", "no parameter but", id="parameters"),
        pytest.param("FREQ=HOURLY", "FREQ", "whole dates: use DAILY", id="hourly"),
        pytest.param("FREQ=SOMETIMES", "FREQ", "use DAILY", id="frequency"),
        pytest.param("RRULE:COUNT=3", "FREQ", "use DAILY", id="no-frequency"),
        pytest.param("FREQ=DAILY;", "RRULE", "NAME=VALUE", id="trailing-semicolon"),
        pytest.param("FREQ=DAILY;COUNT=1;COUNT=2", "COUNT", "twice", id="part-twice"),
        pytest.param("FREQ=DAILY;COUNT=1;UNTIL=20260101", "COUNT", "not both", id="two-ends"),
        pytest.param("FREQ=DAILY;COUNT=0", "COUNT", "from 1 to", id="count"),
        pytest.param("FREQ=DAILY;INTERVAL=0", "INTERVAL", "from 1 to", id="interval"),
        pytest.param("FREQ=DAILY;INTERVAL=99999999999999999999", "INTERVAL", "from 1 to"),
        pytest.param("FREQ=DAILY;UNTIL=20260101T000000Z", "UNTIL", "without a time", id="until"),
        pytest.param("FREQ=DAILY;WKST=XX", "WKST", "use one of MO", id="wkst"),
        pytest.param("FREQ=DAILY;BYHOUR=3", "RRULE", "whole dates: leave it out", id="byhour"),
        pytest.param("FREQ=YEARLY;BYEASTER=0", "RRULE", "is no part of a rule", id="byeaster"),
        pytest.param("FREQ=YEARLY;BYMONTH=13", "BYMONTH", "from 1 to 12", id="month"),
        pytest.param("FREQ=YEARLY;BYMONTH=-1", "BYMONTH", "from 1 to 12", id="month-from-end"),
        pytest.param("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY", "from -31 to 31"),
        pytest.param("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY", "counts from 1", id="day-0"),
        pytest.param("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY", "no meaning under FREQ=WEEKLY"),
        pytest.param("FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY", "use YEARLY", id="year-day"),
        pytest.param("FREQ=MONTHLY;BYWEEKNO=1;BYDAY=MO", "BYWEEKNO", "use YEARLY", id="week"),
        pytest.param("FREQ=YEARLY;BYWEEKNO=1", "BYWEEKNO", "as in BYDAY=MO", id="week-alone"),
        pytest.param("FREQ=YEARLY;BYWEEKNO=-53;BYDAY=MO", "BYWEEKNO", "to -51", id="week-53-back"),
        pytest.param("FREQ=DAILY;BYDAY=MO;BYSETPOS=1", "BYSETPOS", "no meaning", id="position"),
        pytest.param("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS", "add one", id="position-of-nothing"),
        pytest.param("FREQ=WEEKLY;BYDAY=XX", "BYDAY", "MO to SU", id="weekday"),
        pytest.param("FREQ=WEEKLY;BYDAY=1MO", "BYDAY", "has a number", id="numbered-in-a-week"),
        pytest.param("FREQ=MONTHLY;BYDAY=6MO", "BYDAY", "from 1 to 5", id="sixth-in-a-month"),
        pytest.param("FREQ=YEARLY;BYMONTH=6;BYDAY=53MO", "BYDAY", "from 1 to 5", id="in-june"),
        pytest.param("FREQ=YEARLY;BYDAY=0MO", "BYDAY", "from 1 to 53", id="zeroth"),
        pytest.param("DTSTART:20260101 FREQ=DAILY;UNTIL=20251231", "UNTIL", "before DTSTART"),
        pytest.param("FREQ=DAILY\u00e9", "RRULE", "ASCII", id="not-ascii"),
        pytest.param("X" * (CALENDAR_RULE_CHARS_MAX + 1), "RRULE", "divide it", id="too-long"),
        pytest.param(
            "DTSTART:20260101 FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31", "RRULE", "gives no date"
        ),
        pytest.param(
            "DTSTART:20260101 FREQ=DAILY;COUNT=1 EXDATE:20260101", "RRULE", "gives no date"
        ),
        pytest.param("DTSTART:20260101 FREQ=DAILY", "RRULE", "add UNTIL=20530518", id="too-many"),
    ],
)
def test_bad_text_is_refused_with_field_and_remedy(text: str, field: str, part: str) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        rule_dates(text)
    assert caught.value.field == field
    assert part in caught.value.reason
    assert len(caught.value.item) <= 40


def test_remedy_for_too_many_dates_is_accepted() -> None:
    found = rule_dates("DTSTART:20260101 RRULE:FREQ=DAILY;UNTIL=20530518")
    assert len(found) == EXCLUSION_DATES_MAX


def test_calendar_dates_join_rules_and_dates_of_their_own() -> None:
    own = [date(2026, 5, 1), date(2026, 12, 25)]
    found = calendar_dates([f"{CHRISTMAS};COUNT=2", "EXDATE:20260101"], own)
    assert found == days("2026-01-01", "2026-05-01", "2026-12-25", "2027-12-25")
    assert calendar_dates([]) == ()


RARE = "DTSTART:20260101 RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO"
DAILY = "DTSTART:20260101 RRULE:FREQ=DAILY;COUNT=9999"


@pytest.mark.parametrize(
    ("rules", "dates", "text"),
    [
        pytest.param(
            [CHRISTMAS, "FREQ=HOURLY"], [], "rules[1].FREQ: 'HOURLY': a calendar is of", id="which"
        ),
        pytest.param([DAILY, DAILY], [], "rules: more than 10000 together", id="rules-together"),
        pytest.param(
            [], [date.fromordinal(700_000 + n) for n in range(10_001)], "dates: more than 10000"
        ),
        pytest.param([CHRISTMAS] * (CALENDAR_RULES_MAX + 1), [], "rules: has 51; at most 50"),
        pytest.param([RARE] * 4, [], "rules[2].RRULE: the rules take too long", id="too-costly"),
    ],
)
def test_calendar_dates_beyond_a_bound_are_refused(
    rules: list[str], dates: list[date], text: str
) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        calendar_dates(rules, dates)
    assert text in str(caught.value)


HOLIDAYS = ExclusionCalendar("holidays", 3, days("2026-12-25", "2027-01-01"))
WORKS = ExclusionCalendar("works", 1, days("2026-12-24"))


def test_recurrence_leaves_out_the_dates_of_its_calendars_and_its_own() -> None:
    recurrence = compile_recurrence(
        "30 23 * * *",
        "America/New_York",
        exclusions=days("2026-12-26"),
        calendars=[HOLIDAYS, WORKS],
    )
    # 23:30 in New York is 04:30 the next day in UTC: the local date counts.
    after_us = from_text("2026-12-23T00:00:00Z")
    expected = ["2026-12-23T04:30:00Z", "2026-12-24T04:30:00Z", "2026-12-28T04:30:00Z"]
    assert recurrence.between_us(after_us, 10**18, 3) == [from_text(text) for text in expected]
    assert pickle.loads(pickle.dumps(recurrence)).calendars == (HOLIDAYS, WORKS)


def test_description_names_calendars() -> None:
    empty = ExclusionCalendar("empty", 1, ())
    recurrence = compile_recurrence(
        "@daily", "UTC", exclusions=days("2026-05-01"), calendars=[HOLIDAYS, WORKS, empty]
    )
    assert recurrence.describe() == (
        "At 00:00 every day, in UTC; not on 2026-05-01; not on the dates of calendar holidays "
        "(2 from 2026-12-25 to 2027-01-01); not on the dates of calendar works (2026-12-24); "
        "not on the dates of calendar empty (it has none)."
    )


def test_calendars_that_leave_nothing_are_refused_by_their_name() -> None:
    with pytest.raises(InvalidRecurrence, match=r"^calendars: .* never fire"):
        compile_recurrence("at 2026-12-25T09:00", "UTC", calendars=[HOLIDAYS])


def test_calendars_and_exclusions_of_too_many_dates_together_are_refused() -> None:
    full = ExclusionCalendar("full", 1, tuple(date.fromordinal(700_000 + n) for n in range(10_000)))
    with pytest.raises(InvalidRecurrence, match=r"^calendars: with its calendars 10001 dates"):
        compile_recurrence("@daily", "UTC", exclusions=days("2026-01-01"), calendars=[full])
