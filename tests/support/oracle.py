"""A slow enumerator of recurrences that is obviously right, to judge the compiled form by.

It walks through time minute by minute (second by second where the expression has seconds), asks
the standard library's zoneinfo what the clock on the wall shows, and looks at every field. It
shares the parser with the product and nothing else. zoneinfo is pinned to the tzdata package.
"""

import calendar
import zoneinfo
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from scheduling.fields import FieldSet, Special, parse_field
from scheduling.grammar import AtForm, CronForm, EveryForm, read_expression

zoneinfo.reset_tzpath(())
zoneinfo.ZoneInfo.clear_cache()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
MARGIN = timedelta(days=3)  # more than any shift of any clock


def enumerate_instants(
    expression: str | Sequence[str],
    zone: str,
    *,
    gap: str,
    fold: str,
    after: datetime,
    through: datetime,
    exclusions: Iterable[date] = (),
    identity: tuple[str, str] | None = None,
) -> list[datetime]:
    """Every instant of (after, through], ascending, in UTC."""
    tz = zoneinfo.ZoneInfo(zone)
    texts = [expression] if isinstance(expression, str) else expression
    found: set[datetime] = set()
    for text in texts:
        form = read_expression(text, identity)
        if isinstance(form, EveryForm):
            found.update(_every(form, tz, gap, fold, after, through))
        elif isinstance(form, AtForm):
            wall = datetime(1970, 1, 1) + timedelta(seconds=form.wall)  # noqa: DTZ001
            found.update(_instants(wall, tz, gap, fold))
        elif form.is_interval:
            found.update(_interval(form, tz, after, through))
        else:
            for wall in _walls(form, tz, after, through):
                found.update(_instants(wall, tz, gap, fold))
    excluded = set(exclusions)
    return sorted(
        instant
        for instant in found
        if after < instant <= through and instant.astimezone(tz).date() not in excluded
    )


def _every(
    form: EveryForm, tz: zoneinfo.ZoneInfo, gap: str, fold: str, after: datetime, through: datetime
) -> Iterator[datetime]:
    anchor = EPOCH
    if form.from_wall is not None:
        wall = datetime(1970, 1, 1) + timedelta(seconds=form.from_wall)  # noqa: DTZ001
        anchors = _instants(wall, tz, gap, "first" if fold == "both" else fold)
        if not anchors:
            return
        anchor = anchors[0]
    period = timedelta(seconds=form.period_s)
    instant = anchor - ((anchor - after) // period + 1) * period
    while instant <= through:
        yield instant
        instant += period


def _interval(
    form: CronForm, tz: zoneinfo.ZoneInfo, after: datetime, through: datetime
) -> Iterator[datetime]:
    """Each real second of the window whose wall time matches."""
    instant = after.replace(microsecond=0)
    while instant <= through:
        wall = instant.astimezone(tz)
        if form.second == "0" and wall.second:
            instant += SECOND
            continue
        if _matches(form, wall.replace(tzinfo=None)):
            yield instant
        step = MINUTE if form.second == "0" else SECOND
        moved = (instant + step).astimezone(tz).utcoffset() != wall.utcoffset()
        instant += SECOND if moved else step


def _walls(
    form: CronForm, tz: zoneinfo.ZoneInfo, after: datetime, through: datetime
) -> Iterator[datetime]:
    """Each wall time around the window that matches, whether the clock shows it or not."""
    wall = (after - MARGIN).astimezone(tz).replace(tzinfo=None, second=0, microsecond=0)
    end = (through + MARGIN).astimezone(tz).replace(tzinfo=None)
    while wall <= end:
        if _minute_matches(form, wall):
            for second in range(60):
                if _set("second", form.second).bits >> second & 1:
                    yield wall + second * SECOND
        wall += MINUTE


def _instants(wall: datetime, tz: zoneinfo.ZoneInfo, gap: str, fold: str) -> list[datetime]:
    """The instants at which the clock shows a wall time, by the two rules."""
    passes = sorted(
        {
            instant
            for number in (0, 1)
            for instant in [wall.replace(tzinfo=tz, fold=number).astimezone(UTC)]
            if instant.astimezone(tz).replace(tzinfo=None) == wall
        }
    )
    if not passes:
        return [_after_gap(wall, tz)] if gap == "shift_forward" else []
    return {"first": passes[:1], "last": passes[-1:], "both": passes}[fold]


@lru_cache(maxsize=100_000)
def _after_gap(wall: datetime, tz: zoneinfo.ZoneInfo) -> datetime:
    """The first instant at which the clock shows more than a skipped wall time."""
    early = wall.replace(tzinfo=UTC) - timedelta(days=2)
    late = wall.replace(tzinfo=UTC) + timedelta(days=2)
    while late - early > SECOND:
        middle = early + (late - early) // SECOND // 2 * SECOND
        if middle.astimezone(tz).replace(tzinfo=None) > wall:
            late = middle
        else:
            early = middle
    return late


def _matches(form: CronForm, wall: datetime) -> bool:
    return bool(_set("second", form.second).bits >> wall.second & 1) and _minute_matches(form, wall)


def _minute_matches(form: CronForm, wall: datetime) -> bool:
    return bool(
        _set("minute", form.minute).bits >> wall.minute & 1
        and _set("hour", form.hour).bits >> wall.hour & 1
    ) and day_matches(form, wall.date())


@lru_cache(maxsize=100_000)
def day_matches(form: CronForm, day: date) -> bool:
    """Whether a date matches the two day fields and the month field."""
    if not _set("month", form.month).bits >> day.month & 1:
        return False
    month_days = _set("day_of_month", form.day_of_month)
    weekdays = _set("day_of_week", form.day_of_week)
    sunday_based = day.isoweekday() % 7
    by_month = bool(month_days.bits >> day.day & 1) or any(
        _special_matches(special, day) for special in month_days.specials
    )
    by_week = bool(weekdays.bits >> sunday_based & 1) or any(
        _special_matches(special, day) for special in weekdays.specials
    )
    if month_days.starred or weekdays.starred:
        return by_month and by_week
    return by_month or by_week


def _special_matches(special: Special, day: date) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    if special.kind == "last":
        return day.day == last - special.n
    if special.kind == "nth":
        week = (day.day - 1) // 7 + 1
        return day.isoweekday() % 7 == special.weekday and week == special.n
    if special.kind == "last_of":
        return day.isoweekday() % 7 == special.weekday and day.day + 7 > last
    wanted = last if special.kind == "last_workday" else special.n
    return wanted <= last and day == _nearest_workday(day.replace(day=wanted))


def _nearest_workday(day: date) -> date:
    """The closest Monday to Friday of the same month."""
    for distance in (0, -1, 1, -2, 2):
        near = day + timedelta(days=distance)
        if near.month == day.month and near.isoweekday() <= 5:
            return near
    raise AssertionError("every five days of a month hold a workday")


def _set(name: str, text: str) -> FieldSet:
    return parse_field(name, text)
