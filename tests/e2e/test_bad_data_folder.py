"""A data folder, a port or zone data that cannot be used: refused in one line, untouched."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import run_punctual, wait_until
from tests.support.small_rights import obey_file_modes


@pytest.fixture
def file(tmp_path: Path, receiver: HttpReceiver) -> Path:
    triggers = {"tick": a_trigger(payload={"of": "tick"})}
    return write_manifest(tmp_path / "acme.yaml", receiver.url(), triggers)


@pytest.fixture
def used(data: Path, file: Path, start: Start, receiver: HttpReceiver) -> Path:
    """The data folder of a service that ran and ended."""
    process = start("--manifest", file)
    wait_until(lambda: bool(receiver.arrivals), "the first fire arrives")
    assert process.stop() == 0
    return data


def _bytes_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_up_on_a_store_of_a_newer_version_leaves_every_byte_as_it_is(used: Path) -> None:
    with closing(sqlite3.connect(used / "punctual.db")) as connection:
        connection.execute("PRAGMA user_version=99")
    before = _bytes_of(used)
    done = run_punctual("up", "--data", used)
    assert done.returncode == 1
    assert done.stderr.startswith("Not started. the store has schema version 99, this program")
    assert "upgrade punctual, or point it at another data folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert _bytes_of(used) == before


def test_up_on_a_file_that_is_no_store_leaves_it_as_it_is(data: Path) -> None:
    data.mkdir()
    (data / "punctual.db").write_text(
        "a letter to a friend, a little longer than a header is\n" * 9
    )
    before = (data / "punctual.db").read_bytes()
    done = run_punctual("up", "--data", data)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Not started. data: {data}/punctual.db: the file is not a")
    assert (data / "punctual.db").read_bytes() == before


def test_up_with_a_file_as_its_folder_is_a_wrong_command_line(data: Path) -> None:
    data.write_text("not a folder")
    done = run_punctual("up", "--data", data)
    assert done.returncode == 2
    assert "'--data'" in done.stderr
    assert "is a file" in done.stderr
    assert data.read_text() == "not a folder"


@pytest.mark.parametrize("has_store", [False, True], ids=["empty", "with_a_store"])
def test_up_on_a_read_only_folder_is_refused(
    data: Path, file: Path, request: pytest.FixtureRequest, has_store: bool
) -> None:
    if has_store:
        request.getfixturevalue("used")
    else:
        data.mkdir()
    before = _bytes_of(data)
    data.chmod(0o555)
    try:
        done = run_punctual("up", "--data", data, "--manifest", file, prepare=obey_file_modes)
    finally:
        data.chmod(0o700)
    assert done.returncode == 1
    told = f"Not started. data: {data} is read-only: name a folder you can write\n"
    assert done.stderr == told
    assert _bytes_of(data) == before


def test_up_on_a_read_only_store_file_is_refused(used: Path, file: Path) -> None:
    store = used / "punctual.db"
    store.chmod(0o444)
    done = run_punctual("up", "--data", used, "--manifest", file, prepare=obey_file_modes)
    assert done.returncode == 1
    assert done.stderr == f"Not started. data: {store} is read-only: name a folder you can write\n"


def test_up_without_its_keys_says_so_for_each_fire_and_goes_on_with_new_ones(
    used: Path, file: Path, start: Start, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    shutil.rmtree(used / "keys")
    before = len(ledger.rows())
    process = start()
    told = process.wait_for_err("payload_unreadable")
    assert "acme" in told
    assert "apply its manifest again" in told
    wait_until(lambda: len(ledger.rows()) >= before + 3, "it goes on deciding")
    # The line comes before the transaction that ends the fire.
    wait_until(lambda: any(row.cause == "cancelled" for row in ledger.rows()), "it drops a fire")
    assert process.is_running
    dropped = [row for row in ledger.rows() if row.cause == "cancelled"]
    assert {row.detail for row in dropped} == {"the payload key of acme is gone"}
    assert process.stop() == 0

    arrived = len(receiver.arrivals)
    again = start("--manifest", file)
    again.wait_for_out("edited trigger acme/tick")
    wait_until(lambda: len(receiver.arrivals) > arrived, "with the manifest it fires again")
    assert receiver.arrivals[-1].body["payload"] == {"of": "tick"}
