"""Recurrences in one sentence."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from scheduling import compile_recurrence

GAP = "; a time that the clock skips moves to the first instant after the gap"
FIRST = "; a time that the clock repeats counts in its first pass only"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("3/20 * * * *", "Every 20 minutes from minute 3 on"),
        ("15 * * * *", "At minute 15 of every hour"),
        ("* * * * * *", "Every second"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("* 0 9 * * *", "Every second, at minute 0 in the hour of 09:00"),
        ("*/20 * 4 * * *", "Every 20 seconds in the hour of 04:00"),
        ("@daily", "At 00:00 every day"),
        ("30 30 1,2 * * *", "At 01:30:30 and 02:30:30 every day"),
        ("0 9 * * MON-FRI", "At 09:00 on Monday to Friday"),
        (
            "0 9-17 * * SAT-MON",
            "At minute 0 in the hours of 09:00 to 17:00 on Monday, Saturday and Sunday",
        ),
        ("5,35 */2 * * *", "At minutes 5 and 35 of every second hour"),
        ("0 */5 * * 1-5", "At 00:00, 05:00, 10:00, 15:00 and 20:00 on Monday to Friday"),
        ("0 12 1 1,4,7,10 *", "At 12:00 on day 1 of the month in January, April, July and October"),
        ("0 0 * 6-8 *", "At 00:00 every day in June to August"),
        (
            "0 0 L,15W * *",
            "At 00:00 on the last day and the workday nearest to day 15 of the month",
        ),
        (
            "0 0 L-1,L-3,LW * *",
            "At 00:00 on the day before the last day, 3 days before the "
            "last day and the last workday of the month",
        ),
        ("0 0 13 * FRI", "At 00:00 on day 13 of the month, or on Friday"),
        ("0 0 */15 * FRI", "At 00:00 on days 1, 16 and 31 of the month where it is also Friday"),
        ("0 0 1-31 * MON", "At 00:00 every day"),
        (
            "0 0 * * MON#2,5L",
            "At 00:00 on the second Monday of the month and the last Friday of the month",
        ),
        ("H 3 * * *", "At 03:08 every day"),
        ("every 90m", "Every 90 minutes of elapsed time"),
        ("every 1d", "Every day of elapsed time"),
        (
            "every 6h from 2026-01-01T00:30",
            "Every 6 hours of elapsed time, in step with 2026-01-01 at 00:30",
        ),
        ("at 2026-12-24T18:00:05", "Once, on 2026-12-24 at 18:00:05"),
        (["@daily", "0 12 * * SAT"], "At 00:00 every day; and at 12:00 on Saturday"),
    ],
    ids=str,
)
def test_description_in_a_still_zone_says_times_and_days(expression: Any, expected: str) -> None:
    recurrence = compile_recurrence(expression, "Asia/Tokyo", identity=("acme", "report"))
    assert recurrence.describe() == expected + ", in Asia/Tokyo."


@pytest.mark.parametrize(
    ("expression", "rules", "expected"),
    [
        ("0 9 * * *", {}, ""),
        ("*/5 * * * *", {}, ""),
        ("every 1h", {}, ""),
        ("30 1 * * *", {}, GAP + FIRST),
        ("30 1 * * MON", {}, ""),
        ("30 1 * 3 *", {}, GAP),
        ("30 1 * 10 *", {}, FIRST),
        (
            "30 1 * * *",
            {"gap": "skip", "fold": "last"},
            "; a time that the clock skips is left out; a time that the clock repeats counts in "
            "its last pass only",
        ),
        (
            "at 2026-10-25T01:30",
            {"fold": "both"},
            "; a time that the clock repeats counts in both passes",
        ),
        (["0 9 * * *", "at 2026-03-29T01:30"], {}, GAP),
    ],
    ids=str,
)
def test_description_names_a_rule_only_where_it_matters(
    expression: Any, rules: dict[str, Any], expected: str
) -> None:
    sentence = compile_recurrence(expression, "Europe/London", **rules).describe()
    assert sentence.partition(", in Europe/London")[2] == expected + "."


def test_description_ends_with_window_and_exclusions() -> None:
    starts_at = datetime(2026, 1, 1, tzinfo=UTC)
    christmas = [date(2026, 12, 25), date(2026, 12, 24)]
    recurrence = compile_recurrence(
        "@hourly",
        "UTC",
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=365),
        exclusions=christmas,
    )
    assert recurrence.describe() == (
        "At minute 0 of every hour, in UTC; from 2026-01-01T00:00:00Z on; "
        "until 2027-01-01T00:00:00Z, that instant included; not on 2026-12-24 and 2026-12-25."
    )
    many = [date(2026, 5, day) for day in range(1, 11)]
    sentence = compile_recurrence("@daily", "UTC", exclusions=many).describe()
    assert sentence.endswith("not on 10 excluded dates from 2026-05-01 to 2026-05-10.")
