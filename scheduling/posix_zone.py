"""The footer of a zone file: a POSIX TZ rule, expanded into transitions year by year."""

import re
from dataclasses import dataclass
from datetime import date

from scheduling.months import day_number

_NAME = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)"
_OFFSET = r"[+-]?\d{1,3}(?::\d{2}){0,2}"
_RULE = rf"([^,/]+)(?:/({_OFFSET}))?"
_FOOTER = re.compile(rf"{_NAME}({_OFFSET})(?:{_NAME}({_OFFSET})?,{_RULE},{_RULE})?")


@dataclass(frozen=True, slots=True)
class PosixZone:
    """Offsets east of Greenwich in seconds; `changes` is empty where the clock never moves."""

    standard_s: int
    daylight_s: int
    changes: tuple[tuple[str, int], ...]

    def transitions(self, year: int) -> list[tuple[int, int]]:
        """(epoch second, offset from then on) of one year, in no order."""
        if not self.changes:
            return []
        (begin, begin_s), (end, end_s) = self.changes
        return [
            (_rule_day(begin, year) * 86_400 + begin_s - self.standard_s, self.daylight_s),
            (_rule_day(end, year) * 86_400 + end_s - self.daylight_s, self.standard_s),
        ]


def parse_footer(text: str) -> PosixZone:
    """The rule of a footer; ValueError where it is not a POSIX TZ string."""
    match = _FOOTER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a POSIX zone rule: {text[:40]!r}")
    standard, daylight, begin, begin_at, end, end_at = match.groups()
    standard_s = -_seconds(standard)
    if begin is None:
        return PosixZone(standard_s, standard_s, ())
    daylight_s = -_seconds(daylight) if daylight else standard_s + 3_600
    changes = ((begin, _seconds(begin_at or "2")), (end, _seconds(end_at or "2")))
    return PosixZone(standard_s, daylight_s, changes)


def _seconds(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    hours, *rest = (int(part) for part in text.lstrip("+-").split(":"))
    minutes, seconds = [*rest, 0, 0][:2]
    return sign * (hours * 3_600 + minutes * 60 + seconds)


def _rule_day(rule: str, year: int) -> int:
    """The day number on which a rule (`Mm.w.d`, `Jn` or `n`) falls."""
    january = day_number(date(year, 1, 1))
    if rule.startswith("M"):
        month, week, weekday = (int(part) for part in rule[1:].split("."))
        first = day_number(date(year, month, 1))
        day = first + (weekday - (first + 4)) % 7 + 7 * (week - 1)
        following = day_number(date(year + month // 12, month % 12 + 1, 1))
        return day if day < following else day - 7
    if rule.startswith("J"):  # 1 to 365, 29 February never counted
        return day_number(date(1970, 1, 1)) + day_number(_plain_date(year, int(rule[1:])))
    return january + int(rule)


def _plain_date(year: int, ordinal: int) -> date:
    plain = date.fromordinal(date(2001, 1, 1).toordinal() + ordinal - 1)
    return plain.replace(year=year)
