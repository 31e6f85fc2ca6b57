"""Putting a whole new set of files in place of an old one: all of it, or none.

From the first rename to the last a mark says that the folder is neither; nothing opens it then.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from adapters.file_sync import sync_folder
from punctual.backups.archive import open_new
from punctual.data_folder import KEYS_FOLDER, STORE_FILE, UNFINISHED_FILE
from punctual.local_files import TOKEN_FILE

# The store comes last: with it the folder is a new one.
_PARTS: Final = (KEYS_FOLDER, TOKEN_FILE, f"{STORE_FILE}-shm", f"{STORE_FILE}-wal", STORE_FILE)


def occupied_by(data: Path) -> list[str]:
    """The files of Punctual that the folder holds."""
    return [name for name in _PARTS if os.path.lexists(data / name)]


def mark_unfinished(data: Path) -> None:
    """From now on nothing opens the folder; a mark that an earlier restore left does as well."""
    with suppress(FileExistsError):
        open_new(data / UNFINISHED_FILE).close()
    sync_folder(data)


def unmark(data: Path) -> None:
    """The folder may be opened again."""
    (data / UNFINISHED_FILE).unlink(missing_ok=True)
    sync_folder(data)


def swap_in(staged: Path, data: Path, *, aside: Path | None) -> None:
    """Move the old files into the new folder `aside`, and the staged ones into `data`.

    An OSError on the way takes back what was moved. The caller marks and unmarks the folder.
    """
    moves = [(data / name, aside / name) for name in occupied_by(data) if aside is not None]
    moves += [(staged / name, data / name) for name in occupied_by(staged)]
    if aside is not None:
        aside.mkdir(mode=0o700)
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            source.rename(target)
            done.append((source, target))
    except OSError:
        for source, target in reversed(done):
            target.rename(source)
        if aside is not None:
            aside.rmdir()
        raise
    for folder in filter(None, (aside, data)):
        sync_folder(folder)


def restrict_modes(folder: Path) -> None:
    """0700 for folders and 0600 for files, the folder itself included."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        path.chmod(0o700 if stat.S_ISDIR(path.lstat().st_mode) else 0o600)
