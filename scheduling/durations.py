"""Durations as people write and read them: a number with its unit."""

from typing import Final

UNITS_S: Final = (86_400, 3_600, 60, 1)  # of d, h, m and s


def duration_text(duration: int) -> str:
    """The shortest text, of one unit, that is read back to the same seconds."""
    for unit_s, letter in zip(UNITS_S, "dhms", strict=True):
        if duration and duration % unit_s == 0:
            return f"{duration // unit_s}{letter}"
    return "0s"
