"""Linux and macOS: what only one of them has is looked up, and the other way is tried here."""

import fcntl
import os
import re
from pathlib import Path
from typing import Final

import pytest

from adapters.file_sync import sync_descriptor, sync_folder
from adapters.sqlite_database import SqliteDatabase
from tests.support.repository import repository_files, text_of

PRODUCT: Final = (
    "scheduling",
    "schemas",
    "ports",
    "adapters",
    "dispatcher",
    "control_api",
    "punctual",
)
LINUX_ALONE: Final = re.compile(
    r"/proc/|/sys/|\bsched_\w+|\bprctl\b|\bprlimit\b|\binotify\b|\bepoll\b|\bsignalfd\b|\beventfd\b"
    r"|\bO_TMPFILE\b|\bO_DIRECT\b|\bmemfd_create\b|\bsplice\b|\bSO_PEERCRED\b|\bpidfd_open\b"
    r"|\bCLOCK_BOOTTIME\b|\badjtimex\b|\bos\.sendfile\b|\brenameat2\b|\bsd_notify\b"
)
# Each with another way for systems that have it not, tried in the tests of its module.
WITH_ANOTHER_WAY: Final = {
    "adapters/clock_fixed.py": {"CLOCK_BOOTTIME"},
    "adapters/kernel_clock.py": {"adjtimex"},
    "punctual/port_owner.py": {"/proc/"},
}


def test_product_calls_nothing_that_linux_alone_has_without_another_way() -> None:
    found: dict[str, set[str]] = {}
    for path in repository_files():
        if path.parts[0] in PRODUCT and path.suffix == ".py":
            words = set(LINUX_ALONE.findall(text_of(path) or ""))
            if words:
                found[str(path)] = words
    assert found == WITH_ANOTHER_WAY


@pytest.fixture
def descriptor(tmp_path: Path) -> int:
    return os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR, 0o600)


def test_sync_asks_the_drive_where_the_system_can(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: pytest.fail("fsync is not enough"))
    sync_descriptor(descriptor, full_sync=51, control=lambda *call: asked.append(call))
    assert asked == [(descriptor, 51)]
    os.close(descriptor)


def test_sync_where_the_drive_cannot_be_asked_is_the_ordinary_one(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_call: int) -> None:
        raise OSError(45, "not supported")

    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    sync_descriptor(descriptor, full_sync=51, control=refuse)
    sync_descriptor(descriptor, full_sync=None, control=refuse)
    assert synced == [descriptor, descriptor]
    os.close(descriptor)


def test_sync_of_this_machine_takes_files_and_folders(descriptor: int, tmp_path: Path) -> None:
    assert hasattr(fcntl, "fcntl")
    sync_descriptor(descriptor)
    sync_folder(tmp_path)
    os.close(descriptor)


def test_store_asks_the_drive_too(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "store.db")
    with database.read() as connection:
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    database.close()
