"""Making files survive a power cut, on systems that mean different things by it."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

# On macOS fsync(2) reaches the drive and may stay in its cache; this one asks the drive to write.
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)


def sync_descriptor(
    descriptor: int,
    *,
    full_sync: int | None = _FULL_SYNC,
    control: Callable[[int, int], Any] = fcntl.fcntl,
) -> None:
    """What was written to it is on the medium when this returns. OSError of the disk."""
    if full_sync is not None:
        try:
            control(descriptor, full_sync)
            return
        except OSError:  # a network's file system, or a folder on some of them
            pass
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """A new name, or its absence, survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)
