"""Random cron expressions around changes of the clock, from a seeded source."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_ZONES = (
    ("UTC", "2024-02-27"),
    ("Asia/Kathmandu", "2026-05-05"),
    ("Asia/Tokyo", "2026-01-01"),
    ("Europe/London", "2024-03-30"),
    ("Europe/London", "2024-10-26"),
    ("America/New_York", "2026-03-07"),
    ("America/New_York", "2026-10-31"),
    ("Australia/Lord_Howe", "2024-04-06"),
    ("Antarctica/Troll", "2024-03-30"),
    ("Africa/Cairo", "2024-04-25"),
    ("Africa/Cairo", "2024-10-31"),
)
STILL_ZONES = frozenset({"UTC", "Asia/Kathmandu", "Asia/Tokyo"})
_MONTH_DAYS = ("L", "15W", "1W", "31W", "?", "L-2", "LW", "15,L", "1,15W")
_WEEKDAYS = ("MON-FRI", "SAT-MON", "MON#2", "5L", "FRI#5", "?", "1#1,3#2", "SUN,2#3", "7-2", "0-7")
_MONTHS = ("JAN-MAR", "NOV-FEB", "FEB")


@dataclass(frozen=True)
class RandomCase:
    expression: str
    zone: str
    after: datetime


def random_expression(chance: random.Random) -> RandomCase:
    """Five fields, or six in one case of five, in one of the zones."""
    fields = [
        _field(chance, 0, 59),
        _field(chance, 0, 23),
        _field(chance, 1, 31, _MONTH_DAYS) if chance.random() < 0.4 else "*",
        _field(chance, 1, 12, _MONTHS) if chance.random() < 0.3 else "*",
        _field(chance, 0, 7, _WEEKDAYS) if chance.random() < 0.4 else "*",
    ]
    if chance.random() < 0.2:
        fields.insert(0, _field(chance, 0, 59))
    zone, day = chance.choice(_ZONES)
    after = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return RandomCase(" ".join(fields), zone, after + timedelta(minutes=chance.randint(0, 2_160)))


def _field(chance: random.Random, low: int, high: int, words: tuple[str, ...] = ()) -> str:
    kind = chance.random()
    if kind < 0.35:
        return "*"
    if kind < 0.45:
        return f"*/{chance.randint(1, high)}"
    if words and kind < 0.65:
        return chance.choice(words)
    return ",".join(_item(chance, low, high) for _ in range(chance.choice((1, 1, 1, 2, 3))))


def _item(chance: random.Random, low: int, high: int) -> str:
    kind = chance.random()
    first, last = chance.randint(low, high), chance.randint(low, high)
    step = chance.randint(1, high)
    if kind < 0.5:
        return str(first)
    if kind < 0.7:
        return f"{first}-{last}"
    return f"{first}/{step}" if kind < 0.8 else f"{first}-{last}/{step}"
