"""The client of the API: what it sends again, with which key, and what it says of silence."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ports.errors import StoreRefused
from punctual.client import ApiClient, ApiError, connect, connect_running
from punctual.local_files import TOKEN_FILE, ToldServer, tell_server
from punctual.transports import Answer, NetworkTransport, NoAnswer

Reply = Answer | NoAnswer
LOST = NoAnswer("closed", was_sent=True)
AWAY = NoAnswer("Connection refused", was_sent=False)
SLOW = NoAnswer("no answer within 60 s", was_sent=True, timed_out=True)
DONE = Answer(200, {"etag": '"3"'}, b'{"ok": true}')


def busy(retry_after: str = "1") -> Answer:
    body = {"type": "urn:punctual:problem:store_unavailable", "detail": "store: not just now"}
    return Answer(503, {"retry-after": retry_after}, json.dumps(body).encode())


class Scripted:
    """Answers one request after the other as it is told, and remembers them."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str, bytes | None, dict[str, str]]] = []

    def send(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        self.asked.append((method, target, body, dict(headers)))
        reply = self.replies.pop(0)
        if isinstance(reply, NoAnswer):
            raise reply
        return reply

    def close(self) -> None:
        """Nothing to close."""

    @property
    def keys(self) -> list[str | None]:
        return [headers.get("Idempotency-Key") for _, _, _, headers in self.asked]


def client_of(transport: Scripted, sleep: Callable[[float], None] = lambda s: None) -> ApiClient:
    return ApiClient(transport, token="pun_x", place="http://here", sleep=sleep)


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param((LOST, DONE), id="lost"),
        pytest.param((LOST, AWAY, LOST, DONE), id="lost_and_starting_again"),
        pytest.param((busy(), busy("2"), DONE), id="busy"),
        pytest.param((LOST, busy(), DONE), id="lost_then_busy"),
    ],
)
def test_client_sends_a_change_again_with_the_same_key(replies: tuple[Reply, ...]) -> None:
    transport = Scripted(*replies)
    assert client_of(transport).send("POST", "/v1/x", {"a": 1}, etag='"2"') == {"ok": True}
    assert len(transport.asked) == len(replies)
    assert len(set(transport.keys)) == 1
    assert transport.keys[0]
    assert {asked[2] for asked in transport.asked} == {b'{"a": 1}'}
    assert {asked[3]["If-Match"] for asked in transport.asked} == {'"2"'}


def test_client_draws_another_key_for_another_change() -> None:
    transport = Scripted(DONE, DONE)
    client = client_of(transport)
    client.send("POST", "/v1/x")
    client.send("POST", "/v1/x")
    assert len(set(transport.keys)) == 2


def test_client_reads_without_a_key_and_again_where_the_answer_was_lost() -> None:
    transport = Scripted(LOST, DONE)
    assert client_of(transport).read("/v1/x", a=None, b=True, c=["d", "e f"]) == (
        {"ok": True},
        '"3"',
    )
    assert transport.keys == [None, None]
    assert transport.asked[0][1] == "/v1/x?b=true&c=d&c=e+f"


@pytest.mark.parametrize(
    ("method", "replies", "told"),
    [
        pytest.param("POST", (AWAY,), "start it with `punctual up`", id="away"),
        pytest.param("GET", (AWAY,), "start it with `punctual up`", id="away_for_a_read"),
        pytest.param("POST", (LOST,) * 4, "look before you send it again", id="always_lost"),
        pytest.param("POST", (SLOW,), "look before you send it again", id="too_slow"),
        pytest.param("GET", (LOST,) * 4, "start it with `punctual up`", id="read_always_lost"),
    ],
)
def test_client_that_gets_no_answer_says_what_is_known(
    method: str, replies: tuple[Reply, ...], told: str
) -> None:
    transport = Scripted(*replies)
    client = client_of(transport)
    with pytest.raises(StoreRefused, match=r"server: http://here ") as raised:
        client.get("/v1/x") if method == "GET" else client.send(method, "/v1/x")
    assert told in str(raised.value)
    assert transport.replies == []


def test_client_waits_as_long_as_it_is_told_and_gives_up_in_the_end() -> None:
    waited: list[float] = []
    transport = Scripted(busy("1"), busy("2"), busy("1"), busy("1"))
    with pytest.raises(ApiError, match="store: not just now"):
        client_of(transport, waited.append).send("POST", "/v1/x")
    assert waited == [1, 2, 1]


def test_client_told_to_come_back_much_later_does_not_wait() -> None:
    with pytest.raises(ApiError, match="not just now") as raised:
        client_of(Scripted(busy("10"))).get("/v1/x")
    assert (raised.value.status, raised.value.code) == (503, "store_unavailable")


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[]", b'"text"', b"{}", b""],
    ids=["html", "list", "text", "empty", "nothing"],
)
def test_client_answered_by_something_else_says_so(body: bytes) -> None:
    with pytest.raises(ApiError, match="answered 502 without a word of Punctual"):
        client_of(Scripted(Answer(502, {}, body))).get("/v1/x")


def test_client_reads_pages_up_to_the_limit() -> None:
    def page(items: list[int], cursor: str | None) -> Answer:
        return Answer(200, {}, json.dumps({"items": items, "cursor": cursor}).encode())

    transport = Scripted(page([1, 2], "a"), page([3], None))
    assert list(client_of(transport).pages("/v1/x", limit=3)) == [1, 2, 3]
    assert [asked[1] for asked in transport.asked] == [
        "/v1/x?limit=3",
        "/v1/x?cursor=a&limit=1",
    ]


def test_transport_to_a_closed_port_has_sent_nothing() -> None:
    transport = NetworkTransport("http://127.0.0.1:1")
    with pytest.raises(NoAnswer) as raised:
        transport.send("GET", "/", body=None, headers={})
    assert (raised.value.was_sent, raised.value.timed_out) == (False, False)


def test_connect_to_a_server_without_a_token_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUNCTUAL_TOKEN", raising=False)
    (tmp_path / TOKEN_FILE).write_text("pun_local\n")
    tell_server(tmp_path, ToldServer("http://127.0.0.1:1", "abc"))
    for server in ("http://127.0.0.1:2", "http://other.example"):
        with pytest.raises(StoreRefused, match="token: the server wants one"):
            connect(tmp_path, server=server, token=None, clock=None)


def test_connect_running_is_nobody_where_the_word_is_old(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).write_text("pun_local\n")
    assert connect_running(tmp_path, server=None, token=None) is None
    tell_server(tmp_path, ToldServer("http://127.0.0.1:1", "abc"))
    assert connect_running(tmp_path, server=None, token=None) is None


def test_client_of_a_token_that_no_header_can_hold_is_refused() -> None:
    transport: Any = Scripted()
    for token in ("", " pun_x", "pun_é", "pun_x\n"):
        with pytest.raises(StoreRefused, match="PUNCTUAL_TOKEN is none"):
            ApiClient(transport, token=token, place="here")
