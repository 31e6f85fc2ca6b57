"""Key files: for their owner only, made once however many processes race, there after a power cut.

A new key is written beside its place and linked in: no reader ever sees half a key, and all
processes use the one that came first.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from adapters.file_sync import sync_descriptor, sync_folder
from ports.errors import StoreFull, StoreRefused, StoreUnavailable

_FOLDER_MODE = 0o700


def make_key_folder(folder: Path) -> None:
    """Make the folder if need be, and close it to everyone else."""
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    folder.chmod(_FOLDER_MODE)


def create_key_file(path: Path, text: str) -> None:
    """Create the file with this text and mode 0600, unless there is one: look again afterwards.

    What a process leaves behind that dies in between is named after the file, up to its suffix.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            sync_descriptor(file.fileno())
        # Another process was first, or the key was deleted at this very moment.
        with suppress(FileExistsError, FileNotFoundError):
            path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


@contextmanager
def translated(folder: Path, *, what: str) -> Iterator[None]:
    """StoreRefused where a person has to act, StoreFull without room, else StoreUnavailable."""
    try:
        yield
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise StoreRefused(
            f"{what}: {folder} must be a folder that this user owns ({error.strerror})"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"{what}: {folder}: the disk is full; make room") from error
        raise StoreUnavailable(f"{what}: {folder}: {error.strerror}") from error
