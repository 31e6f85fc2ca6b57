"""The pure rules: no clock, no I/O, no randomness; `now`, seeds and limits are arguments."""

from scheduling.compiler import compile_recurrence
from scheduling.errors import InvalidRecurrence, RuleError
from scheduling.recurrence import Recurrence
from scheduling.zones import tzdata_version, zone_names

__all__ = [
    "InvalidRecurrence",
    "Recurrence",
    "RuleError",
    "compile_recurrence",
    "tzdata_version",
    "zone_names",
]
