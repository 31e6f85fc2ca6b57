"""Exclusion calendars: rules of RFC 5545 and dates of their own, expanded once, when defined."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from scheduling.calendar_rules import Rule, parse_rule_text
from scheduling.errors import InvalidRecurrence
from scheduling.limits import (
    CALENDAR_RULES_MAX,
    CALENDAR_SEARCH_US_MAX,
    CALENDAR_YEAR_MAX,
    EXCLUSION_DATES_MAX,
)

if TYPE_CHECKING:
    from dateutil.rrule import rrule

# dateutil looks for dates up to its year 9999, however hopeless a rule is. The Gregorian calendar
# repeats every 400 years, weekdays included, so a rule is read this much later: there is no more
# than 500 years to search.
_SHIFT_YEARS: Final = 19 * 400
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PERIODS_PER_YEAR: Final = {"YEARLY": 1, "MONTHLY": 12, "WEEKLY": 53, "DAILY": 366}
_PERIOD_US: Final = {"YEARLY": 30, "MONTHLY": 4, "WEEKLY": 2, "DAILY": 1}  # measured, rounded up


@dataclass(frozen=True, slots=True)
class ExclusionCalendar:
    """A calendar as a trigger's version uses it: one revision, its dates sorted and each once.

    Hashed once: whoever compiles a recurrence looks its calendars up.
    """

    calendar_id: str
    revision: int
    dates: tuple[date, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = (self.calendar_id, self.revision, self.dates)
        object.__setattr__(self, "_hash", hash(key))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:  # another process hashes otherwise
        return type(self), (self.calendar_id, self.revision, self.dates)


def calendar_dates(rules: Sequence[str], dates: Iterable[date] = ()) -> tuple[date, ...]:
    """Every date of the rules and the given ones, sorted and each once; at most 10,000.

    A text with an RRULE gives its dates without its EXDATEs; a text of EXDATEs alone gives those.
    Without UNTIL or COUNT a rule goes on to the end of CALENDAR_YEAR_MAX.
    InvalidRecurrence names `rules[i]` and the part, or `dates`. The cost is bounded.
    """
    if len(rules) > CALENDAR_RULES_MAX:
        reason = f"has {len(rules)}; at most {CALENDAR_RULES_MAX}: divide the calendar"
        raise InvalidRecurrence("rules", "", reason)
    found = list(islice(dates, EXCLUSION_DATES_MAX + 1))
    search_us = 0
    for number, text in enumerate(rules):
        try:
            search_us += search_us_of(text)
            if search_us > CALENDAR_SEARCH_US_MAX:
                reason = "the rules take too long to expand: write this one with a coarser FREQ"
                raise InvalidRecurrence("RRULE", "", reason)
            found += rule_dates(text)
        except InvalidRecurrence as error:
            field = f"rules[{number}].{error.field}"
            raise InvalidRecurrence(field, error.item, error.reason) from None
        if len(found) > EXCLUSION_DATES_MAX:
            break
    if len(found) > EXCLUSION_DATES_MAX:
        reason = f"more than {EXCLUSION_DATES_MAX} together: end the rules with UNTIL, or divide it"
        raise InvalidRecurrence("rules" if rules else "dates", "", reason)
    return tuple(sorted(set(found)))


def read_dates(texts: Sequence[str]) -> tuple[date, ...]:
    """ISO dates as they are written; InvalidRecurrence names `dates[i]`."""
    found = []
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not _ISO_DATE.fullmatch(text):
            raise InvalidRecurrence(f"dates[{number}]", str(text), "write dates as 2026-12-24")
        try:
            found.append(date.fromisoformat(text))
        except ValueError:
            reason = "this date is in no calendar"
            raise InvalidRecurrence(f"dates[{number}]", text, reason) from None
    return tuple(found)


@lru_cache(maxsize=64)
def rule_dates(text: str) -> tuple[date, ...]:
    """The dates of one text, sorted. InvalidRecurrence names the property or part."""
    start, rule, exdates = parse_rule_text(text)
    if rule is None or start is None:
        return tuple(sorted(set(exdates)))
    found = _expanded(rule, start)
    if len(found) > EXCLUSION_DATES_MAX:
        last_on = f"{found[EXCLUSION_DATES_MAX - 1]:%Y%m%d}"
        reason = f"gives more than {EXCLUSION_DATES_MAX} dates: add UNTIL={last_on}, or an earlier"
        raise InvalidRecurrence("RRULE", "", reason)
    left = sorted(set(found).difference(exdates))
    if not left:
        reason = f"gives no date up to {CALENDAR_YEAR_MAX}: change or remove it"
        raise InvalidRecurrence("RRULE", "", reason)
    return tuple(left)


def _expanded(rule: Rule, start: date) -> list[date]:
    """Its dates in order, up to one more than are allowed."""
    found: list[date] = []
    limit = EXCLUSION_DATES_MAX + 1 if rule.count is None else rule.count
    begin = _shifted(start)
    moments = (each for each in _dateutil_rule(rule, begin) if each >= begin)
    try:
        for moment in islice(moments, limit):
            found.append(moment.date().replace(year=moment.year - _SHIFT_YEARS))
    except (ValueError, OverflowError):  # a week that reaches over the end of year 9999
        pass
    return found


def _dateutil_rule(rule: Rule, begin: datetime) -> "rrule":
    """May give dates before the beginning too; their COUNT is left to the caller."""
    from dateutil import rrule as dateutil_rules  # slow to import

    by_day = _by_day(rule, begin)
    if rule.frequency == "WEEKLY" and rule.positions:
        # dateutil would count the positions of the first week from the beginning on.
        begin -= timedelta(days=(begin.weekday() - rule.week_start) % 7)
    return dateutil_rules.rrule(
        getattr(dateutil_rules, rule.frequency),
        dtstart=begin,
        interval=rule.interval,
        wkst=rule.week_start,
        until=None if rule.until is None else _shifted(rule.until),
        bysetpos=rule.positions or None,
        bymonth=rule.by_month or None,
        bymonthday=rule.by_month_day or None,
        byyearday=rule.by_year_day or None,
        byweekno=rule.by_week or None,
        byweekday=[dateutil_rules.weekday(day, n or None) for n, day in by_day] or None,
    )


def _by_day(rule: Rule, begin: datetime) -> list[tuple[int, int]]:
    """dateutil would join plain and numbered weekdays by AND: beside others, all get numbers."""
    if rule.frequency == "WEEKLY" and not rule.by_day:
        return [(0, begin.weekday())]
    if not any(n for n, _ in rule.by_day):
        return list(rule.by_day)
    weeks = range(1, 6 if rule.frequency == "MONTHLY" or rule.by_month else 54)
    return [(each, day) for n, day in rule.by_day for each in ([n] if n else weeks)]


def _shifted(day: date) -> datetime:
    return datetime(day.year + _SHIFT_YEARS, day.month, day.day)  # noqa: DTZ001 - of dates


def search_us_of(text: str) -> int:
    """What finding its dates may cost beside the dates themselves, about. InvalidRecurrence."""
    start, rule, _ = parse_rule_text(text)
    if rule is None or start is None or not rule.is_filtered:
        return 0
    years = CALENDAR_YEAR_MAX + 1 - start.year
    periods = years * _PERIODS_PER_YEAR[rule.frequency] // rule.interval + 1
    return periods * _PERIOD_US[rule.frequency]
