"""Clients that send a body which is refused, against a real server: they read why, every time."""

import asyncio
import http.client
import io
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from adapters.clock_fixed import FixedClock
from control_api import received_body
from punctual import bounded_http
from punctual.api_host import ApiServer, serving
from punctual.data_folder import open_data_folder
from punctual.local_files import read_local_token
from scheduling.limits import HEAD_BYTES_MAX

TIMES: Final = 50
BIG: Final = b"x" * (10 * 1024 * 1024)
PATH: Final = "/v1/tenants/acme"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ApiServer]:
    folder = open_data_folder(tmp_path / "data", create=True)
    with serving(
        folder, FixedClock(epsilon_us=0), host="127.0.0.1", port=0, allow_loopback=True
    ) as found:
        yield found
    folder.close()


@pytest.fixture
def headers(server: ApiServer, tmp_path: Path) -> dict[str, str]:
    token = read_local_token(tmp_path / "data")
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def _opened(server: ApiServer) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def _all_of(connection: socket.socket) -> bytes:
    """What the server says until it ends the connection."""
    found = b""
    while part := connection.recv(65_536):
        found += part
    return found


def _put(server: ApiServer, body: object, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    try:
        connection.request("PUT", PATH, body=body, headers=headers)  # type: ignore[arg-type]
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_client_that_sends_all_before_it_reads_sees_that_a_body_is_too_big(
    server: ApiServer, headers: dict[str, str]
) -> None:
    answers = [_put(server, BIG, headers) for _ in range(TIMES)]
    assert [status for status, _ in answers] == [413] * TIMES
    assert all(b"the body has more than 262,144 bytes" in body for _, body in answers)


def test_body_of_undeclared_length_that_is_too_big_is_refused_as_visibly(
    server: ApiServer, headers: dict[str, str]
) -> None:
    chunks = [BIG[start : start + 65_536] for start in range(0, len(BIG), 65_536)]
    statuses = [_put(server, iter(chunks), headers)[0] for _ in range(TIMES)]
    assert statuses == [413] * TIMES


def test_client_that_reads_while_it_sends_sees_that_a_body_is_too_big(
    server: ApiServer, headers: dict[str, str]
) -> None:
    async def statuses() -> list[int]:
        found = []
        async with aiohttp.ClientSession(headers=headers) as session:
            for _ in range(TIMES):
                async with session.put(server.url + PATH, data=io.BytesIO(BIG)) as answer:
                    found.append(answer.status)
        return found

    assert asyncio.run(statuses()) == [413] * TIMES


def test_client_without_a_token_sees_that_although_it_sends_a_body(server: ApiServer) -> None:
    statuses = [_put(server, BIG, {})[0] for _ in range(TIMES)]
    assert set(statuses) == {401, 429}


def test_client_that_waits_to_be_asked_for_its_body_is_not(
    server: ApiServer, headers: dict[str, str]
) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with _opened(server) as connection:
        connection.sendall(
            f"PUT {PATH} HTTP/1.1\r\nHost: x\r\n{lines}Expect: 100-continue\r\n"
            f"Content-Length: {len(BIG)}\r\n\r\n".encode()
        )
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_client_that_sends_too_slowly_sees_so(
    server: ApiServer, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(received_body, "BODY_S_MAX", 0.05)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with _opened(server) as connection:
        head = f"PUT {PATH} HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: 9\r\n\r\n"
        connection.sendall(head.encode() + b"{")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")
        connection.sendall(b"        ")
        _all_of(connection)


def test_client_that_sends_a_long_head_at_once_sees_that_it_is_too_long(server: ApiServer) -> None:
    head = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Filler: y\r\n" * (HEAD_BYTES_MAX // 4)
    for _ in range(TIMES):
        with _opened(server) as connection:
            connection.sendall(head)
            assert _all_of(connection).startswith(b"HTTP/1.1 431 ")


def test_client_that_speaks_no_http_sees_so_however_much_it_says(server: ApiServer) -> None:
    for _ in range(TIMES):
        with _opened(server) as connection:
            connection.sendall(b"\x16\x03\x01" * 1_000_000)
            assert _all_of(connection).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("beginning", [b"PUT ", b"\x16\x03\x01 \r\n\r\n"], ids=["body", "no HTTP"])
def test_what_follows_a_refusal_is_bounded(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    """Whoever goes on sending is cut."""
    for module in (received_body, bounded_http):
        monkeypatch.setattr(module, "LINGER_BYTES_MAX", 1_000_000)
    head = f"{PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n".encode()
    with _opened(server) as connection:
        connection.sendall(beginning + head)
        with pytest.raises(ConnectionError):
            connection.sendall(bytes(900_000_000))


@pytest.mark.parametrize("beginning", [b"PUT ", b"\x16\x03\x01 \r\n\r\n"], ids=["body", "no HTTP"])
def test_what_follows_a_refusal_is_awaited_for_a_bounded_time(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    for module in (received_body, bounded_http):
        monkeypatch.setattr(module, "LINGER_S_MAX", 0.05)
    head = f"{PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n".encode()
    with _opened(server) as connection:
        connection.sendall(beginning + head)
        assert _all_of(connection).startswith((b"HTTP/1.1 401 ", b"HTTP/1.1 400 "))
