"""RFC 5545 text of dates: lines of DTSTART, RRULE and EXDATE, read strictly.

Of whole dates only, so DAILY or coarser and without times of day. What RFC 5545 forbids is
refused here, and so is what its readers understand differently.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, NamedTuple, get_args

from scheduling.errors import InvalidRecurrence
from scheduling.limits import CALENDAR_RULE_CHARS_MAX, CALENDAR_YEAR_MAX, YEAR_MIN

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]

WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FOLDED: Final = re.compile(r"\r?\n[ \t]")  # RFC 5545 section 3.1
_DATE: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,4}")
_DAY: Final = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
# The largest number of each list; all but months also count from the end, as -1.
_LISTS: Final = {
    "BYMONTH": 12,
    "BYMONTHDAY": 31,
    "BYYEARDAY": 366,
    "BYWEEKNO": 53,
    "BYSETPOS": 366,
}
_INTERVAL_MAX: Final = 9_999
_COUNT_MAX: Final = 9_999
_ALLOWED_UNDER: Final[dict[str, tuple[Frequency, ...]]] = {
    "BYMONTHDAY": ("YEARLY", "MONTHLY", "DAILY"),
    "BYYEARDAY": ("YEARLY",),
    "BYWEEKNO": ("YEARLY",),
    "BYSETPOS": ("YEARLY", "MONTHLY", "WEEKLY"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One RRULE. The numbers of each list are sorted, each once; weekday 0 is Monday.

    by_day:  (n, weekday): the n-th of the month or year, from its end where n is negative, every
             one where it is 0
    """

    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: date | None = None
    week_start: int = 0
    by_day: tuple[tuple[int, int], ...] = ()
    by_month: tuple[int, ...] = ()
    by_month_day: tuple[int, ...] = ()
    by_year_day: tuple[int, ...] = ()
    by_week: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()

    @property
    def is_filtered(self) -> bool:
        """Whether a day, week or month may give nothing, so that dates have to be searched for."""
        if self.frequency in ("YEARLY", "MONTHLY") or self.by_month or self.positions:
            return True
        return self.frequency == "DAILY" and bool(self.by_day or self.by_month_day)


class RuleText(NamedTuple):
    """`rule` and its `start` go together; without them the text is a list of dates."""

    start: date | None
    rule: Rule | None
    exdates: tuple[date, ...]


def parse_rule_text(text: str) -> RuleText:
    """Read one text; InvalidRecurrence names the property or the part of the rule."""
    start: date | None = None
    rule: Rule | None = None
    exdates: list[date] = []
    for line in _lines(text):
        name, parameters, value = _split(line)
        if parameters not in ("", ";VALUE=DATE"):
            reason = "its dates are local ones: no parameter but VALUE=DATE"
            raise InvalidRecurrence(name, parameters[1:], reason)
        if name == "EXDATE":
            exdates += [_date("EXDATE", item) for item in value.split(",")]
        elif name == "DTSTART" and start is None:
            start = _date("DTSTART", value)
        elif name == "RRULE" and rule is None:
            rule = _rule(value)
        else:
            raise InvalidRecurrence(name, line, "stands there twice: write two rules as two texts")
    if rule is not None and start is None:
        reason = "missing: add the date from which the rule counts, as in DTSTART:20260101"
        raise InvalidRecurrence("DTSTART", "", reason)
    if rule is None and start is not None:
        reason = "there is no RRULE beside it: add one, or write the date under `dates`"
        raise InvalidRecurrence("DTSTART", "", reason)
    if rule is not None and rule.until is not None and start is not None and rule.until < start:
        raise InvalidRecurrence("UNTIL", rule.until.isoformat(), "lies before DTSTART")
    return RuleText(start, rule, tuple(exdates))


def _lines(text: str) -> list[str]:
    if not isinstance(text, str):
        raise InvalidRecurrence("RRULE", type(text).__name__, "must be text")
    if len(text) > CALENDAR_RULE_CHARS_MAX:
        reason = f"has {len(text)} characters; at most {CALENDAR_RULE_CHARS_MAX}: divide it"
        raise InvalidRecurrence("RRULE", "", reason)
    if not text.isascii():
        raise InvalidRecurrence("RRULE", text, "use ASCII letters, digits and signs only")
    lines = _FOLDED.sub("", text).upper().split()
    if not lines:
        reason = "is empty: write a rule, as in DTSTART:20261225 RRULE:FREQ=YEARLY"
        raise InvalidRecurrence("RRULE", "", reason)
    return lines


def _split(line: str) -> tuple[str, str, str]:
    """Name, parameters with their semicolon, value; a bare rule is an RRULE."""
    if line.startswith("FREQ="):
        return "RRULE", "", line
    head, colon, value = line.partition(":")
    name, semicolon, parameters = head.partition(";")
    if name not in ("DTSTART", "RRULE", "EXDATE") or not colon:
        reason = "is no line of a calendar: use DTSTART:, RRULE: and EXDATE:"
        if name == "RDATE":
            reason = "is not read here: write its dates under `dates`"
        raise InvalidRecurrence(name if name == "RDATE" else "RRULE", line, reason)
    return name, semicolon + parameters, value


def _date(field: str, text: str) -> date:
    match = _DATE.fullmatch(text)
    if match is None:
        timed = " without a time of day" if "T" in text else ""
        raise InvalidRecurrence(field, text, f"write a date{timed}, as in 20261225")
    try:
        found = date(*map(int, match.groups()))
    except ValueError:
        raise InvalidRecurrence(field, text, "this date is in no calendar") from None
    if not YEAR_MIN <= found.year <= CALENDAR_YEAR_MAX:
        reason = f"use years from {YEAR_MIN} to {CALENDAR_YEAR_MAX}"
        raise InvalidRecurrence(field, text, reason)
    return found


