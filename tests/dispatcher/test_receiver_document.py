"""The code of docs/receiver.md, run as it stands."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import jwt
import pytest

from adapters.attempt_tokens_local import LocalAttemptTokens
from control_api.ownership_text import ownership_text, ownership_url
from dispatcher.envelope import headers
from dispatcher.http_delivery import HttpDelivery
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.limits import (
    OWNERSHIP_BYTES_MAX,
    OWNERSHIP_LAPSES_AFTER_S,
    OWNERSHIP_RECHECK_AFTER_S,
)
from schemas.well_known import web_origin
from tests.dispatcher.targets import PREVIOUS_SECRET, SECRET, a_delivery

DOCUMENT = Path(__file__).parents[2] / "docs" / "receiver.md"


def _code(number: int = 1) -> str:
    return DOCUMENT.read_text().split("```python\n")[number].split("```")[0]


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


@pytest.fixture
def tokens(tmp_path: Path) -> LocalAttemptTokens:
    return LocalAttemptTokens(tmp_path / "keys")


def _attempt_of(headers: Mapping[str, str], key_set: object, origin: str) -> dict[str, object]:
    """The documented function, run as it stands."""
    names: dict[str, Any] = {}
    exec(compile(_code(2), str(DOCUMENT), "exec"), names)
    found: dict[str, object] = names["attempt_of"](headers, key_set, origin)
    return found


def _headers(
    tokens: LocalAttemptTokens, *, ends_in_s: int = 15, **changes: object
) -> dict[str, str]:
    """Those of an attempt that is under way."""
    delivery = a_delivery("https://hook.example/fires", **changes)
    now_us = int(time.time()) * SECOND_US
    token = tokens.mint(
        FireKey.parse(delivery.fire_key),
        delivery.attempt,
        audience=web_origin(delivery.endpoint),
        now_us=now_us - 60 * SECOND_US,
        expires_us=now_us + ends_in_s * SECOND_US,
    )
    return headers(replace(delivery, token=token), b"{}", timestamp_s=int(time.time()))


def _key_set(tokens: LocalAttemptTokens) -> object:
    return json.loads(json.dumps(tokens.public_keys()))


def test_documented_token_check_gives_the_documented_claims(tokens: LocalAttemptTokens) -> None:
    fields = _headers(tokens, attempt=2)
    claims = _attempt_of(fields, _key_set(tokens), "https://hook.example")
    key = FireKey.parse(fields["webhook-id"])
    assert (claims["iss"], claims["aud"]) == ("punctual", "https://hook.example")
    assert claims["sub"] == f"acme/{key.trigger_id}"
    assert claims["jti"] == f"{fields['webhook-id']}#2"
    assert set(claims) == {"iss", "aud", "sub", "jti", "iat", "exp"}
    for claim in claims:
        assert f"`{claim}`" in DOCUMENT.read_text()


def test_documented_token_check_refuses_what_is_not_its_attempt(
    tokens: LocalAttemptTokens, tmp_path: Path
) -> None:
    ours, foreign = _key_set(tokens), LocalAttemptTokens(tmp_path / "foreign")
    origin = "https://hook.example"
    genuine = _headers(tokens)
    mac = jwt.encode({"iss": "punctual", "aud": origin}, "k" * 64, algorithm="HS256")
    refused: dict[str, tuple[dict[str, str], str]] = {
        "another origin": (genuine, "https://other.example"),
        "over": (_headers(tokens, ends_in_s=-30), origin),
        "another installation": (_headers(foreign), origin),
        "another algorithm": ({"authorization": f"Bearer {mac}"}, origin),
        "no token": ({"authorization": "Bearer "}, origin),
    }
    assert _attempt_of(genuine, ours, origin)
    for case, (fields, audience) in refused.items():
        with pytest.raises(jwt.PyJWTError):
            pytest.fail(f"{case}: {_attempt_of(fields, ours, audience)}")


def test_documented_ownership_line_is_the_one_that_is_asked_for() -> None:
    answer = DOCUMENT.read_text().split("$ curl ")[1].split("```")[0]
    assert answer.splitlines() == [
        ownership_url("https://hook.example/"),
        ownership_text("acme", "https://hook.example/"),
    ]
    assert OWNERSHIP_BYTES_MAX == 64 * 1024
    assert (OWNERSHIP_RECHECK_AFTER_S, OWNERSHIP_LAPSES_AFTER_S) == (27 * 86_400, 30 * 86_400)
