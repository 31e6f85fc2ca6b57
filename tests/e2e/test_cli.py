"""The installed command as its own process: exit codes, pipes, environment, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_trigger
from tests.support.repository import ROOT

COMMAND: Final = (sys.executable, "-c", "from punctual.cli import main; main()")
WAIT_S: Final = 30


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    found.service.start()
    found.service.advance_to("2026-06-01T09:02:30Z")
    yield found
    found.service.close()


def environment(data: Path, **changes: str) -> dict[str, str]:
    return os.environ | {"PUNCTUAL_DATA": str(data), "PYTHONPATH": str(ROOT)} | changes


def run(data: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(data, **changes),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


def follow(data: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "fires", "--follow", *arguments],
        env=environment(data),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_line(process: "subprocess.Popen[str]") -> str:
    return process.stdout.readline() if process.stdout is not None else ""


def test_cli_process_answers_on_stdout_without_colours(punctual: CommandLine) -> None:
    done = run(punctual.data, "fires", "minutely")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].split() == [
        *("scheduled", "(UTC)", "state", "lane", "late", "tries")
    ]
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(("why", "minutly"), 1, "did you mean minutely?", id="refused"),
        pytest.param(("why",), 2, "Missing argument 'TRIGGER'.", id="usage"),
        pytest.param(("preview", "61 * * * *", "--zone", "UTC"), 1, "minute: '61'", id="preview"),
    ],
)
def test_cli_process_ends_with_its_exit_code_and_one_line(
    punctual: CommandLine, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = run(punctual.data, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert message in done.stderr


def test_cli_process_on_a_file_that_is_no_store_says_so(tmp_path: Path) -> None:
    (tmp_path / "punctual.db").write_bytes(b"not a database " * 100)
    done = run(tmp_path, "triggers")
    assert done.returncode == 1
    assert "the file is not a punctual store" in done.stderr


def test_cli_process_follows_changes_as_json_lines_until_ctrl_c(punctual: CommandLine) -> None:
    process = follow(punctual.data, "--json", "--state", "succeeded")
    told: dict[str, Any] = {}
    try:
        told = json.loads(_first_line_after_a_change(punctual, process))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert (told["trigger"], told["state"]) == ("minutely", "succeeded")
    assert (process.returncode, errors) == (0, "")


def test_cli_process_follow_ends_when_its_reader_goes_away(punctual: CommandLine) -> None:
    process = follow(punctual.data)
    try:
        assert "acme/minutely" in _first_line_after_a_change(punctual, process)
        assert process.stdout is not None
        process.stdout.close()
        _touch_until(punctual, lambda: process.poll() is not None)
    finally:
        process.kill()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


def _first_line_after_a_change(punctual: CommandLine, process: "subprocess.Popen[str]") -> str:
    """Changes a row again and again, dated ever later, until the process tells of it."""
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.append(read_line(process)))
    reader.start()
    _touch_until(punctual, lambda: bool(lines))
    reader.join(WAIT_S)
    assert lines, "the process told of nothing"
    return lines[0]


def _touch_until(punctual: CommandLine, is_done: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not is_done() and time.monotonic() < deadline_s:
        punctual.plant(
            "UPDATE fire SET changed_at = ? WHERE scheduled_instant = "
            "(SELECT max(scheduled_instant) FROM fire)",
            time.time_ns() // 1_000,
        )
        time.sleep(0.1)
