"""What a seed's world is made of: odd nights, recurrences that meet them, policies and targets."""

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from scheduling.instants import SECOND_US, from_text, from_us
from scheduling.vocabulary import (
    FireState,
    FoldRule,
    GapRule,
    MissedPolicy,
    OverlapPolicy,
)
from schemas.manifest import TriggerSpec
from tests.support.definitions import TARGET
from tests.support.scripted_target import (
    ACCEPTED,
    BUSY,
    REFUSED,
    SILENT,
    UNREACHABLE,
    UNTRIED,
    Answer,
)


class Night(NamedTuple):
    """Where and when a world begins; the clock on its wall is about to jump."""

    zone: str
    start_us: int
    at: str  # a wall time of that night


NIGHTS: Final = (
    # 03:00 CEST -> 02:00 CET at 01:00Z
    Night("Europe/Zurich", from_text("2025-10-26T00:20:10Z"), "at 2025-10-26T02:45"),
    # 02:00 EST -> 03:00 EDT at 07:00Z
    Night("America/New_York", from_text("2025-03-09T06:30:20Z"), "at 2025-03-09T02:30"),
    # 02:00 +11 -> 01:30 +10:30 at 15:00Z
    Night("Australia/Lord_Howe", from_text("2026-04-04T14:35:00Z"), "at 2026-04-05T01:50"),
    # 00:00 EET -> 01:00 EEST at 22:00Z
    Night("Africa/Cairo", from_text("2024-04-25T21:40:30Z"), "at 2024-04-26T00:30"),
)
WINDOW_US: Final = 12 * 3_600 * SECOND_US  # no world lasts longer
EXPRESSIONS: Final = (
    ("* * * * *",),
    ("*/2 * * * *",),
    ("*/5 * * * *",),
    ("0-59/7 0-23 * * *",),  # wall class: an odd night moves it
    ("15,45 0-6 * * *",),
    ("*/15 * * * * *",),
    ("*/10 * * * * *",),
    ("every 90s",),
)


def a_random_body(random: Random, night: Night, *, calendars: Sequence[str] = ()) -> dict[str, Any]:
    """Any mix of what a trigger's body can say, in sizes that a night can hold.

    `calendars` are those that it may name.
    """
    recurrence: tuple[str, ...] = random.choice(EXPRESSIONS)
    if random.random() < 0.15:
        recurrence = (recurrence[0], night.at)
    return {
        "schedule": list(recurrence),
        "zone": random.choice((night.zone, night.zone, "UTC")),
        "target": TARGET,
        "gap": random.choice(tuple(GapRule)),
        "fold": random.choice(tuple(FoldRule)),
        "payload": random.choice((None, {"n": 1})),
        "max_fires": random.choice((None, None, None, 3, 20, 150)),
        "smear_s": random.choice((0, 0, 0, 2, 40)),
        "missed": random.choice(tuple(MissedPolicy)),
        "overlap": random.choice((OverlapPolicy.ALLOW, *OverlapPolicy)),
        "horizon": random.choice(("60s", "1h", "3h", "3h")),
        "retry": {
            "attempts": random.choice((1, 2, 3, 5)),
            "window": random.choice(("20s", "2m", "15m")),
        },
        "run_timeout": random.choice(("30s", "90s", "10m")),
        "response_is_outcome": random.random() < 0.2,
        "calendars": [each for each in calendars if random.random() < 0.5],
        "exclude": [_a_date(random, night)] if random.random() < 0.05 else [],
    }


def a_random_calendar(random: Random, night: Night) -> dict[str, Any]:
    """Some dates, by themselves or by a rule; mostly others than those of the night."""
    kind = random.random()
    if kind < 0.3:
        start = _a_date(random, night).replace("-", "")
        return {"rules": [f"DTSTART:{start} RRULE:FREQ=YEARLY"], "dates": ["2031-05-01"]}
    return {"dates": [] if kind < 0.4 else [_a_date(random, night)]}


def _a_date(random: Random, night: Night) -> str:
    """The date on the night's wall at its beginning, the next one, or one far off."""
    today = from_us(night.start_us).astimezone(ZoneInfo(night.zone)).date()
    other = random.choice((today, today + timedelta(days=1), date(2031, 1, 1), date(2032, 1, 1)))
    return other.isoformat()


def spec_of(body: dict[str, Any]) -> TriggerSpec:
    """The body as the API reads it."""
    return TriggerSpec.model_validate(body)


def a_random_answer(random: Random, mood: str) -> Answer:
    """How a target in that mood takes one attempt."""
    if mood == "calm":
        return ACCEPTED
    if random.random() < 0.04:
        return UNTRIED
    if random.random() < (0.2 if mood == "good" else 0.7):
        kinds = (BUSY, BUSY, UNREACHABLE, SILENT, REFUSED, Answer(None, lasts_us=None))
        answer = random.choice((*kinds, Answer(None, lasts_us=20 * SECOND_US)))
        if answer is BUSY and random.random() < 0.3:
            return answer._replace(retry_after_us=random.randrange(60) * SECOND_US)
        return answer
    lasts_us: int | None = random.choice((0, 1, 3, 20, 70, 150)) * SECOND_US
    if random.random() < 0.1:
        lasts_us = None
    return Answer(
        status=random.choice((200, 202, 204)),
        after_us=random.choice((0, 0, 50_000, 2 * SECOND_US, 12 * SECOND_US)),
        lasts_us=lasts_us,
        outcome=random.choice((FireState.SUCCEEDED, FireState.SUCCEEDED, FireState.FAILED)),
    )
