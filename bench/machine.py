"""Facts of the machine that figures depend on, and the cost of making a write durable on it."""

import os
import platform
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_PAGE: Final = b"\x5a" * 4_096
_NO_DISKS: Final = frozenset({"tmpfs", "ramfs"})


def machine_facts() -> dict[str, str]:
    """Processor, memory, system and versions; `load` tells whether others were at work."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{memory_gib:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}, {file_system_of(ROOT)}",
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "load at the start": f"{os.getloadavg()[0]:.1f}",
    }


@contextmanager
def folder_on_disk() -> Iterator[Path]:
    """A folder of its own under build/, beside the project, so that an fsync costs what it costs.

    OSError when that lies in memory.
    """
    parent = ROOT / "build"
    parent.mkdir(exist_ok=True)
    if file_system_of(parent) in _NO_DISKS:
        raise OSError(f"{parent} lies in memory: check the project out on a disk")
    folder = Path(mkdtemp(prefix="bench-", dir=parent))
    try:
        yield folder
    finally:
        rmtree(folder)


def fsync_ms(folder: Path, *, times: int = 50) -> list[float]:
    """Milliseconds of each of so many appends of 4 KiB with their fsync."""
    path = folder / "fsync.probe"
    found: list[float] = []
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            started = time.perf_counter()
            file.write(_PAGE)
            os.fsync(file.fileno())
            found.append((time.perf_counter() - started) * 1_000)
    path.unlink()
    return found


def file_system_of(path: Path) -> str:
    """The kind of file system that a path lies on; `unknown` where the system does not tell."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    found = (line.split()[1:3] for line in mounts.read_text(encoding="utf-8").splitlines())
    over = [(len(place), kind) for place, kind in found if path.resolve().is_relative_to(place)]
    return max(over, default=(0, "unknown"))[1]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
