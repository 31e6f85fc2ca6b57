"""Zone data sets from folders and archives: all the usual shapes, and the hostile ones."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from punctual import zone_sources
from punctual.zone_sources import ZoneSourceRefused, read_zone_source
from scheduling import tzdata_version, zone_names
from scheduling.limits import ZONE_FILE_BYTES_MAX
from tests.support.zone_files import pinned_file, write_package

BERLIN = pinned_file("Europe/Berlin")
Members = dict[str, bytes]


def a_zip(path: Path, members: Members) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def a_tar(path: Path, members: Members, *, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def a_plain_tar(path: Path, members: Members) -> Path:
    return a_tar(path, members, mode="w")


def a_folder(path: Path, members: Members) -> Path:
    for name, content in members.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


WHEEL = {
    "tzdata/__init__.py": b'__version__ = "2099.26"\nIANA_VERSION = "2099z"\n',
    "tzdata/zones": b"Europe/Berlin\n",
    "tzdata/zoneinfo/__init__.py": b"",
    "tzdata/zoneinfo/Europe/Berlin": BERLIN,
    "tzdata/zoneinfo/tzdata.zi": b"# version 2001a\n",
}
SDIST = {f"tzdata-2099.26/src/{name}": content for name, content in WHEEL.items()}
SYSTEM = {"Europe/Berlin": BERLIN, "tzdata.zi": b"# version 2099z\n# more\n", "iso3166.tab": b"#"}


@pytest.mark.parametrize(
    "make", [a_zip, a_tar, a_plain_tar, a_folder], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("members", [WHEEL, SDIST, SYSTEM], ids=["wheel", "sdist", "system"])
def test_source_gives_its_zones_and_version(
    tmp_path: Path, make: Callable[[Path, Members], Path], members: Members
) -> None:
    found = read_zone_source(make(tmp_path / "source", members))
    assert (found.version, dict(found.files)) == ("2099z", {"Europe/Berlin": BERLIN})


def test_folder_of_the_installed_package_equals_the_pinned_data(tmp_path: Path) -> None:
    found = read_zone_source(write_package(tmp_path / "tzdata", version=tzdata_version()))
    assert (found.version, sorted(found.files)) == (tzdata_version(), sorted(zone_names()))
    assert found.files["Europe/Berlin"] == BERLIN


@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({"Europe/Berlin": BERLIN, "+VERSION": b"2099b\n"}, "2099b"),
        ({"Europe/Berlin": BERLIN, "version": b"2099c"}, "2099c"),
        ({"Europe/Berlin": BERLIN}, "source"),
        ({"Europe/Berlin": BERLIN, "version": b"\xff" * 100}, "source"),
        ({"mine/Europe/Berlin": BERLIN}, "source"),
    ],
    ids=["plus", "lower", "none", "damaged", "nested"],
)
def test_version_is_that_of_the_set_or_its_name(
    tmp_path: Path, members: Members, version: str
) -> None:
    found = read_zone_source(a_folder(tmp_path / "source", members))
    assert (found.version, list(found.files)) == (version, ["Europe/Berlin"])


def test_copies_with_leap_seconds_are_left_alone(tmp_path: Path) -> None:
    members = {"Europe/Berlin": BERLIN, "right/Europe/Berlin": b"TZif2", "posix/UTC": b"TZif2"}
    found = read_zone_source(a_folder(tmp_path / "source", members))
    assert list(found.files) == ["Europe/Berlin"]


@pytest.mark.parametrize("make", [a_zip, a_tar], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "name", ["../../Europe/Berlin", "/etc/Europe/Berlin", "zoneinfo/../../Europe/Berlin"]
)
def test_name_that_leads_outside_is_no_zone_and_writes_nothing(
    tmp_path: Path, make: Callable[[Path, Members], Path], name: str
) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    source = make(inside / "source", {name: BERLIN})
    with pytest.raises(ZoneSourceRefused, match="holds no compiled zone files"):
        read_zone_source(source)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [source]


@pytest.mark.parametrize("make", [a_zip, a_tar, a_folder], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"Europe/Berlin": BERLIN + b"x" * ZONE_FILE_BYTES_MAX}, "larger than any zone file"),
        ({"Europe/Berlin": b"TZif2" + b"\0" * 60}, "no zone file that can be used"),
        ({"Europe/Berlin": BERLIN[:300]}, "no zone file that can be used"),
        ({"europe": b"# Zone\tEurope/Berlin"}, "holds no compiled zone files"),
        ({}, "holds no compiled zone files"),
    ],
    ids=["large", "empty", "short", "sources", "nothing"],
)
def test_source_that_is_no_zone_data_is_refused_with_the_reason(
    tmp_path: Path, make: Callable[[Path, Members], Path], members: Members, complaint: str
) -> None:
    (tmp_path / "source").mkdir() if make is a_folder else None
    with pytest.raises(ZoneSourceRefused, match=complaint):
        read_zone_source(make(tmp_path / "source", members))


@pytest.mark.parametrize(
    "content",
    [b"", b"\x1f\x8b\x08 not gzip after all", b"PK\x03\x04 cut", BERLIN, b"x" * 2_000],
    ids=["empty", "gzip", "zip", "zone", "text"],
)
def test_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "source"
    path.write_bytes(content)
    with pytest.raises(ZoneSourceRefused, match=r"cannot be read|holds no compiled"):
        read_zone_source(path)


def test_archive_cut_short_is_refused(tmp_path: Path) -> None:
    path = a_tar(tmp_path / "source", WHEEL)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ZoneSourceRefused, match="cannot be read"):
        read_zone_source(path)


def test_zip_with_damaged_content_is_refused(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "source", WHEEL)
    content = bytearray(path.read_bytes())
    at = content.index(b"tzdata/zoneinfo/Europe/Berlin") + 60
    content[at : at + 20] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(ZoneSourceRefused, match="cannot be read"):
        read_zone_source(path)


def test_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zone_sources, "ZONE_ARCHIVE_BYTES_MAX", 1_000_000)
    packed = io.BytesIO()
    a_plain = a_plain_tar(tmp_path / "plain", {"zeros": bytes(5_000_000)})
    packed.write(gzip.compress(a_plain.read_bytes()))
    source = tmp_path / "source"
    source.write_bytes(packed.getvalue())
    assert source.stat().st_size < 20_000
    with pytest.raises(ZoneSourceRefused, match="far larger"):
        read_zone_source(source)


def test_zip_reads_no_more_of_an_entry_than_it_may(tmp_path: Path) -> None:
    members = {"zeros": bytes(50_000_000), "Europe/Berlin": BERLIN}
    found = read_zone_source(a_zip(tmp_path / "source", members))
    assert list(found.files) == ["Europe/Berlin"]


@pytest.mark.parametrize("make", [a_zip, a_tar, a_folder], ids=lambda make: make.__name__)
def test_too_many_entries_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, Members], Path]
) -> None:
    monkeypatch.setattr(zone_sources, "ZONE_ARCHIVE_ENTRIES_MAX", 5)
    members = {f"file-{number}": b"" for number in range(6)}
    with pytest.raises(ZoneSourceRefused, match="far larger"):
        read_zone_source(make(tmp_path / "source", members))


def test_links_and_devices_of_an_archive_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "source"
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("zoneinfo/Europe/Paris")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        berlin = tarfile.TarInfo("zoneinfo/Europe/Berlin")
        berlin.size = len(BERLIN)
        archive.addfile(berlin, io.BytesIO(BERLIN))
    assert list(read_zone_source(path).files) == ["Europe/Berlin"]


def test_missing_source_is_refused_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ZoneSourceRefused, match="does not exist; give a folder of compiled"):
        read_zone_source(tmp_path / "nowhere")
