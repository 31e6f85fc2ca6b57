"""The machine: Python, SQLite, the clock and the disk."""

import platform
import shutil
import sqlite3
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

from adapters.kernel_clock import KernelClock
from punctual.checkup.finding import Finding, fail, fine, warn
from scheduling.limits import EPSILON_MAX_US

PYTHON_MIN: Final = (3, 11)
SQLITE_MIN: Final = (3, 37, 0)  # STRICT tables
# Before it, two connections that write and fold the log at once may damage the file, very rarely;
# https://www.sqlite.org/wal.html#walresetbug
SQLITE_ADVISED: Final = (3, 51, 3)
_UNUSABLE_OPTIONS: Final = ("THREADSAFE=0", "OMIT_WAL", "OMIT_JSON", "OMIT_FOREIGN_KEY")
_FREE_MIN_BYTES: Final = 64 * 1024 * 1024
_FREE_ADVISED_BYTES: Final = 1024 * 1024 * 1024


def check_python(version: tuple[int, int] = sys.version_info[:2]) -> Finding:
    if version < PYTHON_MIN:
        return fail("python", _dotted(version), f"use Python {_dotted(PYTHON_MIN)} or later")
    return fine("python", platform.python_version())


def check_sqlite(
    version: tuple[int, ...] = sqlite3.sqlite_version_info,
    options: Collection[str] | None = None,
) -> Finding:
    """The library that this Python was built with, by version and by how it was compiled."""
    found = f"SQLite {_dotted(version)}"
    if version < SQLITE_MIN:
        remedy = f"use a Python with SQLite {_dotted(SQLITE_MIN)} or later"
        return fail("sqlite", found, remedy)
    compiled = compile_options() if options is None else options
    unusable = [option for option in _UNUSABLE_OPTIONS if option in compiled]
    if unusable:
        remedy = "use a Python whose SQLite is built with its defaults"
        return fail("sqlite", f"{found}, built with {', '.join(unusable)}", remedy)
    if version < SQLITE_ADVISED:
        return warn(
            "sqlite",
            f"{found}: a rare fault can damage a file that several processes write",
            f"prefer a Python with SQLite {_dotted(SQLITE_ADVISED)} or later; keep backups, and "
            "let one process serve a folder",
        )
    return fine("sqlite", found)


def compile_options() -> frozenset[str]:
    """How the library was built, in its own words."""
    connection = sqlite3.connect(":memory:")
    try:
        return frozenset(row[0] for row in connection.execute("PRAGMA compile_options"))
    finally:
        connection.close()


def check_clock(kernel: KernelClock | None, *, epsilon_us: int) -> Finding:
    """Whether the clock keeps the bound that the service trusts it to keep."""
    bound = f"{epsilon_us / 1_000:g} ms"
    if kernel is None:
        return warn(
            "clock",
            "this system does not tell how wrong its clock may be",
            f"see that its time synchronisation runs and keeps {bound}, or give --epsilon-ms",
        )
    error = f"{kernel.max_error_us / 1_000:,.1f} ms"
    if not kernel.is_synchronised:
        return warn(
            "clock",
            f"the kernel says that its clock is not synchronised (error up to {error})",
            f"run chrony or another NTP client; the service trusts the clock to {bound}",
        )
    if kernel.max_error_us > epsilon_us:
        return warn(
            "clock",
            f"synchronised, but the kernel vouches for {error} only, not for {bound}",
            "let the NTP client ask more often or nearer servers, or raise --epsilon-ms",
        )
    return fine("clock", f"synchronised, error up to {error}")


def check_epsilon(epsilon_us: int, *, owner: str | None) -> Finding:
    """The bound that a running service was started with, or the default one."""
    of = "the default" if owner is None else f"of {owner}"
    found = f"{epsilon_us / 1_000:g} ms ({of})"
    if epsilon_us > EPSILON_MAX_US:
        return fail(
            "epsilon",
            found,
            f"over {EPSILON_MAX_US // 1_000} ms nothing is decided: mend the clock and lower it",
        )
    return fine("epsilon", found)


def check_disk(folder: Path, *, store_bytes: int) -> Finding:
    """Room for the service to go on, and for a backup's copy."""
    free = shutil.disk_usage(folder).free
    found = f"{_size(free)} free, the store has {_size(store_bytes)}"
    if free < _FREE_MIN_BYTES:
        return fail("disk", found, "make room: without any, nothing is decided until there is")
    if free < max(_FREE_ADVISED_BYTES, 2 * store_bytes):
        return warn("disk", found, "make room: the store grows, and a backup needs a copy of it")
    return fine("disk", found)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _size(count: int) -> str:
    return f"{count / (1024 * 1024):,.1f} MiB"
