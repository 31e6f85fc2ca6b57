"""A backup: a copy of the store as it is at one moment, then the keys, then proof of both.

In that order: whatever was sealed at that moment finds its key among those copied after it.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.file_sync import sync_folder
from adapters.sqlite_backup import StoreSnapshot, check_sqlite_copy, pinned_snapshot
from ports.errors import StoreRefused
from punctual.backups.archive import open_new, opened_archive, sync_file, write_archive
from punctual.backups.contents import FORMAT, Contents, Member, is_member_name
from punctual.data_folder import KEYS_FOLDER, STORE_FILE
from punctual.local_files import TOKEN_FILE
from punctual.version import __version__
from scheduling.instants import to_text
from scheduling.limits import BACKUP_MEMBERS_MAX

# Parts of the whole at which a step ends, for a progress bar: copied, checked, packed, read back.
_COPIED: Final = 0.35
_CHECKED: Final = 0.5
_PACKED: Final = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A finished one; `size` in bytes."""

    file: Path
    size: int
    contents: Contents


def back_up(
    data: Path,
    file: Path,
    *,
    force: bool,
    clock_us: Callable[[], int],
    advance: Callable[[float], None],
) -> Backup:
    """Write everything that the folder holds of Punctual to one new file, or leave nothing.

    Safe while the service runs. With `force` an existing file is replaced, at the very end.
    StoreRefused, StoreCorrupt and StoreUnavailable say what is wrong; OSError is the disk's.
    """
    _check_places(data, file, force=force)
    with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as name:
        draft = Path(name) / "draft.zip"
        contents = _pack(data, draft, clock_us=clock_us, advance=advance)
        _read_back(draft, contents, advance=advance)
        _publish(draft, file, force=force)
    sync_folder(file.parent)
    advance(1.0)
    return Backup(file=file, size=file.stat().st_size, contents=contents)


def _check_places(data: Path, file: Path, *, force: bool) -> None:
    if not (data / STORE_FILE).exists():
        raise StoreRefused(f"data: there is no store in {data}: name its folder with --data")
    if file.resolve().is_relative_to(data.resolve()):
        raise StoreRefused(f"file: {file} lies in {data} and would be lost with it: name another")
    if not file.parent.is_dir():
        raise StoreRefused(f"file: there is no folder {file.parent}: make it, or name another file")
    if os.path.lexists(file) and (not force or not file.is_file()):
        raise StoreRefused(f"file: {file} exists: name another one, or replace it with --force")


def _pack(
    data: Path, draft: Path, *, clock_us: Callable[[], int], advance: Callable[[float], None]
) -> Contents:
    copy = draft.with_name(STORE_FILE)
    with pinned_snapshot(data / STORE_FILE) as snapshot:
        taken_us = clock_us()
        open_new(copy).close()
        snapshot.copy_to(copy, on_pages=lambda done, total: advance(_COPIED * done / max(total, 1)))
    check_sqlite_copy(copy)
    advance(_CHECKED)
    members = [(STORE_FILE, copy), *_keys_of(data)]
    if len(members) > BACKUP_MEMBERS_MAX:
        raise StoreRefused(f"keys: {len(members):,} files; at most {BACKUP_MEMBERS_MAX:,}")
    tell = _Part(advance, _CHECKED, _PACKED, total=copy.stat().st_size)
    with open_new(draft) as target:
        contents = write_archive(
            target,
            members,
            lambda written: _contents(snapshot, written, taken_us=taken_us),
            taken_us=taken_us,
            on_bytes=tell,
        )
        sync_file(target)
    copy.unlink()
    return contents


def _read_back(draft: Path, contents: Contents, *, advance: Callable[[float], None]) -> None:
    """From the file, as a restore will: only then it is a backup."""
    with opened_archive(draft) as archive:
        archive.check(on_bytes=_Part(advance, _PACKED, 1.0, total=contents.total_bytes))


def _keys_of(data: Path) -> Iterator[tuple[str, Path]]:
    """The credentials: the payload and token keys, and the command line's own token."""
    for path in sorted((data / KEYS_FOLDER).rglob("*")):
        name = path.relative_to(data).as_posix()
        if path.name.startswith(".") or not path.is_file():
            continue
        if not is_member_name(name):
            raise StoreRefused(f"keys: {path} is no key of Punctual: move it out of the folder")
        yield name, path
    if (data / TOKEN_FILE).exists():
        yield TOKEN_FILE, data / TOKEN_FILE


def _contents(snapshot: StoreSnapshot, members: list[Member], *, taken_us: int) -> Contents:
    return Contents(
        format=FORMAT,
        taken_at=to_text(taken_us),
        punctual=__version__,
        schema_version=snapshot.schema_version,
        tzdata=snapshot.tzdata_version,
        members=members,
    )


def _publish(draft: Path, file: Path, *, force: bool) -> None:
    if force:
        draft.replace(file)
        return
    try:
        with suppress(PermissionError):  # a file system without hard links: replace, below
            file.hardlink_to(draft)
            return
    except FileExistsError as error:
        raise StoreRefused(
            f"file: {file} exists by now: name another one, or replace it with --force"
        ) from error
    draft.replace(file)


class _Part:
    """Bytes as a part of the whole, from one mark to another."""

    def __init__(
        self, advance: Callable[[float], None], start: float, end: float, *, total: int
    ) -> None:
        self._advance, self._start, self._length = advance, start, end - start
        self._total, self._done = max(total, 1), 0

    def __call__(self, count: int) -> None:
        self._done += count
        self._advance(self._start + self._length * min(self._done / self._total, 1.0))
