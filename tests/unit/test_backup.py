"""`punctual backup`: what is in the file, who may read it, and what is refused."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sqlite_backup import pinned_snapshot
from adapters.sqlite_database import migrations
from ports.errors import SchemaTooNew, StoreCorrupt, StoreRefused
from punctual.backups.archive import opened_archive
from punctual.version import __version__
from scheduling import tzdata_version
from scheduling.instants import to_text
from tests.support.backups import contents_of, files_of, take_backup
from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """A folder with a store, a key and a token, and a trigger with a payload."""
    data = tmp_path / "data"
    data.mkdir()
    found = command_line(data)
    found.service.apply(a_trigger("minutely", payload=b'{"of": "minutely"}'))
    (data / "token").write_text("pun_of-the-command-line")
    yield found
    found.service.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.zip"


def rows_in(store: bytes, folder: Path, statement: str) -> list[tuple[object, ...]]:
    copy = folder / "copy.db"
    copy.write_bytes(store)
    with closing(sqlite3.connect(copy)) as connection:
        return connection.execute(statement).fetchall()


def test_backup_holds_store_keys_and_token_with_versions(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    take_backup(punctual.data, file, at_us=punctual.service.now_us)
    keys = {f"keys/{path.name}": path.read_bytes() for path in (punctual.data / "keys").iterdir()}
    files = files_of(file)
    assert keys
    assert sorted(files) == sorted(["contents.json", "punctual.db", "token", *keys])
    assert {name: files[name] for name in keys} == keys
    assert files["token"] == b"pun_of-the-command-line"
    named = rows_in(files["punctual.db"], tmp_path, "SELECT name FROM trigger")
    assert named == [("minutely",)]
    contents = contents_of(file)
    assert contents["taken_at"] == to_text(punctual.service.now_us)
    assert contents["punctual"] == __version__
    assert contents["schema_version"] == len(migrations())
    assert contents["tzdata"] == tzdata_version()
    assert {each["name"]: each["size"] for each in contents["members"]} == {
        name: len(text) for name, text in files.items() if name != "contents.json"
    }


def test_backup_is_readable_by_its_owner_alone_and_leaves_nothing_beside_it(
    punctual: CommandLine, file: Path
) -> None:
    before = os.umask(0)
    try:
        take_backup(punctual.data, file, at_us=punctual.service.now_us)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == ["backup.zip", "data"]


def test_backup_shows_one_moment_while_another_connection_writes(
    punctual: CommandLine, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    committed: list[int] = []

    def write_more(_done: int, _total: int) -> None:
        punctual.plant(
            "INSERT INTO audit_entry (actor, action, at) VALUES ('test', 'meanwhile', 0)"
        )
        committed.append(1)

    punctual.plant("CREATE TABLE ballast AS SELECT zeroblob(40000000) AS bytes")
    with pinned_snapshot(punctual.data / "punctual.db") as snapshot:
        write_more(0, 0)
        snapshot.copy_to(copy, on_pages=write_more)
    assert len(committed) > 3, "it was written to between the steps"
    assert len(committed) < 50, "the copy did not start over"
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = connection.execute("SELECT count(*) FROM audit_entry WHERE action = 'meanwhile'")
        assert found.fetchone() == (0,)


def test_backup_command_says_what_it_did_and_is_audited(punctual: CommandLine, file: Path) -> None:
    keys = len(list((punctual.data / "keys").iterdir())) + 1
    result = punctual("backup", str(file), at="2026-06-01T09:00:10Z")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (
        f"Backed up {punctual.data} as of 2026-06-01 09:00:10Z to {file}: "
        f"{file.stat().st_size:,} bytes, "
        f"the store and {keys} files of keys, read back and checked.\n"
    )
    # The command that asks makes the folder's token, which is an act of its own.
    (entry,) = punctual.json("audit", "--action", "backup_taken")
    assert entry["subject"] == "store"
    assert entry["note"] == f"backup.zip, {file.stat().st_size} bytes"


def test_backup_command_answers_in_json(punctual: CommandLine, file: Path) -> None:
    answer = punctual.json("backup", str(file))
    assert answer["file"] == str(file)
    assert answer["bytes"] == file.stat().st_size
    assert answer["members"][0]["name"] == "punctual.db"
    assert answer["schema_version"] == len(migrations())


def test_backup_of_an_older_schema_leaves_the_store_at_it(tmp_path: Path, file: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with closing(sqlite3.connect(data / "punctual.db")) as connection:
        connection.executescript(migrations()[0])
        connection.execute("PRAGMA user_version=1")
    taken = take_backup(data, file, at_us=1_000_000)
    assert taken.contents.schema_version == 1
    with closing(sqlite3.connect(data / "punctual.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("there.zip", "there.zip exists: name another one, or", id="exists"),
        pytest.param("away/b.zip", "there is no folder", id="no_folder"),
        pytest.param("data/b.zip", "would be lost with it", id="inside_the_folder"),
        pytest.param("data/punctual.db", "would be lost with it", id="the_store_itself"),
    ],
)
def test_backup_to_a_wrong_place_is_refused(
    punctual: CommandLine, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "there.zip").write_text("older")
    with pytest.raises(StoreRefused, match=message):
        take_backup(punctual.data, tmp_path / name, at_us=punctual.service.now_us)
    assert (tmp_path / "there.zip").read_text() == "older"


def test_backup_with_force_replaces_a_file_but_not_what_is_none(
    punctual: CommandLine, tmp_path: Path
) -> None:
    there, folder = tmp_path / "there.zip", tmp_path / "folder"
    there.write_text("older")
    folder.mkdir()
    take_backup(punctual.data, there, at_us=punctual.service.now_us, force=True)
    assert "punctual.db" in files_of(there)
    with pytest.raises(StoreRefused, match="folder exists"):
        take_backup(punctual.data, folder, at_us=punctual.service.now_us, force=True)


def test_backup_of_a_folder_without_a_store_is_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(StoreRefused, match="data: there is no store in"):
        take_backup(tmp_path / "nothing", file, at_us=0)
    assert not file.exists()


def test_backup_of_a_newer_store_is_refused(punctual: CommandLine, file: Path) -> None:
    punctual.plant("PRAGMA user_version=99")
    with pytest.raises(SchemaTooNew):
        take_backup(punctual.data, file, at_us=0)
    assert not file.exists()


def test_backup_of_a_damaged_store_is_not_declared_good(
    punctual: CommandLine, tmp_path: Path, file: Path
) -> None:
    punctual.service.close()
    store = tmp_path / "data" / "store.db"
    with closing(sqlite3.connect(store)) as connection:
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'partition_lease'"
        (page,) = connection.execute(root).fetchone()
    text = bytearray(store.read_bytes())
    text[(page - 1) * 4096 : (page - 1) * 4096 + 64] = b"\xff" * 64
    store.write_bytes(text)
    with pytest.raises(StoreCorrupt, match="the copy of the store is damaged"):
        take_backup(punctual.data, file, at_us=0)
    assert not file.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_backup_with_a_stranger_among_the_keys_is_refused(
    punctual: CommandLine, file: Path
) -> None:
    (punctual.data / "keys" / "my notes.txt").write_text("not a key")
    with pytest.raises(StoreRefused, match=r"my notes\.txt is no key of Punctual: move it out"):
        take_backup(punctual.data, file, at_us=0)


def test_backup_takes_keys_in_a_folder_of_their_own_and_leaves_hidden_files(
    punctual: CommandLine, file: Path
) -> None:
    (punctual.data / "keys" / "attempts").mkdir()
    (punctual.data / "keys" / "attempts" / "2026.pem").write_text("a key")
    (punctual.data / "keys" / ".DS_Store").write_text("a file browser's")
    shutil.rmtree(punctual.data / "token", ignore_errors=True)
    take_backup(punctual.data, file, at_us=0)
    with opened_archive(file) as archive:
        names = [member.name for member in archive.contents.members]
    assert "keys/attempts/2026.pem" in names
    assert not any(".DS_Store" in name for name in names)
    assert json.loads(files_of(file)["contents.json"])["format"] == 1
