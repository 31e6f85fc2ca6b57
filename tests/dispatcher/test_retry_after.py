"""The Retry-After header (dispatcher/retry_after.py)."""

import pytest

from dispatcher.retry_after import parse_retry_after

NOW_S = 1_760_000_000.0  # Thu, 09 Oct 2025 08:53:20 GMT

ROWS = {
    "absent": (None, None),
    "empty": ("", None),
    "seconds": ("120", 120.0),
    "blanks_around": (" 7 ", 7.0),
    "zero": ("0", 0.0),
    "over_a_day": ("999999999", 86_400.0),
    "endless_digits": ("9" * 5_000, None),
    "negative": ("-5", None),
    "fraction": ("1.5", None),
    "other_digits": ("\uff11\uff12", None),
    "date": ("Thu, 09 Oct 2025 08:54:20 GMT", 60.0),
    "date_past": ("Thu, 09 Oct 2025 08:00:00 GMT", 0.0),
    "date_far": ("Thu, 09 Oct 2035 08:54:20 GMT", 86_400.0),
    "date_without_zone": ("Thu, 09 Oct 2025 08:54:20 -0000", 60.0),
    "date_asctime": ("Thu Oct  9 08:54:20 2025", 60.0),
    "date_impossible": ("Thu, 99 Oct 2025 08:54:20 GMT", None),
    "date_year_zero": ("Mon, 01 Jan 0001 00:00:00 GMT", 0.0),
    "words": ("soon", None),
}


@pytest.mark.parametrize(("text", "wait_s"), ROWS.values(), ids=ROWS)
def test_retry_after_text_gives_bounded_seconds(text: str | None, wait_s: float | None) -> None:
    assert parse_retry_after(text, NOW_S) == wait_s
