"""What the kernel knows about the error of its own clock.

Linux tells by adjtimex(2), which needs no right as long as nothing is set. Other systems keep
other structures or none: there nothing is known.
"""

import ctypes
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

_UNSYNCHRONISED: Final = 0x40  # STA_UNSYNC in <sys/timex.h>


class KernelClock(NamedTuple):
    """`max_error_us` bounds how wrong the clock can be; it grows between corrections."""

    is_synchronised: bool
    max_error_us: int


class _Timex(ctypes.Structure):
    """The head of `struct timex`, and room for the rest of it."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 512),
    )


def kernel_clock(
    *, platform: str = sys.platform, load: Callable[[None], Any] = ctypes.CDLL
) -> KernelClock | None:
    """None where the system does not tell."""
    if not platform.startswith("linux"):
        return None
    state = _Timex()
    try:
        answer = load(None).adjtimex(ctypes.byref(state))
    except (OSError, AttributeError):  # a C library without it
        return None
    if answer < 0:
        return None
    return KernelClock(not state.status & _UNSYNCHRONISED, state.maxerror)
