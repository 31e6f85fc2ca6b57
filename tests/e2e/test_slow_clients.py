"""Clients that send a head without end, or a byte of it now and then, against a real server."""

import http.client
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.clock_fixed import FixedClock
from punctual import bounded_http
from punctual.api_host import ApiServer, serving
from punctual.data_folder import open_data_folder
from scheduling.limits import API_CONNECTIONS_MAX, HEAD_BYTES_MAX

Connect = Callable[[], socket.socket]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    monkeypatch.setattr(bounded_http, "HEAD_S_MAX", 0.3)
    folder = open_data_folder(tmp_path / "data", create=True)
    with serving(
        folder, FixedClock(epsilon_us=0), host="127.0.0.1", port=0, allow_loopback=True
    ) as found:
        yield found
    folder.close()


@pytest.fixture
def connect(server: ApiServer) -> Iterator[Connect]:
    opened: list[socket.socket] = []

    def one() -> socket.socket:
        host, _, port = server.url.removeprefix("http://").partition(":")
        opened.append(socket.create_connection((host, int(port)), timeout=10))
        return opened[-1]

    yield one
    for each in opened:
        each.close()


def _all_of(connection: socket.socket) -> bytes:
    """What the server says until it ends the connection."""
    found = b""
    while part := connection.recv(65_536):
        found += part
    return found


def test_head_that_never_ends_is_cut(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    assert _all_of(connection).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_connection_that_says_nothing_is_cut(connect: Connect) -> None:
    assert _all_of(connect()).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("beginning", [b"\r\n", b"G", b"GET / HTTP/1.1\r\n"])
def test_second_head_that_never_ends_is_cut(connect: Connect, beginning: bytes) -> None:
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
    connection.sendall(beginning)
    assert b"HTTP/1.1 408 " in _all_of(connection)


@pytest.mark.parametrize("name", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\nX"])
def test_head_that_is_too_long_is_cut(connect: Connect, name: bytes) -> None:
    connection = connect()
    connection.sendall(name)
    answer = b""
    try:
        for _ in range(64):
            connection.sendall(b"x" * (HEAD_BYTES_MAX // 16))
        answer = _all_of(connection)
    except ConnectionError:
        return  # it was ended while we still sent
    assert answer.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))


def test_many_headers_are_too_long_together(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    try:
        for number in range(20_000):
            connection.sendall(b"X-%d: y\r\n" % number)
        answer = _all_of(connection)
    except ConnectionError:
        return
    assert answer.startswith(b"HTTP/1.1 431 ")


def test_whole_requests_on_one_connection_are_served(server: ApiServer) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    for _ in range(3):
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        assert (answer.status, b"alive" in answer.read()) == (200, True)
    connection.close()


def test_what_is_no_http_is_refused(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00 TLS to a plain port\r\n\r\n")
    assert _all_of(connection).startswith(b"HTTP/1.1 400 ")


def test_head_of_an_answer_takes_no_line_of_the_request(connect: Connect) -> None:
    connection = connect()
    connection.sendall(
        b"GET /v1/tenants/a%0d%0aX-Injected:%20yes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    answer = _all_of(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"x-injected" not in answer.lower().split(b"\r\n\r\n")[0]


def test_head_request_has_no_body(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    head, _, body = _all_of(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"allow: GET" in head
    assert body == b""


def test_connections_beyond_the_bound_are_refused_and_the_others_served(connect: Connect) -> None:
    for _ in range(API_CONNECTIONS_MAX):
        connect().sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    last = connect()
    assert _all_of(last).startswith(b"HTTP/1.1 503 ")
