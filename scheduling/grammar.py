"""The text of one expression becomes one of three forms: cron, `every` or `at`."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from scheduling.errors import InvalidRecurrence
from scheduling.fields import FIELDS
from scheduling.hashed import resolve_hashed
from scheduling.limits import EXPRESSION_CHARS_MAX, YEAR_MAX, YEAR_MIN
from scheduling.months import day_number

NICKNAMES: Final = {
    "yearly": "0 0 1 1 *",
    "annually": "0 0 1 1 *",
    "monthly": "0 0 1 * *",
    "weekly": "0 0 * * 0",
    "daily": "0 0 * * *",
    "midnight": "0 0 * * *",
    "hourly": "0 * * * *",
}
UNIT_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class CronForm:
    """The six field texts, seconds first, with every `H` written out."""

    second: str
    minute: str
    hour: str
    day_of_month: str
    month: str
    day_of_week: str

    @property
    def is_interval(self) -> bool:
        """Whether it follows elapsed time: its minute or hour field starts with `*`."""
        return self.minute[0] == "*" or self.hour[0] == "*"


@dataclass(frozen=True, slots=True)
class EveryForm:
    """`period_s` seconds of elapsed time; `from_wall` is the anchor's wall second, if given."""

    period_s: int
    from_wall: int | None


@dataclass(frozen=True, slots=True)
class AtForm:
    """One wall second."""

    wall: int


Form = CronForm | EveryForm | AtForm

_ALLOWED = re.compile(r"[ -~\t]*")
_LOCAL = r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)"
_EVERY = re.compile(
    rf"every[ \t]+([0-9]{{1,4}})([smhdw])(?:[ \t]+from[ \t]+{_LOCAL})?", re.IGNORECASE
)
_AT = re.compile(rf"at[ \t]+{_LOCAL}", re.IGNORECASE)


def read_expression(text: object, identity: tuple[str, str] | None) -> Form:
    """The form of one expression; InvalidRecurrence names the field that is wrong."""
    if not isinstance(text, str):
        raise InvalidRecurrence("expression", type(text).__name__, "must be text")
    if len(text) > EXPRESSION_CHARS_MAX:
        reason = f"has {len(text)} characters, and {EXPRESSION_CHARS_MAX} are allowed"
        raise InvalidRecurrence("expression", text[:EXPRESSION_CHARS_MAX], reason)
    if _ALLOWED.fullmatch(text) is None:
        _refuse_characters(text)
    parts = text.split()
    if len(parts) == 5:
        return _cron(["0", *parts], identity)
    if not parts:
        raise InvalidRecurrence("expression", "", "is empty; write five cron fields, or @daily")
    if parts[0][0] == "@":
        return _nickname(text, parts)
    word = parts[0].lower()
    if word == "every":
        return _every(text.strip(" \t"))
    if word == "at":
        return _at(text.strip(" \t"))
    if len(parts) == 6:
        return _cron(parts, identity)
    reason = (
        f"has {len(parts)} fields; write five cron fields, six with seconds first, a nickname "
        "such as @daily, `every 15m`, or `at 2026-12-24T18:00`"
    )
    raise InvalidRecurrence("expression", text, reason)


def _cron(parts: list[str], identity: tuple[str, str] | None) -> CronForm:
    for at, text in enumerate(parts):
        if "H" in text or "h" in text:
            parts[at] = resolve_hashed(FIELDS[at].name, text, identity)
    return CronForm(*parts)


_EVERY_REMEDY: Final = (
    "write `every 15m` (units s, m, h, d, w; at most four digits), with `from 2026-01-01T00:30` "
    "after it to give the phase"
)


def _every(text: str) -> EveryForm:
    match = _EVERY.fullmatch(text)
    if match is None:
        raise InvalidRecurrence("expression", text, _EVERY_REMEDY)
    period_s = int(match[1]) * UNIT_S[match[2].lower()]
    if period_s == 0:
        raise InvalidRecurrence("expression", text, "an interval is at least 1s")
    return EveryForm(period_s, None if match[3] is None else _wall(match[3]))


def _at(text: str) -> AtForm:
    match = _AT.fullmatch(text)
    if match is None:
        reason = "write `at 2026-12-24T18:00`, a local date and time without an offset"
        raise InvalidRecurrence("expression", text, reason)
    return AtForm(_wall(match[1]))


def _wall(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        raise InvalidRecurrence("expression", text, "there is no such date or time") from None
    if not YEAR_MIN <= moment.year <= YEAR_MAX:
        reason = f"the year must lie from {YEAR_MIN} to {YEAR_MAX}"
        raise InvalidRecurrence("expression", text, reason)
    midnight = day_number(moment.date()) * 86_400
    return midnight + moment.hour * 3_600 + moment.minute * 60 + moment.second


def _nickname(text: str, parts: list[str]) -> CronForm:
    fields = NICKNAMES.get(parts[0][1:].lower())
    if len(parts) > 1 or fields is None:
        reason = "use one of " + ", ".join("@" + name for name in NICKNAMES)
        raise InvalidRecurrence("expression", text, reason)
    return CronForm("0", *fields.split())


def _refuse_characters(text: str) -> None:
    """Name the field where the text has as many as cron, else the whole expression."""
    reason = "only printable ASCII is allowed, with blanks or tabs between the fields"
    parts = re.split(r"[ \t]+", text.strip(" \t"))
    names = [field.name for field in FIELDS][-len(parts) :] if len(parts) in (5, 6) else []
    for name, part in zip(names, parts, strict=False):
        if _ALLOWED.fullmatch(part) is None:
            raise InvalidRecurrence(name, part, reason)
    raise InvalidRecurrence("expression", text, reason)
