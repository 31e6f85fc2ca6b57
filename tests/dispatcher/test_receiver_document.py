"""The ten lines of docs/receiver.md, run as they stand."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

from dispatcher.http_delivery import HttpDelivery
from tests.dispatcher.targets import PREVIOUS_SECRET, SECRET, a_delivery

DOCUMENT = Path(__file__).parents[2] / "docs" / "receiver.md"


def _code() -> str:
    return DOCUMENT.read_text().split("```python\n")[1].split("```")[0]


@contextmanager
def _receiver(folder: Path) -> Iterator[tuple[str, IO[str]]]:
    """The documented receiver in a process of its own, on a free port: endpoint and output."""
    port = _free_port()
    script = folder / "receiver.py"
    script.write_text(_code().replace("8123", str(port)))
    environment = os.environ | {"PUNCTUAL_SECRET": SECRET}
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=folder,
    )
    try:
        assert process.stdout is not None
        with process.stdout as output:
            _wait_until_open(port)
            yield f"http://127.0.0.1:{port}/", output
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_until_open(port: int) -> None:
    for _ in range(500):
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise AssertionError("the documented receiver does not listen")


def _statuses(
    endpoint: str, fires: Sequence[tuple[str, str, Mapping[str, object]]]
) -> list[int | None]:
    """The statuses of one attempt per (fire key, secret, payload)."""

    async def main() -> list[int | None]:
        async with HttpDelivery(allow_loopback=True) as http:
            deliveries = [
                a_delivery(
                    endpoint,
                    fire_key=key,
                    signing_secrets=(secret,),
                    payload=json.dumps(payload).encode(),
                )
                for key, secret, payload in fires
            ]
            return [(await http.deliver(delivery)).http_status for delivery in deliveries]

    return asyncio.run(main())


def test_document_shows_ten_lines_of_code() -> None:
    assert DOCUMENT.read_text().startswith("# A receiver in ten lines\n")
    assert len(_code().splitlines()) == 10


def test_documented_receiver_runs_a_crontab_entry_as_cron_would(tmp_path: Path) -> None:
    payload = {
        "command": 'cat; echo "$GREETING ${PUNCTUAL_SECRET:-no secret}"',
        "stdin": "first line\nsecond line\n",
        "user": None,
        "environment": {"GREETING": "hello"},
        "line": "* * * * * cat%first line%second line",
    }
    with _receiver(tmp_path) as (endpoint, output):
        assert _statuses(endpoint, [("a", SECRET, payload)]) == [200]
        assert [output.readline() for _ in range(3)] == [
            "first line\n",
            "second line\n",
            "hello no secret\n",
        ]


def test_documented_receiver_runs_each_command_once(tmp_path: Path) -> None:
    with _receiver(tmp_path) as (endpoint, output):
        once = {"command": "echo one > made.txt; echo first"}
        fires: Sequence[tuple[str, str, Mapping[str, object]]] = [
            ("a", SECRET, once),
            ("a", SECRET, once),
            ("b", PREVIOUS_SECRET, once),
        ]
        statuses = _statuses(endpoint, fires)
        assert statuses == [200, 200, None]  # the forged one gets no answer
        assert output.readline() == "first\n"
        assert (tmp_path / "made.txt").read_text() == "one\n"
        assert _statuses(endpoint, [("c", SECRET, {"command": "echo last"})]) == [200]
        # Nothing ran in between: neither the repeat nor the forged one.
        assert output.readline() == "last\n"


@pytest.mark.parametrize("word", ["standardwebhooks", "verify", "127.0.0.1", "fire_key"])
def test_documented_receiver_keeps_its_safeguards(word: str) -> None:
    assert word in _code()
