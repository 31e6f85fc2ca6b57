"""Whoever waits at a terminal sees that work goes on; a pipe holds nothing of it."""

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from adapters.sqlite_database import SqliteDatabase
from punctual.data_folder import STORE_FILE, open_data_folder

AT_ONCE: Final = "import punctual.progress as p; p.SHOWN_AFTER_S = 0.0; "
RUN: Final = "import sys; from punctual.cli import main; main()"
MANIFEST: Final = """\
tenants:
  acme:
    targets: {hook: {url: "http://127.0.0.1:8089/hook"}}
    triggers: {nightly: {schedule: "0 2 * * *", zone: UTC, target: hook}}
"""


class Done(NamedTuple):
    code: int
    out: str
    terminal: str


def at_terminal(*arguments: object, code: str = AT_ONCE + RUN, **variables: str) -> Done:
    """The command with its stderr on a terminal and its stdout in a pipe."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **variables}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, stdin=theirs, env=environment
    )
    os.close(theirs)
    shown: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(ours, shown))
    reader.start()
    out, _ = process.communicate(timeout=60)
    reader.join(10)
    os.close(ours)
    return Done(process.returncode, out.decode(), b"".join(shown).decode())


def _read_all(terminal: int, shown: list[bytes]) -> None:
    """Until nobody holds its other end."""
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:  # what Linux says at the end
            return
        if not part:  # what macOS says
            return
        shown.append(part)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder, a manifest, a crontab and a backup."""
    open_data_folder(tmp_path / "data", create=True).close()
    (tmp_path / "wanted.yaml").write_text(MANIFEST)
    (tmp_path / "tab").write_text("0 2 * * * /usr/bin/job\n")
    command = ["backup", str(tmp_path / "old.zip"), "--data", str(tmp_path / "data")]
    subprocess.run([sys.executable, "-c", RUN, *command], check=True, capture_output=True)
    return tmp_path


ZONES: Final = Path(str(resources.files("tzdata") / "zoneinfo"))
COMMANDS: Final = {
    "apply": ("tenants put acme --data data", "apply -f wanted.yaml --data data", "Applying"),
    "reading": ("", "apply -f wanted.yaml --dry-run --data data", "Reading"),
    "planning": ("", "apply -f wanted.yaml --dry-run --data data", "Planning"),
    "backup": ("", "backup new.zip --data data", "Backing up"),
    "restore": ("", "restore old.zip --data other", "Restoring"),
    "import": (
        "",
        "import crontab tab --tenant acme --target http://127.0.0.1:8089/hook --zone UTC",
        "Converting",
    ),
    "rebuild": ("", "rebuild due-index --data data", "Rebuilding"),
    "doctor": ("", "doctor --data data", "Checking"),
    "diff": ("apply -f wanted.yaml --data data", f"tzdata diff {ZONES} --data data", "Comparing"),
    "adopt": ("pin", "tzdata adopt --data data", "Adopting"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command_that_may_take_long_shows_that_it_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before, command, label = COMMANDS[name]
    monkeypatch.chdir(folder)
    if before == "pin":
        database = SqliteDatabase(folder / "data" / STORE_FILE)
        with database.write() as connection:
            connection.execute("UPDATE tzdata_pin SET version = '2020a'")
        database.close()
    elif before:
        assert at_terminal(*before.split()).code == 0
    done = at_terminal(*command.split())
    assert done.code in (0, 1), done
    assert label in done.terminal
    assert "\x1b" not in done.out
    assert label not in done.out
    piped = subprocess.run(
        [sys.executable, "-c", AT_ONCE + RUN, *command.split()], capture_output=True, text=True
    )
    assert label not in piped.stderr


class _Slow(BaseHTTPRequestHandler):
    """An API that takes its time to plan."""

    waits_s: float = 0.0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        threading.Event().wait(self.waits_s)
        body = json.dumps({"dry_run": True, "plan": "p", "entries": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(params=[0.0, 2.6], ids=["quick", "slow"])
def server(request: pytest.FixtureRequest) -> Iterator[ThreadingHTTPServer]:
    handler = type("Handler", (_Slow,), {"waits_s": request.param})
    found = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def test_apply_shows_that_it_plans_after_two_seconds_and_not_before(
    folder: Path, server: ThreadingHTTPServer, request: pytest.FixtureRequest
) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    wanted = ("apply", "-f", folder / "wanted.yaml", "--dry-run", "--server", url)
    done = at_terminal(*wanted, code=RUN, PUNCTUAL_TOKEN="pun_x")
    assert done.code == 0, done
    assert done.out == "Everything is as the manifests say: the manifests hold nothing.\n"
    assert ("Planning" in done.terminal) is ("slow" in request.node.name)