def _rule(value: str) -> Rule:
    parts: dict[str, str] = {}
    for part in value.split(";"):
        name, equals, content = part.partition("=")
        if not equals or not content:
            raise InvalidRecurrence("RRULE", part, "write its parts as NAME=VALUE;NAME=VALUE")
        if name in parts:
            raise InvalidRecurrence(name, content, "stands there twice")
        parts[name] = content
    frequency = _frequency(parts.pop("FREQ", ""))
    week_start = _choice("WKST", parts.pop("WKST", "MO"), WEEKDAYS)
    interval = _number("INTERVAL", parts.pop("INTERVAL", "1"), 1, _INTERVAL_MAX)
    if "COUNT" in parts and "UNTIL" in parts:
        raise InvalidRecurrence("COUNT", parts["COUNT"], "give COUNT or UNTIL, not both")
    count = parts.pop("COUNT", None)
    until = parts.pop("UNTIL", None)
    by_day = _by_day(parts.pop("BYDAY", None), frequency, parts)
    lists = {name: _numbers(name, parts.pop(name, None), frequency) for name in _LISTS}
    for name, content in parts.items():
        raise InvalidRecurrence("RRULE", f"{name}={content}", _unknown(name))
    if lists["BYWEEKNO"] and not by_day:
        raise InvalidRecurrence("BYWEEKNO", "", "say which days of the week, as in BYDAY=MO")
    if lists["BYSETPOS"] and not (by_day or any(lists[n] for n in _LISTS if n != "BYSETPOS")):
        reason = "picks from what other BY parts give: add one, as in BYDAY=MO,TU"
        raise InvalidRecurrence("BYSETPOS", "", reason)
    return Rule(
        frequency,
        interval,
        None if count is None else _number("COUNT", count, 1, _COUNT_MAX),
        None if until is None else _date("UNTIL", until),
        week_start,
        by_day,
        lists["BYMONTH"],
        lists["BYMONTHDAY"],
        lists["BYYEARDAY"],
        lists["BYWEEKNO"],
        lists["BYSETPOS"],
    )


def _frequency(text: str) -> Frequency:
    for known in get_args(Frequency):
        if text == known:
            return known  # type: ignore[no-any-return]  # get_args has no types
    if text in ("HOURLY", "MINUTELY", "SECONDLY"):
        reason = "a calendar is of whole dates: use DAILY, WEEKLY, MONTHLY or YEARLY"
    else:
        reason = "use DAILY, WEEKLY, MONTHLY or YEARLY"
    raise InvalidRecurrence("FREQ", text, reason)


def _choice(field: str, text: str, known: tuple[str, ...]) -> int:
    if text not in known:
        raise InvalidRecurrence(field, text, "use one of " + ", ".join(known))
    return known.index(text)


def _number(field: str, text: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
        raise InvalidRecurrence(field, text, f"use a whole number from {low} to {high}")
    return int(text)


def _numbers(field: str, text: str | None, frequency: Frequency) -> tuple[int, ...]:
    if text is None:
        return ()
    _check_allowed(field, text, frequency)
    high = _LISTS[field]
    low = 1 if field == "BYMONTH" else -high
    found = set()
    for item in text.split(","):
        number = _number(field, item, low, high)
        if number == 0:
            raise InvalidRecurrence(field, item, "counts from 1, or from -1 at the end")
        if field == "BYWEEKNO" and number < -51:
            raise InvalidRecurrence(field, item, "from the end, count to -51; use 1 or 2 instead")
        found.add(number)
    return tuple(sorted(found))


def _by_day(
    text: str | None, frequency: Frequency, parts: dict[str, str]
) -> tuple[tuple[int, int], ...]:
    if text is None:
        return ()
    is_in_month = frequency == "MONTHLY" or "BYMONTH" in parts
    high = 5 if is_in_month else 53
    found = set()
    for item in text.split(","):
        match = _DAY.fullmatch(item)
        if match is None:
            raise InvalidRecurrence("BYDAY", item, "use MO to SU, or as in 2MO and -1FR")
        number = int(match[1]) if match[1] else 0
        if match[1] and (frequency in ("DAILY", "WEEKLY") or "BYWEEKNO" in parts):
            reason = "has a number: that needs FREQ=MONTHLY or YEARLY, without BYWEEKNO"
            raise InvalidRecurrence("BYDAY", item, reason)
        if match[1] and not 1 <= abs(number) <= high:
            place = "month" if is_in_month else "year"
            reason = f"counts from 1 to {high}, or from -1 to -{high}, in a {place}"
            raise InvalidRecurrence("BYDAY", item, reason)
        found.add((number, WEEKDAYS.index(match[2])))
    return tuple(sorted(found))


def _check_allowed(field: str, text: str, frequency: Frequency) -> None:
    allowed = _ALLOWED_UNDER.get(field)
    if allowed is not None and frequency not in allowed:
        reason = f"has no meaning under FREQ={frequency}: use {' or '.join(allowed)}"
        raise InvalidRecurrence(field, text, reason)


def _unknown(name: str) -> str:
    if name in ("BYHOUR", "BYMINUTE", "BYSECOND"):
        return "a calendar is of whole dates: leave it out"
    return "is no part of a rule: use FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYDAY, ..."
