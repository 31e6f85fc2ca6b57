"""The months the engine searches, as tables of integers: day numbers count from 1970-01-01."""

from array import array
from datetime import date
from typing import Final

from scheduling.limits import YEAR_MAX, YEAR_MIN

# One year more on either side than the instants need, so that local days never leave the tables.
FIRST_YEAR: Final = YEAR_MIN - 1
LAST_YEAR: Final = YEAR_MAX + 1
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()

SHAPES: Final = 28  # four lengths by seven weekdays of the first
MONTH_LENGTHS: Final = (28, 29, 30, 31)


def shape_of(length: int, first_weekday: int) -> int:
    """The number of a month shape; weekday 0 is Sunday."""
    return (length - 28) * 7 + first_weekday


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - _EPOCH_ORDINAL


def date_of(day: int) -> date:
    """The date of a day number."""
    return date.fromordinal(day + _EPOCH_ORDINAL)


def _month_starts() -> list[int]:
    return [
        day_number(date(year, month, 1))
        for year in range(FIRST_YEAR, LAST_YEAR + 1)
        for month in range(1, 13)
    ] + [day_number(date(LAST_YEAR + 1, 1, 1))]


def _month_of_day() -> "array[int]":
    months = array("H")
    for month, length in enumerate(_LENGTHS):
        months.extend(array("H", (month,)) * length)
    return months


# Month index 0 is January of FIRST_YEAR, so `index % 12` is the month less one.
MONTH_STARTS: Final = _month_starts()
MONTH_COUNT: Final = len(MONTH_STARTS) - 1
_LENGTHS: Final = [MONTH_STARTS[at + 1] - MONTH_STARTS[at] for at in range(MONTH_COUNT)]
MONTH_SHAPES: Final = bytes(
    shape_of(length, (start + 4) % 7) for start, length in zip(MONTH_STARTS, _LENGTHS, strict=False)
)
FIRST_DAY: Final = MONTH_STARTS[0]
END_DAY: Final = MONTH_STARTS[-1]
MONTH_OF_DAY: Final = _month_of_day()  # indexed by day number less FIRST_DAY

# A year's type is its January's shape and its February's length: 14 types.
YEAR_COUNT: Final = LAST_YEAR - FIRST_YEAR + 1
YEAR_TYPES: Final = 14


def _year_type(year: int) -> int:
    return (MONTH_SHAPES[year * 12] % 7) + (7 if _LENGTHS[year * 12 + 1] == 29 else 0)


def _types_before() -> list[tuple[int, ...]]:
    counts = [0] * YEAR_TYPES
    rows = []
    for year in range(YEAR_COUNT):
        rows.append(tuple(counts))
        counts[_year_type(year)] += 1
    return rows


# For each year index, how many years of each type come before it.
TYPES_BEFORE: Final = _types_before()
# For each type, the month index of January in one year of that type.
TYPE_SAMPLES: Final = tuple(
    next(year * 12 for year in range(YEAR_COUNT) if _year_type(year) == kind)
    for kind in range(YEAR_TYPES)
)
