"""The edge: what it does with a request before any route sees it."""

import asyncio
from typing import Any, Final

import pytest
from starlette.types import Message

from control_api.edge import OUTCOMES_PATH
from ports.principals import GrantKind
from scheduling.limits import REFUSED_TOKENS_PER_MINUTE
from tests.support.api import TENANT, Api, a_trigger_body, problem

TRIGGER: Final = f"/v1/tenants/{TENANT}/triggers/digest"
# In UTF-16 this sign has the byte of a quote: whoever counts bytes takes the brackets for a text.
HIDDEN: Final = f'["\u2200",{"[" * 900}{"]" * 900},"\u2200"]'


def ask(
    api: Api, method: str, path: str, *messages: Message, by: str | None = "root"
) -> list[Message]:
    """Whatever the application answers to a connection that brings these messages, and closes."""
    left = list(messages)
    sent: list[Message] = []

    async def receive() -> Message:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"50")]
    if by is not None:
        headers.append((b"authorization", f"Bearer {api.tokens[by]}".encode()))
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("192.0.2.1", 50_000),
    }
    asyncio.run(api.client.app(scope, receive, send))  # type: ignore[arg-type]
    return sent


def post(api: Api, path: str, body: bytes) -> Any:
    """Sent as JSON, whatever it is."""
    headers = {
        "Authorization": f"Bearer {api.tokens['root']}",
        "Content-Type": "application/json",
    }
    return api.client.post(path, content=body, headers=headers)


def guess(api: Api, path: str, *, count: int = REFUSED_TOKENS_PER_MINUTE + 1) -> int:
    """Send bad tokens, another each time; the last one's status."""
    method = "POST" if path == OUTCOMES_PATH else "GET"
    status = 0
    for number in range(count):
        headers = {"Authorization": f"Bearer pun_{number}"}
        status = api.client.request(method, path, headers=headers).status_code
    return status


def part(body: bytes) -> Message:
    """A piece of a body that has more of them."""
    return {"type": "http.request", "body": body, "more_body": True}


def test_change_whose_connection_closes_before_its_body_ended_is_not_carried_out(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    for messages in ((), (part(b""),), (part(b'{"note":'),), (part(b'{"note": "by hand"}'),)):
        for act in ("run", "pause"):
            assert ask(api, "POST", f"{TRIGGER}:{act}", *messages) == []
    told = api.json("GET", TRIGGER)
    assert told["state"] == "live"
    assert api.json("GET", "/v1/fires", tenant=TENANT)["items"] == []


def test_change_whose_body_came_whole_is_carried_out(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    last = {"type": "http.request", "body": b'"by hand"}', "more_body": False}
    start, _ = ask(api, "POST", f"{TRIGGER}:pause", part(b'{"note": '), last)
    assert start["status"] == 200
    assert api.json("GET", TRIGGER)["pause_note"] == "by hand"


@pytest.mark.parametrize(
    ("encoding", "text", "says"),
    [
        ("utf-16", "{}", "is not JSON: send it in UTF-8"),
        ("utf-16-le", '{"é": 1}', "is not JSON: send it in UTF-8"),
        ("latin-1", '{"é": 1}', "is not JSON: send it in UTF-8"),
        ("utf-16", HIDDEN, "is not JSON: send it in UTF-8"),
        ("utf-16-le", HIDDEN, "is not JSON"),
        ("utf-16-be", "{}", "is not JSON"),
        ("utf-32-le", "{}", "is not JSON"),
    ],
)
def test_body_in_another_encoding_is_400(api: Api, encoding: str, text: str, says: str) -> None:
    for path in ("/v1/apply", "/v1/preview"):
        answer = post(api, path, text.encode(encoding))
        assert problem(answer) == (400, []), answer.text
        assert answer.json()["detail"].startswith(f"the body {says}")


def test_body_nested_too_deep_is_422(api: Api) -> None:
    answer = post(api, "/v1/apply", ("[" * 41 + "]" * 41).encode())
    assert problem(answer) == (422, [])
    assert answer.json()["type"] == "urn:punctual:problem:too_deep"


def test_bad_tokens_of_an_address_lock_out_no_good_one(api: Api) -> None:
    assert guess(api, "/v1/tenants") == 429
    api.principal("late", GrantKind.READ)
    for name in ("late", "root"):
        assert api.call("GET", "/v1/tenants", by=name).status_code == 200
    assert guess(api, "/v1/tenants", count=1) == 429
    assert api.services.authenticator is not None
    api.services.authenticator.forget()
    assert api.call("GET", "/v1/tenants").status_code == 200


def test_bad_tokens_of_attempts_are_counted_apart(api: Api) -> None:
    assert guess(api, OUTCOMES_PATH) == 429
    assert guess(api, "/v1/tenants", count=1) == 401
    assert guess(api, "/v1/tenants") == 429
