"""What one check found, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """FAIL: the service does not work, or a credential lies open. WARN: look at it."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Finding(NamedTuple):
    """`remedy` is empty where nothing is to be done."""

    check: str
    level: Level
    found: str
    remedy: str = ""


def fine(check: str, found: str) -> Finding:
    return Finding(check, Level.OK, found)


def warn(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, Level.WARN, found, remedy)


def fail(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, Level.FAIL, found, remedy)
