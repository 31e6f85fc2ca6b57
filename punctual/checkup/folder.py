"""The data folder: who may read what, and what a restore left behind."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from punctual.checkup.finding import Finding, fail, fine, warn
from punctual.data_folder import KEYS_FOLDER, STORE_FILE, UNFINISHED_FILE
from punctual.local_files import TOKEN_FILE

_OTHERS: Final = 0o077


def check_folder(data: Path) -> Iterator[Finding]:
    """Modes and owners; nothing is opened."""
    yield _folder_of(data)
    yield _store_file_of(data)
    yield _keys_of(data)
    yield _token_of(data)
    left = [path.name for path in data.glob(".restore.*")]
    if left:
        remedy = "remove it: it holds a copy of the keys"
        yield warn("leftovers", f"{left[0]} of a restore that died", remedy)


def _folder_of(data: Path) -> Finding:
    if (data / UNFINISHED_FILE).exists():
        remedy = "run `punctual restore` again, with --force"
        return fail("folder", f"a restore into {data} was cut off half way", remedy)
    status = data.stat()
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        return fail("folder", f"{data} cannot be written by this user", f"chown it: {data}")
    if status.st_uid != os.geteuid():
        remedy = "run doctor and the service as the user that owns it"
        return warn("folder", f"{data} belongs to {_owner_text(data, status.st_uid)}", remedy)
    if status.st_mode & _OTHERS:
        found = f"{data} has mode {_mode_text(status.st_mode)}"
        return warn("folder", found, f"chmod 700 {data}")
    return fine("folder", f"{data}, for its owner alone")


def _store_file_of(data: Path) -> Finding:
    open_ones = _open_to_others(data, (f"{STORE_FILE}{end}" for end in ("", "-wal", "-shm")))
    if open_ones:
        return warn("store file", f"others may read {open_ones[0]}", f"chmod 600 {open_ones[0]}")
    return fine("store file", "for its owner alone")


def _keys_of(data: Path) -> Finding:
    keys = data / KEYS_FOLDER
    if not keys.is_dir():
        return warn(
            "key files",
            f"there is no {keys}",
            "if there were payloads, restore it from a backup; else the service makes it",
        )
    names = (path.relative_to(data).as_posix() for path in (keys, *sorted(keys.rglob("*"))))
    open_ones = _open_to_others(data, names)
    if open_ones:
        more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        return fail("key files", f"others may read {open_ones[0]}{more}", f"chmod -R go-rwx {keys}")
    return fine("key files", "for their owner alone")


def _token_of(data: Path) -> Finding:
    token = data / TOKEN_FILE
    if not token.exists():
        remedy = "`punctual up` makes it at its start; until then give PUNCTUAL_TOKEN"
        return warn("token file", f"there is no {token}", remedy)
    if _open_to_others(data, [TOKEN_FILE]):
        return fail(
            "token file",
            f"others may read {token}, which is allowed everything",
            f"chmod 600 {token}, and revoke it if somebody did",
        )
    return fine("token file", "for its owner alone")


def _open_to_others(data: Path, names: Iterator[str] | list[str]) -> list[Path]:
    found = []
    for name in names:
        path = data / name
        if path.exists() and path.stat().st_mode & _OTHERS:
            found.append(path)
    return found


def _mode_text(mode: int) -> str:
    return f"{stat.S_IMODE(mode):03o}"


def _owner_text(path: Path, uid: int) -> str:
    try:
        return path.owner()
    except KeyError:
        return f"user {uid}"
