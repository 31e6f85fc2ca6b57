"""How commands say counts, times and durations of what the API answers."""

from typing import Final

_UNITS_S: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def count_text(count: int, noun: str) -> str:
    """`1 fire`, `1,200 fires`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def moment_text(zone: str, instant: str | None) -> str:
    """An instant of the API on a clock there, with its weekday; `now` where there is none."""
    from control_api.answers.zone_times import local_text
    from scheduling.instants import from_text

    return "now" if instant is None else local_text(zone, from_text(instant), weekday=True)


def instant_text(instant: str | None) -> str:
    """An instant of the API in UTC, as tables show it."""
    from control_api.answers.zone_times import utc_text
    from scheduling.instants import from_text

    return "" if instant is None else utc_text(from_text(instant))
