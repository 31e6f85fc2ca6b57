"""The archive itself: a zip that any unzip lists, written once and read with suspicion."""

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from adapters.file_sync import sync_descriptor
from ports.errors import StoreCorrupt, StoreRefused
from punctual.backups.contents import CONTENTS_NAME, Contents, Member, read_contents
from scheduling.instants import from_us
from scheduling.limits import BACKUP_CONTENTS_BYTES_MAX

_CHUNK_BYTES: Final = 1024 * 1024
_ZIP_LEVEL: Final = 1  # a store shrinks to a fifth already, at the speed of a disk
_FILE_MODE: Final = stat.S_IFREG | 0o600
# What zipfile and zlib raise for bytes that are no archive, or not a whole one.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,  # encrypted, or of a kind that this program never writes
    UnicodeDecodeError,
    ValueError,
)

OnBytes = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Archive:
    """An open backup whose list of contents has been believed; its members have not."""

    file: Path
    contents: Contents
    zip: zipfile.ZipFile

    def check(self, *, on_bytes: OnBytes) -> None:
        """Read every member and compare it. StoreCorrupt names the first that differs."""
        for member in self.contents.members:
            for chunk in self._checked_chunks(member):
                on_bytes(len(chunk))

    def extract_to(self, folder: Path, *, on_bytes: OnBytes) -> None:
        """Write every member into an empty folder, 0700 and 0600, compared and synced.

        StoreCorrupt names the first that differs; what was written until then stays.
        """
        for member in self.contents.members:
            path = folder / member.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_new(path) as target:
                for chunk in self._checked_chunks(member):
                    target.write(chunk)
                    on_bytes(len(chunk))
                sync_file(target)

    def _checked_chunks(self, member: Member) -> Iterator[bytes]:
        """At most as many bytes as were promised, whatever the archive would inflate to."""
        digest, left = hashlib.sha256(), member.size
        with _damage_told(self.file, member.name), self.zip.open(member.name) as source:
            while left:
                chunk = source.read(min(left, _CHUNK_BYTES))
                if not chunk:
                    break
                left -= len(chunk)
                digest.update(chunk)
                yield chunk
            if left or source.read(1):
                raise _damaged(self.file, member.name, "it has another size")
        if digest.hexdigest() != member.sha256:
            raise _damaged(self.file, member.name, "its SHA-256 is another one")


@contextmanager
def opened_archive(file: Path) -> Iterator[Archive]:
    """StoreRefused for what is no backup, StoreCorrupt for one that is not whole.

    It must hold the members of its list, regular files all of them, and nothing else.
    """
    with file.open("rb") as source:
        try:
            archive = zipfile.ZipFile(source)
        except _DAMAGE as error:
            raise StoreRefused(
                f"backup: {file} is not a backup, or only a part of one ({error}): "
                "name a whole one that `punctual backup` made"
            ) from error
        with archive:
            yield Archive(file, _contents_of(archive, file), archive)


def write_archive(
    target: BinaryIO,
    members: Iterable[tuple[str, Path]],
    describe: Callable[[list[Member]], Contents],
    *,
    taken_us: int,
    on_bytes: OnBytes,
) -> Contents:
    """Write (name, file) pairs and then the list of them; a file that has gone is left out."""
    written: list[Member] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_ZIP_LEVEL) as archive:
        for name, path in members:
            try:
                source = path.open("rb")
            except FileNotFoundError:  # its tenant's key was deleted just now
                continue
            with source, archive.open(_entry(name, taken_us), "w", force_zip64=True) as out:
                written.append(_copied(source, out.write, name=name, on_bytes=on_bytes))
        contents = describe(written)
        text = contents.model_dump_json(indent=1).encode()
        archive.writestr(_entry(CONTENTS_NAME, taken_us), text)
    return contents


def open_new(path: Path) -> BinaryIO:
    """A file that nobody else can read, and that did not exist before. FileExistsError."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def sync_file(file: BinaryIO) -> None:
    """What was written survives a power cut."""
    file.flush()
    sync_descriptor(file.fileno())


def _copied(
    source: BinaryIO, write: Callable[[bytes], object], *, name: str, on_bytes: OnBytes
) -> Member:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK_BYTES):
        write(chunk)
        digest.update(chunk)
        size += len(chunk)
        on_bytes(len(chunk))
    return Member(name=name, size=size, sha256=digest.hexdigest())


def _entry(name: str, taken_us: int) -> zipfile.ZipInfo:
    at = from_us(taken_us)
    entry = zipfile.ZipInfo(
        name, date_time=(max(at.year, 1980), at.month, at.day, at.hour, at.minute, at.second)
    )
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = _FILE_MODE << 16
    return entry


def _contents_of(archive: zipfile.ZipFile, file: Path) -> Contents:
    entries = {entry.filename: entry for entry in archive.infolist()}
    listing = entries.get(CONTENTS_NAME)
    if listing is None or listing.file_size > BACKUP_CONTENTS_BYTES_MAX:
        raise StoreRefused(
            f"backup: {file} has no {CONTENTS_NAME}: name a file that `punctual backup` made"
        )
    with _damage_told(file, CONTENTS_NAME), archive.open(listing) as source:
        contents = read_contents(source.read(BACKUP_CONTENTS_BYTES_MAX), file=file)
    listed = {member.name: member.size for member in contents.members}
    for entry in archive.infolist():
        _check_entry(entry, listed, file=file)
    if len(entries) != len(archive.infolist()):
        raise _damaged(file, "its list of files", "a name stands twice")
    for name, size in listed.items():
        if name not in entries or entries[name].file_size != size:
            raise _damaged(file, name, "it is missing, or has another size")
    return contents


def _check_entry(entry: zipfile.ZipInfo, listed: dict[str, int], *, file: Path) -> None:
    mode = entry.external_attr >> 16
    if entry.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
        raise _damaged(file, entry.filename, "it is a link or a folder, not a file")
    if entry.filename != CONTENTS_NAME and entry.filename not in listed:
        raise _damaged(file, entry.filename, f"{CONTENTS_NAME} does not name it")


@contextmanager
def _damage_told(file: Path, name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise _damaged(file, name, str(error)) from error


def _damaged(file: Path, name: str, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"backup: {file} is damaged or was changed: {name}: {why}: restore another backup"
    )
