"""RFC 5545 rules by looking at every day: slow, obvious, and without dateutil."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby, islice

DAY = timedelta(days=1)
NAMES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, kw_only=True)
class OracleRule:
    """The parts of a rule, each as its own name says; `by_day` holds (0 or n, weekday)."""

    start: date
    until: date
    frequency: str
    interval: int = 1
    count: int | None = None
    week_start: int = 0
    by_day: tuple[tuple[int, int], ...] = ()
    by_month: tuple[int, ...] = ()
    by_month_day: tuple[int, ...] = ()
    by_year_day: tuple[int, ...] = ()
    by_week: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()

    def text(self) -> str:
        """As a calendar's rule; a rule with a COUNT has no UNTIL."""
        parts = [f"FREQ={self.frequency}", f"INTERVAL={self.interval}"]
        parts.append(f"COUNT={self.count}" if self.count else f"UNTIL={self.until:%Y%m%d}")
        if self.by_day:
            days = (f"{n or ''}{NAMES[weekday]}" for n, weekday in self.by_day)
            parts.append("BYDAY=" + ",".join(days))
        for name, numbers in (
            ("BYMONTH", self.by_month),
            ("BYMONTHDAY", self.by_month_day),
            ("BYYEARDAY", self.by_year_day),
            ("BYWEEKNO", self.by_week),
            ("BYSETPOS", self.positions),
        ):
            if numbers:
                parts.append(f"{name}={','.join(map(str, numbers))}")
        parts.append(f"WKST={NAMES[self.week_start]}")
        return f"DTSTART:{self.start:%Y%m%d}\nRRULE:{';'.join(parts)}"

    def dates(self) -> list[date]:
        """All of them until `until`, or the first `count` of those."""
        return list(islice(self._dates(), self.count))

    def _dates(self) -> Iterator[date]:
        first = date(self.start.year, 1, 1) - 7 * DAY
        days = (first + n * DAY for n in range((self.until - first).days + 380))
        for period, members in groupby(days, self._period):
            if (period - self._period(self.start)) % self.interval:
                continue
            fitting = [day for day in members if self._fits(day)]
            if self.positions:
                places = {n - 1 if n > 0 else len(fitting) + n for n in self.positions}
                fitting = [day for place, day in enumerate(fitting) if place in places]
            yield from (day for day in fitting if self.start <= day <= self.until)

    def _period(self, day: date) -> int:
        if self.frequency == "YEARLY":
            return day.year
        if self.frequency == "MONTHLY":
            return day.year * 12 + day.month
        if self.frequency == "WEEKLY":
            return (day.toordinal() - 1 - self.week_start) // 7
        return day.toordinal()

    def _fits(self, day: date) -> bool:
        weekdays = [(0, day.weekday())]
        in_year = self.frequency == "YEARLY" and not self.by_month
        if self.frequency in ("YEARLY", "MONTHLY"):
            weekdays += _nth(day, in_year=in_year)
        tests: list[tuple[tuple[object, ...], Sequence[object]]] = [
            (self.by_month, [day.month]),
            (self.by_day, weekdays),
            (self.by_month_day, [day.day, day.day - _days_in_month(day) - 1]),
            (self.by_year_day, [day.timetuple().tm_yday, _from_years_end(day)]),
            (self.by_week, self._week_numbers(day)),
        ]
        return self._fits_start(day) and all(
            not wanted or set(wanted).intersection(found) for wanted, found in tests
        )

    def _fits_start(self, day: date) -> bool:
        """What the rule leaves open, the start decides."""
        if self.by_day or self.by_month_day or self.by_year_day or self.by_week:
            return True
        if self.frequency == "WEEKLY":
            return day.weekday() == self.start.weekday()
        if self.frequency == "YEARLY" and not self.by_month and day.month != self.start.month:
            return False
        return self.frequency == "DAILY" or day.day == self.start.day

    def _week_numbers(self, day: date) -> list[int]:
        """From the beginning and from the end of the year that has most of the week."""
        monday = day - (day.weekday() - self.week_start) % 7 * DAY
        year = (monday + 3 * DAY).year
        fourth = date(year, 1, 4)
        first = fourth - (fourth.weekday() - self.week_start) % 7 * DAY
        next_fourth = date(year + 1, 1, 4)
        next_first = next_fourth - (next_fourth.weekday() - self.week_start) % 7 * DAY
        number, total = (monday - first).days // 7 + 1, (next_first - first).days // 7
        return [number, number - total - 1]


def _nth(day: date, *, in_year: bool) -> list[tuple[int, int]]:
    """Which of its weekday it is in its year or month, from the beginning and from the end."""
    before = sum(1 for n in range(1, 54) if _together(day, day - n * 7 * DAY, in_year))
    after = sum(1 for n in range(1, 54) if _together(day, day + n * 7 * DAY, in_year))
    return [(before + 1, day.weekday()), (-after - 1, day.weekday())]


def _together(one: date, other: date, in_year: bool) -> bool:
    return one.year == other.year and (in_year or one.month == other.month)


def _days_in_month(day: date) -> int:
    return ((day.replace(day=28) + 4 * DAY).replace(day=1) - DAY).day


def _from_years_end(day: date) -> int:
    return (day - date(day.year + 1, 1, 1)).days
