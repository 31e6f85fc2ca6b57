"""Making the machine refuse: rights that root obeys, and a disk that fills up."""

import ctypes
import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PR_CAPBSET_DROP: Final = 24
_CAP_DAC_OVERRIDE: Final = 1
_CAP_DAC_READ_SEARCH: Final = 2
SMALL_DISK_BYTES: Final = 8 * 1024 * 1024


def obey_file_modes() -> None:
    """In a new process, before its program starts: root is held to file modes like anyone."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl: cannot drop the rights of root")


class SmallDisk:
    """A folder with little room. `fill` takes all of it, `make_room` gives it back."""

    def __init__(self, folder: Path, *, is_mounted: bool) -> None:
        self.folder = folder
        self._is_mounted = is_mounted
        self._limited: list[int] = []

    def fill(self, pid: int, store: Path) -> None:
        """From now on the process `pid` cannot make the store's files any longer."""
        if self._is_mounted:
            _write_until_full(self.folder / "filler")
            return
        # Without the right to mount: the largest file that this one process may write.
        wal_bytes = Path(f"{store}-wal").stat().st_size
        hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (wal_bytes, hard))

    def make_room(self, pid: int) -> None:
        if self._is_mounted:
            (self.folder / "filler").unlink()
            return
        hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def a_small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A real file system of its own where this user may mount one, else a limit on file sizes."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_BYTES}", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and _succeeds(mount)
    try:
        yield SmallDisk(folder, is_mounted=is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _write_until_full(file: Path) -> None:
    for size in (64 * 1024, 4096, 1):
        with file.open("ab", buffering=0) as out:
            try:
                while out.write(b"\0" * size):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
