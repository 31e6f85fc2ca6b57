"""A service on a folder of its own, its backups, and archives that no program of ours writes."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from punctual.backups.archive import opened_archive
from punctual.backups.backup import Backup, back_up
from punctual.backups.contents import CONTENTS_NAME
from punctual.backups.restore import Restored, RestoreOptions, restore
from punctual.data_folder import STORE_FILE
from tests.support.command_line import CommandLine
from tests.support.service import Service


def take_backup(data: Path, file: Path, *, at_us: int, force: bool = False) -> Backup:
    """A backup at a time of the test's own."""
    return back_up(data, file, force=force, clock_us=lambda: at_us, advance=lambda part: None)


def put_back(
    file: Path, data: Path, *, at_us: int, force: bool = False, pause_note: str | None = None
) -> Restored:
    """A restore at a time of the test's own."""
    options = RestoreOptions(file=file, data=data, force=force, pause_note=pause_note)
    return restore(options, clock_us=lambda: at_us, actor="test", advance=lambda part: None)


def service_on(data: Path, now_us: int) -> CommandLine:
    """A service, and commands beside it, on a folder that was restored."""
    (data / "store.db").symlink_to(STORE_FILE)
    return CommandLine(Service(data, now_us))


def files_of(archive: Path) -> dict[str, bytes]:
    """Everything in an archive, its list of contents included."""
    with zipfile.ZipFile(archive) as found:
        return {name: found.read(name) for name in found.namelist()}


def contents_of(archive: Path) -> dict[str, Any]:
    """The list of contents of a good archive."""
    with opened_archive(archive) as found:
        return found.contents.model_dump()


def rewrite(archive: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write an archive again after a change of its files, by zipfile alone."""
    files = files_of(archive)
    change(files)
    write_zip(archive, files)


def write_zip(archive: Path, files: dict[str, bytes]) -> None:
    """Any files under any names."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in files.items():
            target.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


def relist(files: dict[str, bytes], change: Callable[[dict[str, Any]], None]) -> None:
    """Change the list of contents of an archive's files."""
    contents = json.loads(files[CONTENTS_NAME])
    change(contents)
    files[CONTENTS_NAME] = json.dumps(contents).encode()


def add_member(files: dict[str, bytes], name: str, text: bytes) -> None:
    """One more file, listed as it should be."""
    files[name] = text
    entry = {"name": name, "size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    relist(files, lambda contents: contents["members"].append(entry))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
