"""One field of a cron expression: its text becomes a set of bits and, for days, special days."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from scheduling.errors import InvalidRecurrence
from scheduling.limits import FIELD_ITEMS_MAX, NUMBER_DIGITS_MAX

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True)
class Field:
    """A field's name, its lowest and highest number, and its names for numbers."""

    name: str
    low: int
    high: int
    words: dict[str, int]

    def range_bits(self) -> int:
        """The bits of the whole field."""
        return (2 << self.high) - (1 << self.low)


SECOND: Final = Field("second", 0, 59, {})
MINUTE: Final = Field("minute", 0, 59, {})
HOUR: Final = Field("hour", 0, 23, {})
DAY_OF_MONTH: Final = Field("day_of_month", 1, 31, {})
MONTH: Final = Field("month", 1, 12, {name: at for at, name in enumerate(_MONTHS, 1)})
DAY_OF_WEEK: Final = Field("day_of_week", 0, 6, {name: at for at, name in enumerate(_WEEKDAYS)})
FIELDS: Final = (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)
FIELD_OF: Final = {field.name: field for field in FIELDS}


class Special(NamedTuple):
    """A day that depends on the month.

    kind: `last` (n days before the last), `last_workday`, `workday` (nearest to day n),
          `nth` (weekday, n-th in the month), `last_of` (last such weekday)
    """

    kind: str
    n: int = 0
    weekday: int = 0


class FieldSet(NamedTuple):
    """What a field allows: a tuple because it is the key of shared tables.

    bits:     bit v is set where the plain value v is allowed
    specials: the days that depend on the month
    starred:  the text starts with `*` or `?`
    """

    bits: int
    specials: tuple[Special, ...]
    starred: bool


_ITEM = re.compile(r"(?:([*?])|([0-9A-Z]+)(?:-([0-9A-Z]+))?)(?:/([0-9]+))?")
_LAST = re.compile(r"L(?:-([0-9]+))?")
_WORKDAY = re.compile(r"([0-9]+)W")
_NTH = re.compile(r"([0-9A-Z]+)#([0-9]+)")


@lru_cache(maxsize=8192)
def parse_field(name: str, text: str) -> FieldSet:
    """The set a field's text allows; InvalidRecurrence naming the field and the item."""
    field = FIELD_OF[name]
    if text == "*":
        return FieldSet(field.range_bits(), (), True)
    if text.count(",") >= FIELD_ITEMS_MAX:
        raise InvalidRecurrence(name, text, f"has more than {FIELD_ITEMS_MAX} items")
    bits = 0
    specials: list[Special] = []
    for item in text.split(","):
        special = _special(field, item)
        if special is None:
            bits |= _plain(field, item)
        elif special not in specials:
            specials.append(special)
    return FieldSet(bits, tuple(specials), text[0] in "*?")


def _plain(field: Field, item: str) -> int:
    match = _ITEM.fullmatch(item.upper())
    if match is None:
        raise InvalidRecurrence(field.name, item, _expected(field))
    star, first, last, step_text = match.groups()
    if star == "?" and field not in (DAY_OF_MONTH, DAY_OF_WEEK):
        raise InvalidRecurrence(field.name, item, "`?` stands only in the two day fields")
    step = 1 if step_text is None else _step(field, item, step_text)
    if star:
        return _every(field.low, field.high, step)
    low = _value(field, item, first)
    if last is None:
        return 1 << low if step_text is None else _every(low, field.high, step)
    high = _value(field, item, last)
    if field is DAY_OF_WEEK and low == 0 and last == "7" and first not in ("7", "07"):
        high = field.high  # `0-7` is the whole week, `7-7` is Sunday
    if low <= high:
        return _every(low, high, step)
    size = field.high - field.low + 1
    reach = high + size - low
    return sum(
        1 << (field.low + (low - field.low + ahead) % size) for ahead in range(0, reach + 1, step)
    )


def _every(low: int, high: int, step: int) -> int:
    if step == 1:
        return (2 << high) - (1 << low)
    return sum(1 << value for value in range(low, high + 1, step))


def _number(field: Field, item: str, digits: str) -> int:
    if len(digits) > NUMBER_DIGITS_MAX:
        reason = f"has a number of more than {NUMBER_DIGITS_MAX} digits"
        raise InvalidRecurrence(field.name, item, reason)
    return int(digits)


def _step(field: Field, item: str, digits: str) -> int:
    step = _number(field, item, digits)
    if step == 0:
        raise InvalidRecurrence(field.name, item, "a step is at least 1")
    return step


def _value(field: Field, item: str, token: str) -> int:
    if not token.isdigit():
        value = field.words.get(token)
        if value is None:
            raise InvalidRecurrence(field.name, item, _expected(field))
        return value
    number = _number(field, item, token)
    if field is DAY_OF_WEEK and number == 7:
        return 0
    if not field.low <= number <= field.high:
        raise InvalidRecurrence(field.name, item, _expected(field))
    return number


def _special(field: Field, item: str) -> Special | None:
    upper = item.upper()
    if field is DAY_OF_MONTH and ("L" in upper or "W" in upper):
        return _month_day(item, upper)
    if field is DAY_OF_WEEK:
        if "#" in item:
            return _nth_weekday(item, upper)
        if upper.endswith("L") and upper != "L":
            return Special("last_of", 0, _value(field, item, upper[:-1]))
    return None


def _month_day(item: str, upper: str) -> Special:
    if upper == "LW":
        return Special("last_workday")
    name = DAY_OF_MONTH.name
    if last := _LAST.fullmatch(upper):
        before = _number(DAY_OF_MONTH, item, last[1] or "0")
        if before > 30:
            raise InvalidRecurrence(name, item, "no month has that many days before its last")
        return Special("last", before)
    if workday := _WORKDAY.fullmatch(upper):
        return Special("workday", _value(DAY_OF_MONTH, item, workday[1]))
    raise InvalidRecurrence(name, item, _expected(DAY_OF_MONTH))


def _nth_weekday(item: str, upper: str) -> Special:
    match = _NTH.fullmatch(upper)
    if match is None:
        raise InvalidRecurrence(DAY_OF_WEEK.name, item, _expected(DAY_OF_WEEK))
    nth = _number(DAY_OF_WEEK, item, match[2])
    if not 1 <= nth <= 5:
        raise InvalidRecurrence(DAY_OF_WEEK.name, item, "after `#` comes a number from 1 to 5")
    return Special("nth", nth, _value(DAY_OF_WEEK, item, match[1]))


def _expected(field: Field) -> str:
    forms = f"use numbers from {field.low} to {7 if field is DAY_OF_WEEK else field.high}"
    if field.words:
        forms += f" or names such as {next(iter(field.words))}"
    forms += ", `*`, ranges, steps and lists"
    if field is DAY_OF_MONTH:
        forms += ", or L, L-3, LW, 15W"
    if field is DAY_OF_WEEK:
        forms += ", or MON#2, 5L"
    return forms
