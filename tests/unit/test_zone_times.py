"""Times as people write and read them, by the pinned zone data."""

from collections.abc import Callable

import pytest

from control_api.answers.zone_times import (
    Reading,
    local_text,
    offset_text,
    read_bound,
    read_instant,
    span_text,
    utc_text,
    wall_text,
)
from scheduling.instants import from_text

BERLIN = "Europe/Berlin"  # 2026-10-25 03:00 -> 02:00 at 01:00Z; 2027-03-28 02:00 -> 03:00 at 01:00Z
NOW_US = from_text("2026-06-01T12:00:00Z")


def us(*texts: str) -> tuple[int, ...]:
    return tuple(map(from_text, texts))


@pytest.mark.parametrize(
    ("zone", "instant", "text"),
    [
        (BERLIN, "2026-06-01T07:00:00Z", "2026-06-01 09:00:00 +02:00"),
        (BERLIN, "2026-12-01T07:00:00.250Z", "2026-12-01 08:00:00.250 +01:00"),
        ("UTC", "2026-06-01T07:00:00Z", "2026-06-01 07:00:00Z"),
        ("America/St_Johns", "2026-01-01T00:00:00Z", "2025-12-31 20:30:00 -03:30"),
        ("Europe/Amsterdam", "1930-01-01T00:00:00Z", "1930-01-01 00:00:00 +00:00"),
        ("Africa/Monrovia", "1960-01-01T00:00:00Z", "1959-12-31 23:15:30 -00:44:30"),
    ],
)
def test_local_text_shows_the_offset_of_that_instant(zone: str, instant: str, text: str) -> None:
    assert local_text(zone, from_text(instant)) == text


def test_wall_text_names_the_local_weekday() -> None:
    instant_us = from_text("2026-06-01T22:30:00Z")
    assert wall_text(BERLIN, instant_us, weekday=True) == "Tue 2026-06-02 00:30:00"


@pytest.mark.parametrize("instant", ["1850-01-01T00:00:00Z", "2900-01-01T00:00:00Z"])
def test_offset_outside_the_tables_is_the_nearest_known(instant: str) -> None:
    assert offset_text("UTC", from_text(instant)) == "+00:00"


@pytest.mark.parametrize(
    ("beside", "text"),
    [
        (None, "2026-06-01 07:00:00Z"),
        ("2026-06-01 09:00:00", "07:00:00Z"),
        ("2026-06-02 00:30:00", "2026-06-01 07:00:00Z"),
    ],
)
def test_utc_text_leaves_out_a_date_that_stands_beside_it(beside: str | None, text: str) -> None:
    assert utc_text(from_text("2026-06-01T07:00:00Z"), beside=beside) == text


@pytest.mark.parametrize(
    ("duration_us", "text"),
    [
        (0, "0 ms"),
        (999_999, "999 ms"),
        (-12_000, "-12 ms"),
        (1_500_000, "1.5 s"),
        (30_000_000, "30 s"),
        (59_960_000, "59.9 s"),
        (60_000_000, "1 m"),
        (185_000_000, "3 m 05 s"),
        (7_800_000_000, "2 h 10 m"),
        (356_400_000_000, "4 d 03 h"),
    ],
)
def test_span_text_has_two_units_at_most(duration_us: int, text: str) -> None:
    assert span_text(duration_us) == text


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("2026-06-01T07:00:00Z", Reading(us("2026-06-01T07:00:00Z"))),
        ("2026-06-01T07:00:00.5z", Reading(us("2026-06-01T07:00:00.500Z"))),
        ("2026-06-01T09:00:00+05:00", Reading(us("2026-06-01T04:00:00Z"))),
        ("2026-06-01T09:00", Reading(us("2026-06-01T07:00:00Z"))),
        ("2026-06-01 09:00:30", Reading(us("2026-06-01T07:00:30Z"))),
        ("2026-10-25T02:30", Reading(us("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"))),
        ("2027-03-28T02:30", Reading(us("2027-03-28T01:00:00Z"), skipped=True)),
    ],
    ids=["utc", "lower-case", "offset", "local", "local-with-a-space", "twice", "never"],
)
def test_read_instant_takes_instants_and_local_times(text: str, reading: Reading) -> None:
    assert read_instant(text, BERLIN, field="instant") == reading


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("noon", "instant: 'noon': write an instant as 2026-12-24T17:00:00Z or a local time"),
        ("2026-06-01", "instant: '2026-06-01': write an instant as"),
        ("2026-06-01T25:00", "instant: '2026-06-01T25:00': write an instant as"),
        ("20260601T090000Z", "instant: '20260601T090000Z': write an instant as"),
        ("1066-10-14T09:00", "instant: 1066: the year is outside 1900 to 2499"),
        ("", "instant: '': write an instant as"),
        ("x" * 999, f"instant: '{'x' * 40}': write an instant as"),
    ],
)
def test_read_instant_refuses_with_field_and_remedy(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="instant: ") as refused:
        read_instant(text, BERLIN, field="instant")
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "is_end", "instant"),
    [
        ("now", False, "2026-06-01T12:00:00Z"),
        ("90s", False, "2026-06-01T11:58:30Z"),
        ("2h ago", True, "2026-06-01T10:00:00Z"),
        ("2026-06-01", False, "2026-05-31T22:00:00Z"),
        ("2026-06-01", True, "2026-06-01T21:59:59.999999Z"),
        ("2026-10-25T02:30", False, "2026-10-25T00:30:00Z"),
        ("2026-10-25T02:30", True, "2026-10-25T01:30:00Z"),
    ],
)
def test_read_bound_takes_the_wider_window(text: str, is_end: bool, instant: str) -> None:
    found = read_bound(text, BERLIN, field="--from", now_us=NOW_US, is_end=is_end)
    assert found == from_text(instant)


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda text: read_instant(text, "UTC", field="x"), id="instant"),
        pytest.param(lambda text: read_bound(text, "UTC", field="x", now_us=0), id="bound"),
    ],
)
@pytest.mark.parametrize("text", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"])
def test_reading_the_ends_of_the_calendar_is_refused(
    read: Callable[[str], object], text: str
) -> None:
    with pytest.raises(ValueError, match="the year is outside"):
        read(text)


@pytest.mark.parametrize("written", ["1800-01-01", "9999-12-31", "2499-12-31"])
@pytest.mark.parametrize("is_end", [False, True])
def test_date_outside_the_zone_tables_is_refused_with_the_years(written: str, is_end: bool) -> None:
    with pytest.raises(ValueError, match=r"from: .* the year is outside 1900 to 2498"):
        read_bound(written, "UTC", field="from", now_us=0, is_end=is_end)
