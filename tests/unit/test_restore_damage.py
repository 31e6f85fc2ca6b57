"""Archives that are damaged, cut off, or made by somebody else: refused, and nothing is changed."""

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ports.errors import PortError
from scheduling.limits import BACKUP_KEY_BYTES_MAX
from tests.support.backups import (
    add_member,
    files_of,
    put_back,
    relist,
    rewrite,
    take_backup,
    tree,
    write_zip,
)
from tests.support.command_line import command_line
from tests.support.definitions import a_trigger


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A good backup."""
    data = tmp_path / "data"
    data.mkdir()
    found = command_line(data)
    found.service.apply(a_trigger("minutely", payload=b'"a payload"'))
    take_backup(data, tmp_path / "backup.zip", at_us=found.service.now_us)
    found.service.close()
    return tmp_path / "backup.zip"


def key_of(files: dict[str, bytes]) -> str:
    return next(name for name in files if name.startswith("keys/"))


def drop_the_key(files: dict[str, bytes]) -> None:
    del files[key_of(files)]


def flip_a_byte_of_the_store(files: dict[str, bytes]) -> None:
    text = bytearray(files["punctual.db"])
    text[5_000] ^= 1
    files["punctual.db"] = bytes(text)


def lengthen_the_key(files: dict[str, bytes]) -> None:
    files[key_of(files)] += b" "


def forge_another_hash(files: dict[str, bytes]) -> None:
    relist(files, lambda contents: contents["members"][0].update(sha256="0" * 64))


def put_an_unlisted_file(files: dict[str, bytes]) -> None:
    files["keys/unlisted.json"] = b"{}"


def a_member(name: str, text: bytes = b"x") -> Callable[[dict[str, bytes]], None]:
    return lambda files: add_member(files, name, text)


def a_fact(**facts: object) -> Callable[[dict[str, bytes]], None]:
    return lambda files: relist(files, lambda contents: contents.update(facts))


def name_a_file_twice(files: dict[str, bytes]) -> None:
    relist(files, lambda contents: contents["members"].append(contents["members"][0]))


def leave_out_the_store(files: dict[str, bytes]) -> None:
    relist(files, lambda contents: contents.update(members=contents["members"][1:]))


def replace_the_store(files: dict[str, bytes]) -> None:
    """A good hash of a bad file."""
    text = b"SQLite format 3\0" + b"\xff" * 8_176
    relist(files, lambda contents: contents.update(members=contents["members"][1:]))
    add_member(files, "punctual.db", text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(drop_the_key, "it is missing, or has another size", id="member_missing"),
        pytest.param(flip_a_byte_of_the_store, "its SHA-256 is another one", id="byte_flipped"),
        pytest.param(lengthen_the_key, "has another size", id="other_size"),
        pytest.param(forge_another_hash, "its SHA-256 is another one", id="other_hash"),
        pytest.param(put_an_unlisted_file, "contents.json does not name it", id="unlisted"),
        pytest.param(a_member("../evil"), "'../evil' is no file of a data folder", id="parent"),
        pytest.param(a_member("keys/../../evil"), "is no file of a data folder", id="traversal"),
        pytest.param(a_member("/etc/evil"), "'/etc/evil' is no file of a data", id="absolute"),
        pytest.param(a_member("keys/.hidden"), "is no file of a data folder", id="hidden"),
        pytest.param(a_member("keys/a\\..\\b"), "is no file of a data folder", id="backslash"),
        pytest.param(a_member("keys/a/b/c/d"), "is no file of a data folder", id="deep"),
        pytest.param(a_member("notes.txt"), "'notes.txt' is no file of a data folder", id="alien"),
        pytest.param(
            a_member("keys/big.json", b"x" * (BACKUP_KEY_BYTES_MAX + 1)),
            "1048577 bytes; at most 1048576",
            id="key_too_big",
        ),
        pytest.param(name_a_file_twice, "a name stands twice", id="listed_twice"),
        pytest.param(leave_out_the_store, "punctual.db is missing", id="no_store"),
        pytest.param(replace_the_store, "store", id="store_is_none"),
        pytest.param(a_fact(format=2), "has format 2, this program knows up to 1", id="newer"),
        pytest.param(a_fact(taken_at="yesterday"), "taken_at", id="no_time"),
        pytest.param(a_fact(schema_version=0), "schema_version", id="no_schema"),
        pytest.param(a_fact(more=1), "more", id="unknown_fact"),
        pytest.param(lambda files: files.pop("contents.json"), "no contents.json", id="no_list"),
        pytest.param(
            lambda files: files.update({"contents.json": b"not json"}), "JSON", id="list_is_no_json"
        ),
    ],
)
def test_restore_of_a_changed_archive_is_refused_and_nothing_stays(
    file: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    rewrite(file, change)
    with pytest.raises(PortError, match=message.replace("(", r"\(")):
        put_back(file, tmp_path / "new", at_us=0)
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_restore_of_a_truncated_archive_is_refused(file: Path, tmp_path: Path, part: float) -> None:
    text = file.read_bytes()
    file.write_bytes(text[: int(len(text) * part)])
    with pytest.raises(PortError, match="is not a backup, or only a part of one"):
        put_back(file, tmp_path / "new", at_us=0)
    assert not (tmp_path / "new").exists()


def test_restore_of_any_flipped_byte_is_refused_or_harmless(file: Path, tmp_path: Path) -> None:
    """Bytes that no reader looks at may change; what comes out is then still the very same."""
    text = file.read_bytes()
    put_back(file, tmp_path / "good", at_us=0)
    good = tree(tmp_path / "good" / "keys")
    harmless = 0
    for at in range(0, len(text), max(len(text) // 60, 1)):
        file.write_bytes(text[:at] + bytes([text[at] ^ 0x55]) + text[at + 1 :])
        data = tmp_path / f"new-{at}"
        try:
            put_back(file, data, at_us=0)
        except PortError:
            assert not data.exists(), at
        else:
            harmless += 1
            assert tree(data / "keys") == good
    assert harmless < 10


@pytest.mark.parametrize(
    "kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO], ids=["link", "folder", "pipe"]
)
def test_restore_of_a_member_that_is_no_file_is_refused(
    file: Path, tmp_path: Path, kind: int
) -> None:
    def plant(files: dict[str, bytes]) -> None:
        add_member(files, "keys/other.json", b"/etc/passwd")

    rewrite(file, plant)
    with zipfile.ZipFile(file) as found:
        files = {name: found.read(name) for name in found.namelist()}
    with zipfile.ZipFile(file, "w") as target:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            if name == "keys/other.json":
                entry.external_attr = (kind | 0o777) << 16
            target.writestr(entry, text)
    with pytest.raises(PortError, match=r"keys/other\.json: it is a link or a folder, not a file"):
        put_back(file, tmp_path / "new", at_us=0)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("is_admitted", [True, False], ids=["admitted", "hidden"])
def test_restore_of_a_member_that_inflates_beyond_its_list_is_refused(
    file: Path, tmp_path: Path, is_admitted: bool
) -> None:
    """Ten bytes are promised, fifty million come; the zip's own directory admits it, or lies."""
    files = files_of(file)
    entry = {"name": "keys/bomb.json", "size": 10, "sha256": "0" * 64}
    relist(files, lambda contents: contents["members"].append(entry))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in (files | {"keys/bomb.json": bytes(50_000_000)}).items():
            target.writestr(name, text)
        if not is_admitted:
            target.getinfo("keys/bomb.json").file_size = 10
    assert file.stat().st_size < 1_000_000
    with pytest.raises(PortError, match=r"keys/bomb\.json"):
        put_back(file, tmp_path / "new", at_us=0)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text", [b"", b"a letter to a friend", b"SQLite format 3\0" + bytes(4_080)]
)
def test_restore_of_a_file_that_is_no_archive_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "file").write_bytes(text)
    with pytest.raises(PortError, match="is not a backup, or only a part of one"):
        put_back(tmp_path / "file", tmp_path / "new", at_us=0)


def test_restore_of_another_zip_is_refused(tmp_path: Path) -> None:
    write_zip(tmp_path / "other.zip", {"holiday.jpg": b"jpeg"})
    with pytest.raises(PortError, match=r"has no contents.json: name a file that `punctual"):
        put_back(tmp_path / "other.zip", tmp_path / "new", at_us=0)
