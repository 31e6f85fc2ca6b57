"""Instants as people read and write them: local times of a zone of the pinned data, and spans."""

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from scheduling.instants import EPOCH, SECOND_US, from_us, is_in_years, to_text, to_us
from scheduling.limits import ECHO_CHARS_MAX, YEAR_MAX, YEAR_MIN
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import wall_clock
from scheduling.zones import load_zone

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_AGO: Final = re.compile(r"(\d{1,9})(ms|s|m|h|d)( ago)?")
_AGO_UNITS_US: Final = {
    "ms": 1_000,
    "s": SECOND_US,
    "m": 60 * SECOND_US,
    "h": 3_600 * SECOND_US,
    "d": 86_400 * SECOND_US,
}
_HOW_TO_WRITE: Final = (
    "write an instant as 2026-12-24T17:00:00Z or a local time as 2026-12-24T18:00"
)


class Reading(NamedTuple):
    """The instants of what a person wrote: two where a local time comes twice.

    skipped:  the local time never comes; the instant is the first after the gap
    """

    instants_us: tuple[int, ...]
    skipped: bool = False


def offset_s(zone: str, instant_us: int) -> int:
    """Seconds east of Greenwich at an instant; outside the tables, the nearest known."""
    starts, offsets = load_zone(zone)
    at = bisect_right(starts, instant_us // SECOND_US) - 1
    return offsets[min(max(at, 0), len(offsets) - 1)]


def wall_time(zone: str, instant_us: int) -> datetime:
    """What a clock on a wall there shows, as a naive datetime."""
    return from_us(instant_us + offset_s(zone, instant_us) * SECOND_US).replace(tzinfo=None)


def local_text(zone: str, instant_us: int, *, weekday: bool = False) -> str:
    """`2026-12-24 18:00:00 +01:00`, with milliseconds only where there are any; `Z` in UTC."""
    wall = wall_text(zone, instant_us, weekday=weekday)
    return f"{wall}Z" if zone == "UTC" else f"{wall} {offset_text(zone, instant_us)}"


def wall_text(zone: str, instant_us: int, *, weekday: bool = False) -> str:
    """`2026-12-24 18:00:00`."""
    wall = wall_time(zone, instant_us)
    day = f"{wall:%a} " if weekday else ""
    return f"{day}{wall.date()} {_time_text(wall)}"


def offset_text(zone: str, instant_us: int) -> str:
    """`+01:00`; seconds only where a zone's old offset has them."""
    offset = offset_s(zone, instant_us)
    hours, rest = divmod(abs(offset), 3_600)
    minutes, seconds = divmod(rest, 60)
    text = f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"
    return f"{text}:{seconds:02}" if seconds else text


def utc_text(instant_us: int, *, beside: str | None = None) -> str:
    """`2026-12-24 17:00:00Z`; only the time where a local time of that date stands beside it."""
    moment = from_us(instant_us)
    time = f"{_time_text(moment)}Z"
    return (
        time if beside is not None and str(moment.date()) in beside else f"{moment.date()} {time}"
    )


def span_text(duration_us: int) -> str:
    """`12 ms`, `1.5 s`, `3 m 05 s`, `2 h 10 m`, `4 d 03 h`: two units at most."""
    size_us = abs(duration_us)
    sign = "-" if duration_us < 0 else ""
    if size_us < SECOND_US:
        return f"{sign}{size_us // 1_000} ms"
    if size_us < 60 * SECOND_US:
        whole, tenths = divmod(size_us // 100_000, 10)
        return f"{sign}{whole}.{tenths}".removesuffix(".0") + " s"
    seconds = size_us // SECOND_US
    for unit_s, unit, below_s, below in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if seconds >= unit_s:
            rest = seconds % unit_s // below_s
            return f"{sign}{seconds // unit_s} {unit}" + (f" {rest:02} {below}" if rest else "")
    raise AssertionError("a span of a minute and more has minutes")


def read_instant(text: str, zone: str, *, field: str) -> Reading:
    """An RFC 3339 text, or a local time of the zone. ValueError names `field` and what to write."""
    problem = f"{field}: {text[:ECHO_CHARS_MAX]!r}: {_HOW_TO_WRITE}"
    written = text.strip()
    if _DATE.fullmatch(written) or not _DATE.match(written):
        raise ValueError(problem)
    try:
        moment = datetime.fromisoformat(written.upper().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(problem) from None
    if YEAR_MIN <= moment.year <= YEAR_MAX:
        reading = Reading((to_us(moment),)) if moment.tzinfo else _read_wall(moment, zone)
        if reading.instants_us and all(map(is_in_years, reading.instants_us)):
            return reading
    raise ValueError(f"{field}: {written[:4]}: the year is outside {YEAR_MIN} to {YEAR_MAX}")


def read_bound(text: str, zone: str, *, field: str, now_us: int, is_end: bool = False) -> int:
    """A bound of a window: as `read_instant`, or a date, `now`, or how long ago, as in `2h`.

    A date as the end means the whole day; a repeated local time takes the wider window.
    """
    written = text.strip()
    ago = _AGO.fullmatch(written)
    if written == "now":
        return now_us
    if ago:
        found_us = now_us - int(ago[1]) * _AGO_UNITS_US[ago[2]]
        if is_in_years(found_us):
            return found_us
        raise ValueError(f"{field}: {written}: that was before the year {YEAR_MIN}")
    if _DATE.fullmatch(written):
        try:
            day = datetime.fromisoformat(written)
        except ValueError:
            raise ValueError(f"{field}: {written!r}: this date is in no calendar") from None
        if not YEAR_MIN <= day.year < YEAR_MAX:
            raise ValueError(
                f"{field}: {written}: the year is outside {YEAR_MIN} to {YEAR_MAX - 1}"
            )
        midnight = f"{day + timedelta(days=1) if is_end else day:%Y-%m-%dT%H:%M}"
        return read_instant(midnight, zone, field=field).instants_us[0] - is_end
    instants = read_instant(written, zone, field=field).instants_us
    return instants[-1] if is_end else instants[0]


def instant_json(instant_us: int | None) -> str | None:
    """RFC 3339 in UTC, as JSON has it; None stays None."""
    return None if instant_us is None else to_text(instant_us)


def _read_wall(wall: datetime, zone: str) -> Reading:
    since_epoch = wall.replace(tzinfo=UTC) - EPOCH
    second = since_epoch // timedelta(seconds=1)
    rest_us = since_epoch.microseconds
    found = wall_clock(zone, GapRule.SKIP, FoldRule.BOTH).instants_of(second)
    if found:
        return Reading(tuple(each * SECOND_US + rest_us for each in found))
    shifted = wall_clock(zone, GapRule.SHIFT_FORWARD, FoldRule.BOTH).instants_of(second)
    return Reading(tuple(each * SECOND_US for each in shifted), skipped=True)


def _time_text(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}" + (
        f".{moment.microsecond // 1_000:03}" if moment.microsecond >= 1_000 else ""
    )
