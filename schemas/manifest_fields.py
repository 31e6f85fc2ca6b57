"""The field types of a manifest: each turns what a person wrote into the stored form, or says why.

Every message names the remedy; none repeats a payload.
"""

import json
import re
from datetime import date
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from scheduling.calendars import calendar_dates
from scheduling.durations import UNITS_S
from scheduling.errors import InvalidRecurrence
from scheduling.instants import from_text, is_in_years
from scheduling.limits import (
    CALENDAR_RULES_MAX,
    CALENDARS_PER_TRIGGER_MAX,
    EXCLUSION_DATES_MAX,
    NAME_CHARS_MAX,
    PAYLOAD_BYTES_MAX,
    UNION_MEMBERS_MAX,
    YEAR_MAX,
    YEAR_MIN,
)

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_DURATION: Final = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?")
_RULE_PLACE: Final = re.compile(r"rules\[(\d+)\]\.(.*)")
NAME_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "maxLength": NAME_CHARS_MAX,
    "pattern": "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$",
}
YEARS_TEXT: Final = f"the year must lie from {YEAR_MIN} to {YEAR_MAX}"
_FAR_YEAR: Final = re.compile(r"(0001|9999)-")


def refusal(message: str) -> PydanticCustomError:
    """A validation error whose text is shown as it is; braces would be read as a template."""
    return PydanticCustomError("refused", "{message}", {"message": message})


def instant_us(text: str, *, remedy: str) -> int:
    """The instant of an RFC 3339 text, in the years that are known; the refusal of all others."""
    try:
        found_us = from_text(text) if "T" in text else None
    except ValueError:
        found_us = None
    if found_us is None:
        # Where the offset alone leads out of the calendar, the year is what is wrong.
        raise refusal(YEARS_TEXT if _FAR_YEAR.match(text) else remedy)
    if not is_in_years(found_us):
        raise refusal(YEARS_TEXT)
    return found_us


def name_problem(text: str) -> str | None:
    """Why this is no name of a tenant, target or trigger; None where it is one."""
    if len(text) > NAME_CHARS_MAX:
        return f"a name has at most {NAME_CHARS_MAX} characters"
    if _NAME.fullmatch(text):
        return None
    return (
        "a name is lower-case letters, digits, `.`, `_` and `-`, "
        "and starts and ends with a letter or digit"
    )


def duration_s(value: object) -> int:
    """Seconds of `90s`, `15m`, `6h`, `2d` or `1h30m`; a number without a unit is refused."""
    if isinstance(value, str):
        match = _DURATION.fullmatch(value)
        if match and any(match.groups()):
            pairs = zip(match.groups(), UNITS_S, strict=True)
            return sum(int(count) * unit_s for count, unit_s in pairs if count)
    raise refusal("write a duration with its unit, as in 90s, 15m, 6h, 2d or 1h30m")


def union_members(value: object) -> tuple[str, ...]:
    """The expressions of a schedule: a text, or a list of texts of which any may fire."""
    members = value if isinstance(value, list) else [value]
    if not members or not all(isinstance(member, str) and member.strip() for member in members):
        raise refusal(
            'write an expression in quotes, as in "0 9 * * MON-FRI", or a list of expressions'
        )
    if len(members) > UNION_MEMBERS_MAX:
        raise refusal(f"a union has at most {UNION_MEMBERS_MAX} expressions")
    return tuple(members)


def payload_json(value: object) -> str:
    """Canonical JSON of any JSON value: keys sorted, so that their order is no change."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        size_bytes = len(text.encode())
    except (TypeError, ValueError):
        raise refusal("a payload is JSON: text, numbers, true, false, null, lists, maps") from None
    if size_bytes > PAYLOAD_BYTES_MAX:
        raise refusal(
            f"the payload is {size_bytes:,} bytes as JSON and the limit is "
            f"{PAYLOAD_BYTES_MAX:,}: send a reference to the data instead"
        )
    return text


def exclusion_dates(value: object) -> tuple[date, ...]:
    """Dates of the trigger's zone on which it is not due, sorted and each once."""
    items = value if isinstance(value, list) else [value]
    if len(items) > EXCLUSION_DATES_MAX:
        raise refusal(f"at most {EXCLUSION_DATES_MAX:,} dates can be excluded")
    return tuple(sorted({_date(item) for item in items}))


def calendar_rules(value: object) -> tuple[str, ...]:
    """RFC 5545 texts, each expanded once so that a bad one is told here."""
    items = _texts(value)
    if items is None:
        raise refusal('write a text, as in "DTSTART:20261225 RRULE:FREQ=YEARLY", or a list of them')
    try:
        calendar_dates(items)
    except InvalidRecurrence as error:
        raise refusal(_of_one_text(error)) from None
    return tuple(items)


def _of_one_text(error: InvalidRecurrence) -> str:
    """`rules[1].FREQ: ...` as people count and read it, beside the key `rules`."""
    found = _RULE_PLACE.match(str(error))
    if found is None:
        return str(error).removeprefix("rules: ")
    return f"text {int(found[1]) + 1}: {found[2]}"


def calendar_names(value: object) -> tuple[str, ...]:
    """Names of exclusion calendars, sorted and each once."""
    items = _texts(value)
    if items is None:
        raise refusal("write the names of calendars, as in [holidays]")
    for problem in filter(None, map(name_problem, items)):
        raise refusal(problem)
    names = tuple(sorted(set(items)))
    if len(names) > CALENDARS_PER_TRIGGER_MAX:
        raise refusal(f"at most {CALENDARS_PER_TRIGGER_MAX} calendars: join some of them")
    return names


def _texts(value: object) -> list[str] | None:
    """One text or a list of texts as a list; None for anything else."""
    items = value if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else None


def _date(item: object) -> date:
    if isinstance(item, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", item):
        try:
            return date.fromisoformat(item)
        except ValueError:
            raise refusal("this date is in no calendar") from None
    raise refusal("write dates as 2026-12-24")


def one_or_many(item: dict[str, Any], **bounds: int) -> dict[str, Any]:
    """The JSON schema of a value, or of a list of such values."""
    return {"anyOf": [item, {"type": "array", "items": item, **bounds}]}


# The schemas are those of what people write; the types are those of what is stored.
_TEXT: Final[dict[str, Any]] = {"type": "string", "minLength": 1}
Duration = Annotated[
    int,
    BeforeValidator(duration_s),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(?=.)([0-9]{1,4}d)?([0-9]{1,6}h)?([0-9]{1,8}m)?([0-9]{1,9}s)?$",
            "description": "a duration with its unit, as 90s, 15m, 6h, 2d or 1h30m",
        }
    ),
]
Schedule = Annotated[
    tuple[str, ...],
    BeforeValidator(union_members),
    WithJsonSchema(one_or_many(_TEXT, minItems=1, maxItems=UNION_MEMBERS_MAX)),
]
Payload = Annotated[
    str, BeforeValidator(payload_json), WithJsonSchema({"description": "any JSON value"})
]
ExcludedDates = Annotated[
    tuple[date, ...],
    BeforeValidator(exclusion_dates),
    WithJsonSchema(one_or_many({"type": "string", "format": "date"}, maxItems=EXCLUSION_DATES_MAX)),
]
CalendarRules = Annotated[
    tuple[str, ...],
    BeforeValidator(calendar_rules),
    WithJsonSchema(one_or_many(_TEXT, maxItems=CALENDAR_RULES_MAX)),
]
CalendarNames = Annotated[
    tuple[str, ...],
    BeforeValidator(calendar_names),
    WithJsonSchema(one_or_many(NAME_SCHEMA)),
]
