"""`punctual doctor`: each check when all is well, when it is not, and what it says to do."""

import json
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.clock_fixed import FixedClock
from adapters.kernel_clock import KernelClock
from adapters.sqlite_database import migrations
from punctual.api_host import serving
from punctual.checkup.checkup import CheckupOptions, check_up
from punctual.checkup.finding import Finding, Level
from punctual.checkup.machine import (
    check_clock,
    check_disk,
    check_epsilon,
    check_python,
    check_sqlite,
    compile_options,
)
from punctual.checkup.server import check_port, check_server
from punctual.data_folder import UNFINISHED_FILE, open_data_folder
from punctual.local_files import ToldServer, tell_server
from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_trigger

GOOD = KernelClock(True, 900)


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """A service that runs, in a folder where all is well."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    found = command_line(data)
    found.service.apply(a_trigger("minutely", payload=b'"a payload"'))
    (data / "token").touch(mode=0o600)
    for path in data.glob("store.db*"):
        path.chmod(0o600)
    found.service.start()
    yield found
    found.service.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def examine(punctual: CommandLine, *, check_s: float = 20.0) -> dict[str, Finding]:
    options = CheckupOptions(
        data=punctual.data, host="127.0.0.1", port=free_port(), check_s=check_s
    )
    found = check_up(options, now_us=punctual.service.now_us, kernel=lambda: GOOD)
    return {"port" if each.check.startswith("port") else each.check: each for each in found}


def expect_finding(finding: Finding, level: Level, found: str, remedy: str = "") -> None:
    assert finding.level is level, finding
    assert found in finding.found, finding
    assert remedy in finding.remedy, finding


def test_doctor_of_a_healthy_service_finds_nothing_but_what_the_machine_is(
    punctual: CommandLine,
) -> None:
    found = examine(punctual)
    of_the_machine = {"sqlite", "disk"}
    assert {name: f for name, f in found.items() if f.level is not Level.OK}.keys() <= (
        of_the_machine
    )
    assert [name for name in found if name not in of_the_machine] == [
        *("python", "folder", "store file", "key files", "token file", "store", "schema"),
        *("integrity", "tzdata", "payload keys", "leases", "quarantine", "cursors"),
        *("dead letters", "outbox", "clock", "epsilon", "port"),
    ]
    assert found["leases"].found == "256 partitions decided by one"
    assert found["payload keys"].found == "readable for 1 tenant"
    assert found["schema"].found == f"version {len(migrations())}"


@pytest.mark.parametrize(
    ("path", "mode", "check", "level", "remedy"),
    [
        pytest.param(".", 0o755, "folder", Level.WARN, "chmod 700", id="folder"),
        pytest.param("store.db", 0o644, "store file", Level.WARN, "chmod 600", id="store"),
        pytest.param("keys", 0o750, "key files", Level.FAIL, "chmod -R go-rwx", id="keys"),
        pytest.param("token", 0o640, "token file", Level.FAIL, "chmod 600", id="token"),
    ],
)
def test_doctor_names_what_others_may_read(
    punctual: CommandLine, path: str, mode: int, check: str, level: Level, remedy: str
) -> None:
    (punctual.data / path).chmod(mode)
    finding = examine(punctual)[check]
    assert (finding.level, remedy in finding.remedy) == (level, True)


def test_doctor_names_a_key_that_others_may_read(punctual: CommandLine) -> None:
    (key,) = (punctual.data / "keys").glob("*.json")
    key.chmod(0o644)
    expect_finding(examine(punctual)["key files"], Level.FAIL, f"others may read {key}", "chmod -R")


def test_doctor_without_a_token_says_who_makes_it(punctual: CommandLine) -> None:
    (punctual.data / "token").unlink()
    expect_finding(
        examine(punctual)["token file"], Level.WARN, "there is no", "`punctual up` makes it"
    )


def test_doctor_of_a_folder_without_keys_fails(punctual: CommandLine) -> None:
    shutil.rmtree(punctual.data / "keys")
    found = examine(punctual)
    expect_finding(found["key files"], Level.WARN, "there is no", "restore it from a backup")
    expect_finding(found["payload keys"], Level.FAIL, "all are gone, of 1 tenant", "from a backup")
    assert not (punctual.data / "keys").exists(), "looking makes nothing"


def test_doctor_names_a_tenant_whose_key_does_not_fit(punctual: CommandLine) -> None:
    (key,) = (punctual.data / "keys").glob("*.json")
    key.write_text("{}")
    expect_finding(
        examine(punctual)["payload keys"], Level.FAIL, "cannot be read for acme", "backup"
    )


def test_doctor_of_an_older_schema_leaves_it_and_says_to_take_a_backup(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "punctual.db")) as connection:
        connection.executescript(migrations()[0])
        connection.execute("PRAGMA user_version=1")
    options = CheckupOptions(data=tmp_path, host="127.0.0.1", port=free_port(), check_s=20)
    found = {each.check: each for each in check_up(options, now_us=0, kernel=lambda: GOOD)}
    newest = len(migrations())
    expect_finding(
        found["schema"], Level.WARN, f"version 1; the next start brings it to {newest}", "take"
    )
    assert Level.FAIL not in {each.level for each in found.values()}
    with closing(sqlite3.connect(tmp_path / "punctual.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def test_doctor_of_a_newer_schema_fails_and_looks_no_further(punctual: CommandLine) -> None:
    punctual.plant("PRAGMA user_version=99")
    found = examine(punctual)
    expect_finding(
        found["schema"], Level.FAIL, "version 99, this program knows up to", "upgrade punctual"
    )
    assert "leases" not in found


def test_doctor_of_a_file_that_is_no_store_fails(tmp_path: Path) -> None:
    (tmp_path / "punctual.db").write_text("a letter to a friend, longer than a header" * 9)
    options = CheckupOptions(data=tmp_path, host="127.0.0.1", port=free_port(), check_s=20)
    found = {each.check: each for each in check_up(options, now_us=0, kernel=lambda: GOOD)}
    expect_finding(found["store"], Level.FAIL, "not a punctual store", "restore a backup")


def test_doctor_of_a_damaged_store_fails(punctual: CommandLine) -> None:
    punctual.service.close()
    store = punctual.data / "store.db"
    with closing(sqlite3.connect(store)) as connection:
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'fire'"
        (page,) = connection.execute(root).fetchone()
    text = bytearray(store.read_bytes())
    text[(page - 1) * 4096 : (page - 1) * 4096 + 64] = b"\xff" * 64
    store.write_bytes(text)
    expect_finding(examine(punctual)["integrity"], Level.FAIL, "", "restore a backup")


def test_doctor_ends_a_long_check_of_the_pages(punctual: CommandLine) -> None:
    punctual.plant(
        "INSERT INTO audit_entry (actor, action, at) "
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200000) "
        "SELECT 'test', 'ballast', n FROM n"
    )
    found = examine(punctual, check_s=0.0)
    expect_finding(found["integrity"], Level.WARN, "not checked to the end within 0 s", "--check-s")
    assert found["quarantine"].level is Level.OK, "the checks after it go on"


def test_doctor_names_zone_data_that_is_not_the_pinned_one(punctual: CommandLine) -> None:
    punctual.plant("UPDATE tzdata_pin SET version = '1999a'")
    expect_finding(
        examine(punctual)["tzdata"], Level.FAIL, "pinned to 1999a", "punctual tzdata adopt"
    )


def test_doctor_tells_when_nobody_decides(punctual: CommandLine) -> None:
    punctual.service.stop()
    expect_finding(examine(punctual)["leases"], Level.WARN, "nobody decides", "start `punctual up`")


def test_doctor_tells_what_has_died(punctual: CommandLine) -> None:
    punctual.plant("UPDATE partition_lease SET owner_id = 'dead', expires_at = 1 WHERE "
                   "partition_id < 100")  # fmt: skip
    expect_finding(
        examine(punctual)["leases"], Level.WARN, "one decide 156 partitions, others have died"
    )


def test_doctor_names_quarantined_triggers(punctual: CommandLine) -> None:
    punctual.plant("UPDATE trigger SET state = 'quarantined'")
    expect_finding(
        examine(punctual)["quarantine"], Level.WARN, "acme/minutely", "punctual why acme/minutely"
    )


def test_doctor_tells_of_cursors_ahead_of_the_clock(punctual: CommandLine) -> None:
    punctual.plant("UPDATE due_index_row SET decided_through = 4102444800000000")
    found = "1 trigger silent until 2100-01-01 00:00:00Z"
    expect_finding(examine(punctual)["cursors"], Level.WARN, found, "the clock is right")


def test_doctor_tells_of_dead_letters_and_of_a_relay_that_lags(punctual: CommandLine) -> None:
    since_us = punctual.service.now_us - 3_725_000_000
    punctual.plant(
        "INSERT INTO dead_letter (event, body, failure_class, owner, first_error, created_at) "
        "VALUES ('e', x'00', 'c', 'o', 'f', ?)",
        since_us,
    )
    punctual.plant("UPDATE outbox SET sent_at = NULL, created_at = ?", since_us)
    found = examine(punctual)
    expect_finding(found["dead letters"], Level.WARN, "1, the oldest 1 h 02 m old", "dead_letter")
    expect_finding(found["outbox"], Level.WARN, "wait, the oldest for 1 h 02 m", "the relay inside")


def test_doctor_tells_of_an_unfinished_restore_and_of_its_leftovers(punctual: CommandLine) -> None:
    (punctual.data / UNFINISHED_FILE).touch()
    (punctual.data / ".restore.abc").mkdir()
    found = examine(punctual)
    expect_finding(found["folder"], Level.FAIL, "was cut off half way", "punctual restore")
    expect_finding(found["leftovers"], Level.WARN, ".restore.abc", "remove it")


@pytest.mark.parametrize(
    ("finding", "level", "found", "remedy"),
    [
        pytest.param(check_python((3, 10)), Level.FAIL, "3.10", "Python 3.11", id="python"),
        pytest.param(
            check_sqlite((3, 36, 0), ()), Level.FAIL, "3.36.0", "3.37.0 or later", id="sqlite"
        ),
        pytest.param(
            check_sqlite((3, 52, 0), {"THREADSAFE=0"}),
            Level.FAIL,
            "built with THREADSAFE=0",
            "its defaults",
            id="sqlite_options",
        ),
        pytest.param(
            check_sqlite((3, 51, 2), ()), Level.WARN, "a rare fault", "3.51.3", id="sqlite_fault"
        ),
        pytest.param(check_sqlite((3, 51, 3), ()), Level.OK, "SQLite 3.51.3", "", id="sqlite_new"),
        pytest.param(
            check_clock(None, epsilon_us=5_000), Level.WARN, "does not tell", "5 ms", id="unknown"
        ),
        pytest.param(
            check_clock(KernelClock(False, 16_000_000), epsilon_us=5_000),
            Level.WARN,
            "not synchronised (error up to 16,000.0 ms)",
            "chrony",
            id="unsynchronised",
        ),
        pytest.param(
            check_clock(KernelClock(True, 5_001), epsilon_us=5_000),
            Level.WARN,
            "vouches for 5.0 ms only",
            "--epsilon-ms",
            id="wider",
        ),
        pytest.param(
            check_clock(KernelClock(True, 5_000), epsilon_us=5_000),
            Level.OK,
            "error up to 5.0 ms",
            "",
            id="good",
        ),
        pytest.param(
            check_epsilon(100_001, owner="one"), Level.FAIL, "(of one)", "100 ms", id="epsilon"
        ),
    ],
)
def test_doctor_of_the_machine_judges_what_it_is_told(
    finding: Finding, level: Level, found: str, remedy: str
) -> None:
    expect_finding(finding, level, found, remedy)


def test_doctor_reads_how_sqlite_was_built() -> None:
    assert any(option.startswith("THREADSAFE=") for option in compile_options())


@pytest.mark.parametrize(
    ("free", "store_bytes", "level"),
    [(10, 0, Level.FAIL), (500 << 20, 0, Level.WARN), (9 << 30, 5 << 30, Level.WARN),
     (9 << 30, 1, Level.OK)],
    ids=["full", "little", "less_than_a_backup", "plenty"],
)  # fmt: skip
def test_doctor_measures_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, store_bytes: int, level: Level
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert check_disk(tmp_path, store_bytes=store_bytes).level is level


def test_doctor_names_a_port_that_somebody_else_has(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        taken.close()
        expect_finding(check_port("127.0.0.1", port, data=tmp_path), Level.OK, "free")
    with socket.create_server(("127.0.0.1", port)):
        finding = check_port("127.0.0.1", port, data=tmp_path)
    expect_finding(finding, Level.WARN, "cannot be had", "--port")


def test_doctor_looks_where_the_folder_says_that_it_is_served(tmp_path: Path) -> None:
    with (
        closing(open_data_folder(tmp_path, create=True)) as folder,
        serving(folder, FixedClock(), host="127.0.0.1", port=0, allow_loopback=False) as server,
    ):
        port = int(server.url.rpartition(":")[2])
        found = check_server(tmp_path, host=None, port=None)
        given = check_server(tmp_path, host=None, port=port)
        elsewhere = check_server(tmp_path, host=None, port=free_port())
    expect_finding(found, Level.OK, f"this folder is served at {server.url}")
    assert found.check == given.check == f"port {port}"
    expect_finding(given, Level.OK, f"that serves {tmp_path} already answers on 127.0.0.1")
    expect_finding(elsewhere, Level.OK, "free on 127.0.0.1")


def test_doctor_after_the_folder_s_server_has_died_looks_at_its_port(tmp_path: Path) -> None:
    port = free_port()
    tell_server(tmp_path, ToldServer(f"http://127.0.0.1:{port}", "dead"))
    finding = check_server(tmp_path, host=None, port=None)
    assert finding == Finding(f"port {port}", Level.OK, "free on 127.0.0.1")


def test_doctor_tells_of_a_server_that_is_silent(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        tell_server(tmp_path, ToldServer(url, "hangs"))
        finding = check_server(tmp_path, host=None, port=None)
    expect_finding(finding, Level.WARN, f"the folder's server at {url} does not answer", "its log")


def test_doctor_of_a_copy_takes_its_leases_for_nobody_s(
    punctual: CommandLine, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(punctual.data, copy, symlinks=True)
    options = CheckupOptions(data=copy, host="127.0.0.1", port=free_port(), check_s=20)
    now_us = punctual.service.now_us
    leases = next(
        each
        for each in check_up(options, now_us=now_us, kernel=lambda: GOOD)
        if each.check == "leases"
    )
    assert leases == Finding(
        "leases",
        Level.WARN,
        "nobody has this store open: one died, or works on the folder that this one is a copy of",
        "if this is a copy, end that one first; then start `punctual up`: it decides in 7 s",
    )


def test_doctor_command_ends_with_1_when_a_check_fails_and_0_when_none_does(
    punctual: CommandLine,
) -> None:
    port = ("--port", str(free_port()))
    result = punctual("doctor", *port)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].split() == ["check", "found", "remedy"]
    assert "Nothing failed; look at" in result.stderr or "checks are fine" in result.stderr
    (punctual.data / "keys").chmod(0o755)
    result = punctual("doctor", *port)
    assert result.exit_code == 1
    assert "checks failed." in result.stderr


def test_doctor_command_answers_in_json(punctual: CommandLine) -> None:
    answer = punctual.json("doctor", "--port", str(free_port()))
    assert answer["ok"] is True
    by_name = {each["check"]: each for each in answer["checks"]}
    assert by_name["leases"] == {
        "check": "leases",
        "level": "OK",
        "found": "256 partitions decided by one",
        "remedy": "",
    }


def test_doctor_command_without_a_store_fails(punctual: CommandLine, tmp_path: Path) -> None:
    arguments = ("doctor", "--data", str(tmp_path / "nothing"), "--json")
    result = punctual.bare(*arguments, "--port", str(free_port()))
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["ok"] is False
    assert [each["check"] for each in answer["checks"] if each["level"] == "FAIL"] == ["store"]
    assert not (tmp_path / "nothing").exists()
