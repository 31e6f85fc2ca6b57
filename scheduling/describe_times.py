"""The times of day of a cron expression, in words."""

from collections.abc import Sequence

from scheduling.day_set import bit_values
from scheduling.fields import parse_field
from scheduling.grammar import CronForm

_CLOCK_TIMES_MAX = 6  # more are told by hours and minutes instead of one by one
_UNITS = ((604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def times_phrase(form: CronForm) -> tuple[str, bool]:
    """The phrase, and whether it names times of a day (so that `every day` may follow)."""
    seconds = bit_values(parse_field("second", form.second).bits)
    minutes = bit_values(parse_field("minute", form.minute).bits)
    hours = bit_values(parse_field("hour", form.hour).bits)
    if len(seconds) * len(minutes) * len(hours) <= _CLOCK_TIMES_MAX:
        clock_times = [
            f"{hour:02}:{minute:02}" + (f":{second:02}" if seconds != (0,) else "")
            for hour in hours
            for minute in minutes
            for second in seconds
        ]
        return "at " + join_words(clock_times), True
    words = [_level("minute", minutes, 60)]
    if seconds != (0,):
        by_second = _level("second", seconds, 60)
        words = [by_second if len(minutes) == 60 else f"{by_second}, {words[0]}"]
    if len(hours) < 24:
        words.append(_hours(hours))
    elif len(minutes) == 1:
        words.append("of every hour")
    return " ".join(words), False


def _level(unit: str, values: Sequence[int], size: int) -> str:
    if len(values) == size:
        return f"every {unit}"
    step = values[1] - values[0] if len(values) > 2 else 0
    if step and size % step == 0 and list(values) == list(range(values[0], size, step)):
        start = f" from {unit} {values[0]} on" if values[0] else ""
        return f"every {step} {unit}s{start}"
    return f"at {unit}{'s' if len(values) > 1 else ''} {ranges_phrase([*map(str, values)], values)}"


def _hours(hours: Sequence[int]) -> str:
    step = hours[1] - hours[0] if len(hours) > 2 else 0
    if step > 1 and 24 % step == 0 and list(hours) == list(range(hours[0], 24, step)):
        start = f" from {hours[0]:02}:00 on" if hours[0] else ""
        return f"of every {_ordinal(step)} hour{start}"
    names = [f"{hour:02}:00" for hour in hours]
    return f"in the hour{'s' if len(hours) > 1 else ''} of {ranges_phrase(names, hours)}"


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def ranges_phrase(names: Sequence[str], values: Sequence[int]) -> str:
    """Names of ascending values, with three or more neighbours written as a range."""
    words: list[str] = []
    at = 0
    while at < len(values):
        end = at
        while end + 1 < len(values) and values[end + 1] == values[end] + 1:
            end += 1
        if end - at >= 2:
            words.append(f"{names[at]} to {names[end]}")
        else:
            words.extend(names[at : end + 1])
        at = end + 1
    return join_words(words)


def join_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]


def duration_phrase(seconds: int) -> str:
    """A whole number of the largest unit that fits: 5400 is `90 minutes`."""
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    count = seconds // size
    return unit if count == 1 else f"{count} {unit}s"
