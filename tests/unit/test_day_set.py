"""Sets of local days, against a day-by-day look at every date."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling import InvalidRecurrence
from scheduling.day_set import day_set
from scheduling.grammar import CronForm
from scheduling.months import END_DAY, FIRST_DAY, date_of, day_number
from tests.support.oracle import day_matches

RULES = [
    ("*", "*", "*"),
    ("13", "*", "FRI"),
    ("*/2", "*", "SUN"),
    ("L,15W", "*", "*"),
    ("L-3,LW", "2,12", "*"),
    ("31W", "*", "MON"),
    ("1W,30W", "4-9", "?"),
    ("*", "*", "MON#5"),
    ("*", "2", "MON#5"),
    ("29", "2", "*"),
    ("*", "11", "4#4,5L"),
    ("31", "1,3", "*"),
    ("?", "JUN", "SAT-MON,WED#2"),
    ("L-30", "*", "*"),
]
DAYS = st.integers(FIRST_DAY, END_DAY - 1)


def _form(rule: tuple[str, str, str]) -> CronForm:
    return CronForm("0", "0", "0", *rule)


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_day_set_over_a_leap_cycle_equals_every_date(rule: tuple[str, str, str]) -> None:
    days, form = day_set(*rule), _form(rule)
    first = day_number(date(2096, 1, 1))  # 2100 is no leap year
    every = [day for day in range(first, first + 8 * 366) if day_matches(form, date_of(day))]
    found = [day for day in days.days_from(first) if day < first + 8 * 366]
    assert found == every
    assert [day for day in range(first, first + 8 * 366) if days.has(day)] == every
    assert days.count(first, first + 8 * 366) == len(every)


@given(rule=st.sampled_from(RULES), day=DAYS, other=DAYS)
def test_day_set_neighbours_and_counts_agree(
    rule: tuple[str, str, str], day: int, other: int
) -> None:
    days = day_set(*rule)
    low, high = min(day, other), max(day, other)
    high = min(high, low + 20_000)
    inside = [found for found in days.days_from(low) if found < high] if high > low else []
    assert days.count(low, high) == len(inside)
    following = days.next_day(low)
    assert following == next(iter(days.days_from(low)), None)
    if following is not None:
        assert days.previous_day(following) == following
        before = days.previous_day(following - 1)
        assert before is None or before < low
        assert before is None or days.next_day(before + 1) == following


def test_day_set_is_shared_by_its_texts() -> None:
    assert day_set("L", "*", "*") is day_set("L", "*", "*")


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (("30", "2", "*"), "day_of_month"),
        (("31", "4,6,9,11", "*"), "day_of_month"),
        (("31W", "6", "?"), "day_of_month"),
        (("L-29", "2", "*"), "day_of_month"),
        (("*/100", "*", "MON#4"), "day_of_week"),
        (("?/30", "*", "SUN#2"), "day_of_week"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_day_set_that_never_matches_is_refused(rule: tuple[str, str, str], field: str) -> None:
    with pytest.raises(InvalidRecurrence, match="never fire") as caught:
        day_set(*rule)
    assert caught.value.field == field


def test_day_set_restricted_by_or_is_kept_where_one_field_can_match() -> None:
    days = day_set("30", "2", "MON")
    first = day_number(date(2024, 2, 1))
    found = [date_of(day) for day in days.days_from(first)][:3]
    assert found == [date(2024, 2, 5) + timedelta(days=7 * week) for week in range(3)]
