"""The local days of a recurrence: what the two day fields and the month field allow together.

Which days of a month match depends on the month's shape alone (its length and the weekday of its
first), so 28 masks hold the whole rule, and whether it ever matches is seen from them.
Rules that match on fewer than two days a year keep the sorted list of their days instead of
searching for the next month.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from scheduling.errors import InvalidRecurrence
from scheduling.fields import FieldSet, Special, parse_field
from scheduling.months import (
    END_DAY,
    FIRST_DAY,
    MONTH_COUNT,
    MONTH_LENGTHS,
    MONTH_OF_DAY,
    MONTH_SHAPES,
    MONTH_STARTS,
    SHAPES,
    TYPE_SAMPLES,
    TYPES_BEFORE,
    YEAR_COUNT,
)

_SPARSE_DAYS_MAX = 2 * YEAR_COUNT
_MONTHS_SEARCHED_MAX = 4  # then the rule may be a sparse one, worth its list of days
_LENGTHS_OF_MONTH = {2: (28, 29), 4: (30,), 6: (30,), 9: (30,), 11: (30,)}


class DaySet:
    """Days are day numbers, and every question is about days inside the tables.

    What a set answers never changes. Its year counts, and the list of a sparse set, are made when
    they are first needed, so that compiling stays cheap; two threads may both make them.
    """

    __slots__ = ("_back", "_jumps", "_masks", "_months", "_sparse", "_year_counts")

    def __init__(self, masks: tuple[int, ...], months: int) -> None:
        self._masks = masks
        self._months = months >> 1
        self._jumps, self._back = _month_jumps(self._months)
        self._year_counts: tuple[int, ...] | None = None
        self._sparse: array[int] | None = None

    def month_mask(self, month: int) -> int:
        """The matching days of a month index: bit 0 is the first."""
        return self._masks[MONTH_SHAPES[month]] if self._months >> (month % 12) & 1 else 0

    def has(self, day: int) -> bool:
        """Whether a day matches."""
        month = MONTH_OF_DAY[day - FIRST_DAY]
        if not self._months >> (month % 12) & 1:
            return False
        return bool(self._masks[MONTH_SHAPES[month]] >> (day - MONTH_STARTS[month]) & 1)

    def next_day(self, day: int) -> int | None:
        """The first matching day from `day` on."""
        if day >= END_DAY:
            return None
        if self._sparse is None:
            month = MONTH_OF_DAY[day - FIRST_DAY]
            if self._months >> (month % 12) & 1:
                rest = self._masks[MONTH_SHAPES[month]] >> (day - MONTH_STARTS[month])
                if rest:
                    return day + (rest & -rest).bit_length() - 1
            for _ in range(_MONTHS_SEARCHED_MAX):
                month += self._jumps[month % 12]
                if month >= MONTH_COUNT:
                    return None
                mask = self._masks[MONTH_SHAPES[month]]
                if mask:
                    return MONTH_STARTS[month] + (mask & -mask).bit_length() - 1
        return next(self.days_from(day), None)

    def previous_day(self, day: int) -> int | None:
        """The last matching day up to `day`."""
        if day < FIRST_DAY:
            return None
        self._prepare()
        if self._sparse is not None:
            at = bisect_left(self._sparse, day + 1)
            return self._sparse[at - 1] if at else None
        month = MONTH_OF_DAY[day - FIRST_DAY]
        mask = self.month_mask(month) & ((2 << (day - MONTH_STARTS[month])) - 1)
        while not mask:
            month -= self._back[month % 12]
            if month < 0:
                return None
            mask = self._masks[MONTH_SHAPES[month]]
        return MONTH_STARTS[month] + mask.bit_length() - 1

    def days_from(self, day: int) -> Iterator[int]:
        """Every matching day from `day` on."""
        self._prepare()
        if self._sparse is None:
            return self._walk(day)
        return iter(self._sparse[bisect_left(self._sparse, day) :])

    def count(self, first: int, end: int) -> int:
        """How many days of [first, end) match, in a time that does not depend on their number."""
        return self._count_before(end) - self._count_before(first) if first < end else 0

    def common(self, other: "DaySet") -> "DaySet | None":
        """The days in both sets; None where that is seen to be none."""
        months = self._months & other._months
        masks = tuple(a & b for a, b in zip(self._masks, other._masks, strict=True))
        return DaySet(masks, months << 1) if months and any(masks) else None

    def _count_before(self, day: int) -> int:
        if day >= END_DAY:
            return self._count_before(END_DAY - 1) + self.has(END_DAY - 1)
        month = MONTH_OF_DAY[day - FIRST_DAY]
        year = month // 12
        total = sum(map(int.__mul__, TYPES_BEFORE[year], self._prepare()))
        for earlier in range(year * 12, month):
            total += self.month_mask(earlier).bit_count()
        within = (1 << (day - MONTH_STARTS[month])) - 1
        return total + (self.month_mask(month) & within).bit_count()

    def _prepare(self) -> tuple[int, ...]:
        """The matching days in a year of each type; and the list, where they are few."""
        counts = self._year_counts
        if counts is None:
            counts = tuple(
                sum(self.month_mask(january + month).bit_count() for month in range(12))
                for january in TYPE_SAMPLES
            )
            if sum(map(int.__mul__, TYPES_BEFORE[-1], counts)) <= _SPARSE_DAYS_MAX:
                self._sparse = array("i", self._walk(FIRST_DAY))
            self._year_counts = counts
        return counts

    def _walk(self, day: int) -> Iterator[int]:
        if day >= END_DAY:
            return
        month = MONTH_OF_DAY[day - FIRST_DAY]
        mask = self.month_mask(month) & -(1 << (day - MONTH_STARTS[month]))
        while month < MONTH_COUNT:
            start = MONTH_STARTS[month]
            for offset in bit_values(mask):
                yield start + offset
            month += self._jumps[month % 12]
            mask = self.month_mask(month) if month < MONTH_COUNT else 0


@lru_cache(maxsize=8192)
def bit_values(bits: int) -> tuple[int, ...]:
    """The numbers of the set bits, ascending."""
    values = []
    while bits:
        low = bits & -bits
        values.append(low.bit_length() - 1)
        bits ^= low
    return tuple(values)


@lru_cache(maxsize=4096)
def day_set(day_of_month: str, month: str, day_of_week: str) -> DaySet:
    """The shared set of three field texts; refused where no such day exists in 400 years."""
    month_days = parse_field("day_of_month", day_of_month)
    months = parse_field("month", month)
    weekdays = parse_field("day_of_week", day_of_week)
    by_month, by_week = _month_masks(month_days), _week_masks(weekdays)
    lengths = {
        length for at in bit_values(months.bits) for length in _LENGTHS_OF_MONTH.get(at, (31,))
    }
    if by_week is _WHOLE_MONTHS and weekdays.starred:
        masks = by_month
    elif month_days.starred or weekdays.starred:
        masks = tuple(a & b for a, b in zip(by_month, by_week, strict=True))
    else:
        masks = tuple(a | b for a, b in zip(by_month, by_week, strict=True))
    if not _ever(masks, lengths):
        _refuse(by_month, lengths, day_of_month, day_of_week)
    return DaySet(masks, months.bits)


def _ever(masks: tuple[int, ...], lengths: set[int]) -> bool:
    return any(any(masks[(length - 28) * 7 : (length - 27) * 7]) for length in lengths)


def _refuse(
    by_month: tuple[int, ...], lengths: set[int], day_of_month: str, day_of_week: str
) -> None:
    if not _ever(by_month, lengths):
        reason = "no such day in the months allowed: it would never fire"
        raise InvalidRecurrence("day_of_month", day_of_month, reason)
    reason = (
        f"never falls on day of month {day_of_month[:16]} in the months allowed, and both must "
        "match because one of the two fields starts with `*`: it would never fire"
    )
    raise InvalidRecurrence("day_of_week", day_of_week, reason)


def _month_masks(days: FieldSet) -> tuple[int, ...]:
    plain = days.bits >> 1
    if plain == 0x7FFFFFFF:
        return _WHOLE_MONTHS
    masks = []
    for length in MONTH_LENGTHS:
        whole = plain & ((1 << length) - 1)
        if days.specials:
            for first in range(7):
                mask = whole
                for special in days.specials:
                    mask |= _special_month_day(special, length, first)
                masks.append(mask)
        else:
            masks.extend((whole,) * 7)
    return tuple(masks)


def _week_masks(days: FieldSet) -> tuple[int, ...]:
    if days.bits == 0x7F:
        return _WHOLE_MONTHS
    # One week repeated, read from the weekday of the month's first day on.
    weeks = days.bits * _WEEKLY
    masks = []
    for shape in range(SHAPES):
        length, first = 28 + shape // 7, shape % 7
        mask = weeks >> first & ((1 << length) - 1)
        for special in days.specials:
            mask |= _special_weekday(special, length, first)
        masks.append(mask)
    return tuple(masks)


_WEEKLY = sum(1 << 7 * week for week in range(7))
_WHOLE_MONTHS = tuple((1 << (28 + shape // 7)) - 1 for shape in range(SHAPES))


def _special_weekday(special: Special, length: int, first: int) -> int:
    offset = (special.weekday - first) % 7
    if special.kind == "nth":
        offset += 7 * (special.n - 1)
    else:
        offset += (length - 1 - offset) // 7 * 7
    return 1 << offset if offset < length else 0


def _special_month_day(special: Special, length: int, first: int) -> int:
    if special.kind == "last":
        return 1 << (length - 1 - special.n) if special.n < length else 0
    day = length if special.kind == "last_workday" else special.n
    if day > length:
        return 0
    weekday = (first + day - 1) % 7
    if weekday == 6:  # Saturday: the day before, or the Monday after where that leaves the month
        day += -1 if day > 1 else 2
    elif weekday == 0:
        day += 1 if day < length else -2
    return 1 << (day - 1)


@lru_cache(maxsize=4096)
def _month_jumps(months: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """For each month of the year, the distance to the next and to the last allowed month."""
    ahead = tuple(
        next(step for step in range(1, 13) if months >> ((month + step) % 12) & 1)
        for month in range(12)
    )
    back = tuple(
        next(step for step in range(1, 13) if months >> ((month - step) % 12) & 1)
        for month in range(12)
    )
    return ahead, back
