"""Zone data sets of a folder, a wheel, a zip or a tar archive: read into memory, never unpacked.

What comes from outside is bounded while it is read: the entries, each one's bytes, and all of
them together. Names are only ever compared, so none can reach a file elsewhere.
"""

import gzip
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple

from scheduling.limits import (
    ECHO_CHARS_MAX,
    ZONE_ARCHIVE_BYTES_MAX,
    ZONE_ARCHIVE_ENTRIES_MAX,
    ZONE_FILE_BYTES_MAX,
)
from scheduling.zone_data import ZoneData
from scheduling.zones import read_zone, zone_names

_MAGIC: Final = b"TZif"
_VERSION_FILES: Final = frozenset({"__init__.py", "tzdata.zi", "+VERSION", "version"})
_VERSION_TEXTS: Final = (
    re.compile(rb"""^IANA_VERSION\s*=\s*["'](\d{4}[a-z]{1,2})["']""", re.MULTILINE),
    re.compile(rb"\A#\s*version\s+(\d{4}[a-z]{1,2})\b"),
    re.compile(rb"\A(\d{4}[a-z]{1,2})\s*\Z"),
)
_COPIES: Final = frozenset({"posix", "right"})  # of the whole set, the latter with leap seconds
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    RuntimeError,  # a zip that is encrypted, or compressed in a way that Python does not know
)
_KINDS: Final = "a folder of compiled zone files, or a tzdata wheel, zip or tar archive"


class ZoneSourceRefused(ValueError):
    """A source that is no zone data set; the text says why, and what would be one."""


class _Entry(NamedTuple):
    """A file of the source by its path inside, and its first bytes."""

    path: PurePosixPath
    content: bytes


def read_zone_source(source: Path) -> ZoneData:
    """The data set of a folder or an archive; ZoneSourceRefused, or OSError for the file itself.

    Without a version of its own the set is called by the source's name.
    """
    files: dict[str, bytes] = {}
    version, total = "", 0
    try:
        for number, entry in enumerate(_entries(source), 1):
            total += len(entry.content)
            if number > ZONE_ARCHIVE_ENTRIES_MAX or total > ZONE_ARCHIVE_BYTES_MAX:
                raise _refused(source, "is far larger than any zone data set")
            if entry.path.name in _VERSION_FILES:
                version = version or _version(entry.content)
            elif entry.content.startswith(_MAGIC):
                _take(source, entry, files)
    except _UNREADABLE as error:
        raise _refused(source, f"cannot be read: {error}") from error
    if not files:
        reason = "holds no compiled zone files (IANA's own archives are sources: compile them)"
        raise _refused(source, reason)
    return ZoneData(version or source.name, files)


def _take(source: Path, entry: _Entry, files: dict[str, bytes]) -> None:
    name = _zone_name(entry.path)
    if name is None:
        return
    if len(entry.content) > ZONE_FILE_BYTES_MAX:
        raise _refused(source, f"{_echoed(entry.path)} is larger than any zone file")
    try:
        read_zone(entry.content)
    except ValueError as error:
        raise _refused(source, f"{_echoed(entry.path)}: {error}") from error
    files.setdefault(name, entry.content)


def _zone_name(path: PurePosixPath) -> str | None:
    """What follows `zoneinfo`, or the longest end of the path that is a zone's name, or all."""
    parts = path.parts
    if path.is_absolute() or ".." in parts or _COPIES.intersection(parts):
        return None
    if "zoneinfo" in parts:
        parts = parts[len(parts) - parts[::-1].index("zoneinfo") :]
    else:
        ends = (parts[at:] for at in range(len(parts)))
        parts = next((each for each in ends if "/".join(each) in zone_names()), parts)
    return "/".join(parts) or None


def _entries(source: Path) -> Iterator[_Entry]:
    if source.is_dir():
        return _folder_entries(source)
    if not source.exists():
        raise _refused(source, "does not exist")
    if not source.is_file():
        raise _refused(source, "is neither a folder nor a file")
    if source.stat().st_size > ZONE_ARCHIVE_BYTES_MAX:
        raise _refused(source, "is far larger than any zone data set")
    return _zip_entries(source) if zipfile.is_zipfile(source) else _tar_entries(source)


def _folder_entries(folder: Path) -> Iterator[_Entry]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file():
                with path.open("rb") as file:
                    inside = PurePosixPath(path.relative_to(folder).as_posix())
                    yield _Entry(inside, file.read(ZONE_FILE_BYTES_MAX + 1))


def _zip_entries(source: Path) -> Iterator[_Entry]:
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                with archive.open(info) as file:
                    yield _Entry(PurePosixPath(info.filename), file.read(ZONE_FILE_BYTES_MAX + 1))


def _tar_entries(source: Path) -> Iterator[_Entry]:
    with source.open("rb") as raw:
        is_packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream: Any = _Bounded(source, gzip.GzipFile(fileobj=raw) if is_packed else raw)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield _Entry(PurePosixPath(member.name), file.read(ZONE_FILE_BYTES_MAX + 1))


class _Bounded:
    """A stream that refuses to give more than an archive may hold, however small it was packed."""

    def __init__(self, source: Path, stream: IO[bytes] | gzip.GzipFile) -> None:
        self._source = source
        self._stream = stream
        self._left = ZONE_ARCHIVE_BYTES_MAX

    def read(self, size: int) -> bytes:
        found = self._stream.read(min(size, self._left + 1))
        self._left -= len(found)
        if self._left < 0:
            raise _refused(self._source, "is far larger than any zone data set")
        return found


def _version(content: bytes) -> str:
    found = (pattern.search(content) for pattern in _VERSION_TEXTS)
    return next((match[1].decode() for match in found if match), "")


def _echoed(path: PurePosixPath) -> str:
    return ascii(str(path)[-ECHO_CHARS_MAX:])


def _refused(source: Path, reason: str) -> ZoneSourceRefused:
    return ZoneSourceRefused(f"{source}: {reason}; give {_KINDS}")
