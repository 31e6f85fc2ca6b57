"""The commands that read, against a running `punctual up`: over the network, through a restart."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.repository import ROOT
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import ServiceProcess, run_punctual, wait_until

READING: Final = (
    ("triggers",),
    ("triggers", "show", "secondly"),
    ("fires",),
    ("why", "secondly"),
    ("upcoming", "secondly"),
    ("backlog",),
    ("audit",),
    ("events",),
    ("status",),
)
IMPORTED: Final = (
    "import sys; from punctual.cli import cli\n"
    "try: cli.main(sys.argv[1:], prog_name='punctual')\n"
    "except SystemExit as end: assert end.code == 0, end.code\n"
    "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
)


@pytest.fixture
def manifest(tmp_path: Path, receiver: HttpReceiver) -> Path:
    triggers = {"secondly": a_trigger("* * * * * *")}
    return write_manifest(tmp_path / "m.yaml", receiver.url(), triggers)


@pytest.fixture
def up(start: Start, manifest: Path, receiver: HttpReceiver) -> ServiceProcess:
    """A service that fires `acme/secondly`, and has done so."""
    process = start("--manifest", manifest, "--port", 0)
    process.wait_for_out(" acme/secondly")
    wait_until(lambda: bool(receiver.arrivals), "the first fire")
    return process


def answer(*arguments: str | Path) -> Any:
    done = run_punctual(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def imported_by(*arguments: str) -> set[str]:
    """The top-level modules that a command line has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *arguments],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_reading_over_the_network_gives_what_the_service_did(
    up: ServiceProcess, data: Path, receiver: HttpReceiver
) -> None:
    key = receiver.arrivals[0].key
    assert key in [each["fire_key"] for each in answer("fires", "secondly", "--data", data)]
    shown = answer("fires", "show", key, "--data", data)
    assert [attempt["http_status"] for attempt in shown["attempts"]] == [200]
    (trigger,) = answer("triggers", "--data", data)
    assert (trigger["state"], trigger["newest_fire"] is None) == ("live", False)
    assert answer("status", "--data", data)["ready"] is True
    assert answer("why", "secondly", "--data", data)["answers"][0]["about"] == "newest"
    kinds = {each["action"] for each in answer("audit", "--data", data)}
    assert "trigger_created" in kinds
    assert len(answer("upcoming", "secondly", "--count", "3", "--data", data)["items"]) == 3


def test_reading_from_a_running_service_imports_no_server(up: ServiceProcess, data: Path) -> None:
    heavy = {"httpx2", "fastapi", "starlette", "pydantic", "asyncio", "sqlite3", "tink", "rich"}
    assert [each for each in READING if imported_by(*each, "--data", str(data)) & heavy] == []


@pytest.mark.parametrize(
    "arguments", [("fires", "secondly", "--follow"), ("events", "--follow")], ids=" ".join
)
def test_following_goes_on_after_a_restart_on_another_port_and_ends_quietly(
    start: Start, up: ServiceProcess, manifest: Path, data: Path, arguments: tuple[str, ...]
) -> None:
    verb, *rest = arguments
    with ServiceProcess(data, *rest, "--json", verb=verb) as follower:
        wait_until(lambda: bool(follower.out), "the first line")
        assert up.stop() == 0
        follower.wait_for_err("waiting)")
        again = start("--manifest", manifest, "--port", 0)
        again.wait_for_out("API: ")
        follower.wait_for_err("(it answers again)")
        before = len(follower.out)
        wait_until(lambda: len(follower.out) > before, "a line after the restart")
        assert follower.stop(signal.SIGINT) == 0
        lines = [json.loads(line) for line in follower.out]
        assert len(follower.err) == 2
    ids = [
        each["offset"] if "offset" in each else (each["fire_key"], each["changed_at"])
        for each in lines
    ]
    assert len(ids) == len(set(ids))


def test_status_of_a_service_that_has_ended_is_exit_code_one(
    up: ServiceProcess, data: Path
) -> None:
    up.stop()
    done = run_punctual("status", "--data", data)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nobody serves" in done.stderr


def test_why_without_a_running_decider_says_that_nobody_decides(
    up: ServiceProcess, data: Path
) -> None:
    up.stop()
    (_, ahead) = answer("why", "secondly", "--data", data)["answers"]
    assert ahead["sentence"].endswith("; nothing is running now: start `punctual up`.")
