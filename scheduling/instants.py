"""Instants: integers of microseconds since the epoch inside, aware UTC datetimes at the edges."""

from datetime import UTC, datetime, timedelta
from typing import Final

from scheduling.limits import YEAR_MAX, YEAR_MIN

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
SECOND_US: Final = 1_000_000
_WRITABLE_US: Final = tuple(
    (end.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 -- they get their zone here
)
_KNOWN_US: Final = tuple(
    (datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND for year in (YEAR_MIN, YEAR_MAX + 1)
)


def to_us(instant: datetime) -> int:
    """Microseconds since the epoch of an aware datetime; a naive one is a ValueError."""
    if instant.tzinfo is None:
        raise ValueError("instant: a naive datetime has no place on the time line; add tzinfo")
    return (instant - EPOCH) // _MICROSECOND


def from_us(instant_us: int) -> datetime:
    """The aware UTC datetime of an instant in microseconds."""
    return EPOCH + timedelta(microseconds=instant_us)


def to_text(instant_us: int) -> str:
    """RFC 3339 in UTC, with microseconds only where there are any."""
    text = from_us(instant_us).isoformat()
    return text.replace("+00:00", "Z")


def from_text(text: str) -> int:
    """The instant of an RFC 3339 text; ValueError without an offset, or where UTC has no date."""
    instant_us = to_us(datetime.fromisoformat(text.strip().replace("Z", "+00:00")))
    if not _WRITABLE_US[0] <= instant_us <= _WRITABLE_US[1]:
        raise ValueError("instant: in UTC it lies outside of the years 1 to 9999")
    return instant_us


def is_in_years(instant_us: int) -> bool:
    """Whether it lies in the years that the zone tables and the searches know."""
    return _KNOWN_US[0] <= instant_us < _KNOWN_US[1]
