"""Fields of cron: what each text allows, and how each wrong one is refused."""

import pytest

from scheduling import InvalidRecurrence
from scheduling.day_set import bit_values
from scheduling.fields import Special, parse_field


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("minute", "*", range(60)),
        ("minute", "0", [0]),
        ("minute", "007", [7]),
        ("minute", "10-12", [10, 11, 12]),
        ("minute", "*/20", [0, 20, 40]),
        ("minute", "50/5", [50, 55]),
        ("minute", "59/15", [59]),
        ("minute", "0-30/7", [0, 7, 14, 21, 28]),
        ("minute", "*/100", [0]),
        ("minute", "5-5/3", [5]),
        ("minute", "58-2", [0, 1, 2, 58, 59]),
        ("minute", "3,1,3", [1, 3]),
        ("hour", "22-4/3", [1, 4, 22]),
        ("day_of_month", "29-2", [1, 2, 29, 30, 31]),
        ("day_of_month", "?", range(1, 32)),
        ("month", "JAN,mar-May", [1, 3, 4, 5]),
        ("month", "NOV-FEB", [1, 2, 11, 12]),
        ("month", "Apr-Mar/2", [2, 4, 6, 8, 10, 12]),
        ("month", "Apr-Mar/3", [1, 4, 7, 10]),
        ("day_of_week", "0,7", [0]),
        ("day_of_week", "0-7", range(7)),
        ("day_of_week", "SUN-7", range(7)),
        ("day_of_week", "7-7", [0]),
        ("day_of_week", "SUN-SUN", [0]),
        ("day_of_week", "7-2", [0, 1, 2]),
        ("day_of_week", "FRI-0", [0, 5, 6]),
        ("day_of_week", "thu-7", [0, 4, 5, 6]),
        ("day_of_week", "THU-TUE/2", [1, 4, 6]),
        ("day_of_week", "7/2", [0, 2, 4, 6]),
        ("day_of_week", "Mon/2", [1, 3, 5]),
        ("day_of_week", "1-7/2", [0, 1, 3, 5]),
    ],
)
def test_field_allows_its_values(field: str, text: str, expected: list[int]) -> None:
    assert bit_values(parse_field(field, text).bits) == tuple(expected)


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("day_of_month", "L", [Special("last", 0)]),
        ("day_of_month", "l-3", [Special("last", 3)]),
        ("day_of_month", "LW", [Special("last_workday")]),
        ("day_of_month", "1,15w", [Special("workday", 15)]),
        ("day_of_week", "MON#2", [Special("nth", 2, 1)]),
        ("day_of_week", "7#01", [Special("nth", 1, 0)]),
        ("day_of_week", "5L,friL,2", [Special("last_of", 0, 5)]),
    ],
)
def test_field_keeps_its_special_days(field: str, text: str, expected: list[Special]) -> None:
    assert list(parse_field(field, text).specials) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("*/2", True), ("?", True), ("*,13", True), ("13,*", False)]
)
def test_field_is_starred_where_its_text_starts_so(text: str, expected: bool) -> None:
    assert parse_field("day_of_month", text).starred is expected


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("second", "60"),
        ("minute", "60"),
        ("minute", "-5"),
        ("minute", "1--5"),
        ("minute", "1-"),
        ("minute", "1-2-3"),
        ("minute", "/10"),
        ("minute", "5/"),
        ("minute", "5/0"),
        ("minute", "*/0"),
        ("minute", "5/*"),
        ("minute", "1,,2"),
        ("minute", "1,"),
        ("minute", "?"),
        ("minute", "L"),
        ("minute", "1e3"),
        ("minute", "0x10"),
        ("minute", "00005"),
        ("hour", "24"),
        ("day_of_month", "0"),
        ("day_of_month", "32"),
        ("day_of_month", "L-31"),
        ("day_of_month", "W15"),
        ("day_of_month", "0W"),
        ("day_of_month", "32W"),
        ("day_of_month", "10-15W"),
        ("day_of_month", "L/2"),
        ("day_of_month", "LWW"),
        ("month", "0"),
        ("month", "13"),
        ("month", "JANUARY"),
        ("month", "JAN-FOO"),
        ("day_of_week", "8"),
        ("day_of_week", "L"),
        ("day_of_week", "8L"),
        ("day_of_week", "*L"),
        ("day_of_week", "MON-FRIL"),
        ("day_of_week", "5L#1"),
        ("day_of_week", "1#0"),
        ("day_of_week", "1#6"),
        ("day_of_week", "1#"),
        ("day_of_week", "#1"),
        ("day_of_week", "1/2#3"),
        ("day_of_week", "MON-FRI#1"),
    ],
)
def test_field_with_bad_text_is_refused_by_name(field: str, text: str) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        parse_field(field, text)
    assert caught.value.field == field
    assert caught.value.item in text
    assert caught.value.reason


def test_field_with_too_many_items_is_refused() -> None:
    assert parse_field("minute", ",".join(["1"] * 100)).bits == 2
    with pytest.raises(InvalidRecurrence, match="more than 100 items"):
        parse_field("minute", ",".join(["1"] * 101))
