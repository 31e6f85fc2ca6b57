"""The edge: what it does with a request before any route sees it."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from control_api.app import create_app
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


@pytest.mark.parametrize("sign", ["%0A", "%0D", "%00", "%1B", "%7F", "%C2%85"])
@pytest.mark.parametrize(
    ("method", "path", "by"),
    [
        ("POST", OUTCOMES_PATH, "root"),
        ("GET", "/v1/tenants", "root"),
        ("GET", "/healthz", None),
        ("GET", f"{TRIGGER}/why", "root"),
    ],
)
def test_path_with_a_control_character_is_400(
    api: Api, method: str, path: str, by: str | None, sign: str
) -> None:
    answer = api.call(method, path + sign, by=by)
    assert problem(answer) == (400, [])
    assert answer.json()["detail"] == "the path has a control character: leave it out"


@pytest.mark.parametrize("path", ["/v1/tenants/", f"{TRIGGER}/", "/v1/fires/", "/healthz/"])
def test_path_with_a_slash_too_much_is_404_and_no_redirect(api: Api, path: str) -> None:
    headers = {"Authorization": f"Bearer {api.tokens['root']}", "Host": "evil.example"}
    answer = api.client.get(path, headers=headers, follow_redirects=False)
    assert problem(answer) == (404, [])
    assert "evil" not in f"{answer.headers} {answer.text}"


@pytest.fixture
def open_api(api: Api) -> Iterator[TestClient]:
    """The API without an authenticator, as on loopback with --auth none."""
    services = replace(api.services, authenticator=None)
    with TestClient(create_app(services), base_url="http://127.0.0.1:8400") as client:
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Origin": "http://localhost@evil.example:80"},
        {"Origin": "http://[::1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:8400", "Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_page_of_another_site_gets_nothing_of_a_server_without_tokens(
    api: Api, open_api: TestClient, headers: dict[str, str]
) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    for method, path in (("POST", f"{TRIGGER}:run"), ("GET", "/v1/tenants")):
        answer = open_api.request(method, path, headers=headers)
        assert problem(answer) == (403, [])
        assert answer.json()["type"] == "urn:punctual:problem:wrong_origin"
    assert api.json("GET", "/v1/fires", tenant=TENANT)["items"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1:8400", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://[::1]:8400"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_caller_on_this_machine_is_served_without_tokens(
    open_api: TestClient, headers: dict[str, str]
) -> None:
    assert open_api.get("/v1/tenants", headers=headers).status_code == 200


def test_answer_to_a_token_is_stored_by_no_cache(api: Api) -> None:
    grants = [{"kind": "read"}]
    made = api.call("POST", "/v1/tokens", {"principal": "ci", "grants": grants})
    secret = api.call("GET", f"/v1/tenants/{TENANT}/targets/shop/secret")
    listed = api.call("GET", "/v1/tenants")
    refused = api.call("GET", "/v1/tenants", by=None)
    told = [(each.status_code, each.headers["cache-control"]) for each in (made, listed, refused)]
    assert told == [(201, "no-store"), (200, "no-store"), (401, "no-store")]
    assert secret.headers["cache-control"] == "no-store"
    assert "cache-control" not in api.call("GET", "/openapi.json", by=None).headers
