"""Instants: integers of microseconds since the epoch inside, aware UTC datetimes at the edges."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
SECOND_US: Final = 1_000_000


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
    """The instant of an RFC 3339 text; without an offset it is a ValueError."""
    return to_us(datetime.fromisoformat(text.strip().replace("Z", "+00:00")))
