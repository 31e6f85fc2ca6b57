"""Whatever comes in through the API: refused by name, or taken, and never a fault."""

import asyncio
import json
from typing import Any, Final

import pytest

from control_api import received_body
from control_api.app import create_app
from ports.errors import StoreCorrupt, StoreUnavailable
from ports.principals import GrantKind
from scheduling.limits import (
    ANONYMOUS_REQUESTS_PER_MINUTE,
    BODY_BYTES_MAX,
    BODY_DEPTH_MAX,
    REFUSED_ACTS_PER_MINUTE,
    REFUSED_TOKENS_PER_MINUTE,
)
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem

PATH: Final = f"/v1/tenants/{TENANT}/triggers/digest"
JSON: Final = "application/json"


def _send(
    api: Api,
    content: bytes,
    *,
    media_type: str | None = JSON,
    method: str = "PUT",
    path: str = PATH,
) -> Any:
    """A body as it is, byte for byte."""
    headers = {"Authorization": f"Bearer {api.tokens['root']}"}
    if media_type is not None:
        headers["Content-Type"] = media_type
    return api.client.request(method, path, content=content, headers=headers)


def _body(**changes: Any) -> bytes:
    return json.dumps(a_trigger_body(**changes)).encode()


@pytest.mark.parametrize(
    "media_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "json",
        "*/*",
    ],
)
def test_body_that_is_not_declared_as_json_is_415(api: Api, media_type: str | None) -> None:
    assert problem(_send(api, _body(), media_type=media_type)) == (415, [])


@pytest.mark.parametrize(
    "media_type", ["application/json", "Application/JSON", "application/json; charset=utf-8"]
)
def test_body_that_is_declared_as_json_is_read(api: Api, media_type: str) -> None:
    assert _send(api, _body(), media_type=media_type).status_code == 201


_DEEP: Final = b'{"payload":' + b"[" * BODY_DEPTH_MAX + b"]" * BODY_DEPTH_MAX + b"}"
NOT_JSON: Final = {
    "empty_object_cut": b"{",
    "two_values": b"{}{}",
    "comment": b"// {}",
    "single_quotes": b"{'zone': 'UTC'}",
    "key_twice": b'{"zone": "UTC", "zone": "Europe/Paris"}',
    "key_twice_inside": b'{"payload": {"a": 1, "a": 2}}',
    "nan": b'{"payload": NaN}',
    "infinity": b'{"payload": -Infinity}',
    "not_utf8": b'{"zone": "\xff"}',
    "utf16": '{"zone": "UTC"}'.encode("utf-16"),
    "byte_order_mark": b"\xef\xbb\xbf{}",
    "raw_surrogate": b'{"zone": "\xed\xa0\x80"}',
    "control_character": b'{"zone": "a\nb"}',
    "number_of_5000_digits": b'{"max_fires": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON)
def test_body_that_is_not_json_is_400(api: Api, content: bytes) -> None:
    answer = _send(api, content)
    assert problem(answer) == (400, [])
    assert answer.json()["detail"].startswith("the body is not JSON")


@pytest.mark.parametrize("content", [b"[]", b'"x"', b"1", b"null", b"true", b"[[]]"])
def test_body_that_is_no_object_is_422(api: Api, content: bytes) -> None:
    assert problem(_send(api, content)) == (422, ["body"])


@pytest.mark.parametrize(
    "content",
    [_DEEP, b"[" * 100_000, b'{"a":' * 50_000, b'{"payload":' + b'{"a":' * 60 + b"1" + b"}" * 61],
    ids=["just_too_deep", "open_lists", "open_objects", "deep_payload"],
)
def test_deep_json_is_422(api: Api, content: bytes) -> None:
    assert problem(_send(api, content)) == (422, [])


def test_brackets_in_a_text_are_no_depth(api: Api) -> None:
    assert _send(api, _body(payload='"\\"' + "[" * 500)).status_code == 201


@pytest.mark.parametrize("size", [BODY_BYTES_MAX + 1, 10 * 1024 * 1024])
def test_body_that_is_too_big_is_413(api: Api, size: int) -> None:
    answer = _send(api, b" " * size)
    assert problem(answer) == (413, [])
    assert answer.headers["connection"] == "close"
    assert "256" not in answer.json()["detail"] or "262,144" in answer.json()["detail"]


def test_body_without_a_length_is_bounded_as_well(api: Api) -> None:
    headers = {"Authorization": f"Bearer {api.tokens['root']}", "Content-Type": JSON}
    chunks = (b" " * 65_536 for _ in range(200))
    assert problem(api.client.put(PATH, content=chunks, headers=headers)) == (413, [])


def test_big_body_of_a_stranger_is_not_read(api: Api) -> None:
    answer = api.client.put(PATH, content=b" " * 10_000_000, headers={"Content-Type": JSON})
    assert problem(answer) == (401, [])


@pytest.mark.parametrize(
    "text", ["\ud800", "a\udfff", "\udc00\ud800"], ids=["high", "low", "wrong_order"]
)
@pytest.mark.parametrize("key", ["zone", "payload", "schedule", "target"])
def test_half_a_character_is_422(api: Api, key: str, text: str) -> None:
    answer = _send(api, _body(**{key: text}))
    assert problem(answer) == (422, [])
    assert "surrogate" in answer.json()["detail"]


def test_whole_character_outside_the_basic_plane_is_taken(api: Api) -> None:
    assert _send(api, _body(payload={"to": "\U0001f514"})).status_code == 201


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31m", "\u202egnp", "\x7f", "\ufeff"])
def test_odd_characters_in_a_note_are_kept_and_told(api: Api, text: str) -> None:
    api.json("PUT", PATH, a_trigger_body())
    assert api.json("POST", PATH + ":pause", {"note": text})["trigger"]["pause_note"] == text
    assert api.json("GET", "/v1/audit", action="trigger_paused")["items"][0]["note"] == text


@pytest.mark.parametrize(
    "name", ["%00", "a%00b", "a%0Ab", "%0D%0AX-Injected:%20yes", "%ED%A0%80", "%FF", "..%2F..", "é"]
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_odd_characters_in_a_name_are_refused(api: Api, name: str, method: str) -> None:
    body = a_trigger_body() if method == "PUT" else None
    answer = api.call(method, f"/v1/tenants/{TENANT}/triggers/{name}", body)
    assert problem(answer)[0] in (400, 404, 422), answer.text
    assert "x-injected" not in answer.headers
    other = api.call(method, f"/v1/tenants/{name}/triggers/digest", body)
    assert problem(other)[0] in (400, 404, 422), other.text


@pytest.mark.parametrize(
    "path",
    ["/v1/triggers", "/v1/fires", "/v1/audit", "/v1/events", "/v1/backlog", "/v1/grants"],
)
@pytest.mark.parametrize("text", ["\x00", "a\r\nb", "é", "%", "x" * 5_000, "\U0001f514"])
def test_odd_characters_in_a_filter_find_nothing(api: Api, path: str, text: str) -> None:
    for parameter in ("tenant", "target", "subject", "actor", "principal", "trigger", "cursor"):
        params: dict[str, Any] = {parameter: text}
        answer = api.call("GET", path, **params)
        assert answer.status_code in (200, 400, 404, 422), f"{parameter}: {answer.text}"


@pytest.mark.parametrize("number", [10**18, 10**19, -(10**19), 2**63, 10**400, 1e400, 1.5])
@pytest.mark.parametrize("key", ["max_fires", "smear_s"])
def test_huge_numbers_are_422(api: Api, key: str, number: float) -> None:
    content = json.dumps(a_trigger_body(**{key: 0})).replace(
        ": 0", f": {number}".replace("inf", "1e999")
    )
    assert problem(_send(api, content.encode())) == (422, [key])


def test_ten_thousand_parameters_are_told_in_brief(api: Api) -> None:
    query = "&".join(f"{number:x}=" for number in range(10_000))
    answer = api.call("GET", f"/v1/triggers?{query}")
    status, fields = problem(answer)
    assert (status, len(fields)) == (422, 10)
    same = api.call("GET", "/v1/triggers?" + "&".join(["state=live"] * 5_000))
    assert same.status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("If-Match", "1", 400),
        ("If-Match", 'W/"1"', 400),
        ("If-Match", '"1", "2"', 400),
        ("If-Match", '"²"', 400),
        ("If-Match", '"' + "9" * 13 + '"', 400),
        ("If-Match", '"' + "t" + "0" * 500 + '.1"', 400),
        ("If-Match", "", 400),
        ("If-Match", '"a\tb"', 400),
        ("If-Match", '"999999999999"', 412),
        ("If-None-Match", '"1"', 400),
        ("If-None-Match", "", 400),
        ("Idempotency-Key", "x" * 10_000, 400),
        ("Idempotency-Key", "é", 400),
    ],
)
def test_header_that_is_none_of_ours_is_refused(
    api: Api, name: str, value: str, status: int
) -> None:
    api.json("PUT", PATH, a_trigger_body())
    headers = {name: value.encode()}
    answer = api.call("PUT", PATH, a_trigger_body(zone="UTC"), headers=headers)
    assert problem(answer)[0] == status


def test_header_that_comes_twice_is_refused(api: Api) -> None:
    headers = [
        ("Authorization", f"Bearer {api.tokens['root']}"),
        ("If-Match", "*"),
        ("If-Match", '"1"'),
    ]
    answer = api.client.request("PUT", PATH, json=a_trigger_body(), headers=headers)
    assert problem(answer) == (400, ["If-Match"])
    tokens = [("Authorization", f"Bearer {api.tokens['root']}")] * 2
    assert problem(api.client.get("/v1/tenants", headers=tokens)) == (401, [])


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "bearer x y",
        "Basic cm9vdA==",
        "Bearer pun_" + "x" * 9_000,
        "Bearer é",
    ],
)
def test_authorization_that_proves_nothing_is_401(api: Api, header: str) -> None:
    answer = api.client.get("/v1/tenants", headers={b"Authorization": header.encode()})
    assert problem(answer) == (401, [])


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PATCH", "TRACE", "FOO"])
def test_other_methods_are_405_and_say_which(api: Api, method: str) -> None:
    answer = api.call(method, PATH)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, PUT"


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/tenants/", "/v1//tenants", "/V1/tenants", "/v1/tenants/acme/", "/v2/x"],
)
def test_path_that_is_none_is_404(api: Api, path: str) -> None:
    assert problem(api.call("GET", path)) == (404, [])


def test_ids_of_another_tenant_open_nothing(api: Api) -> None:
    trigger = api.json("PUT", PATH, a_trigger_body())
    run = api.json("POST", PATH + ":run")
    api.principal("neighbour", *GrantKind, tenant=OTHER)
    for method, path, body in (
        ("GET", f"/v1/tenants/{OTHER}/triggers/{trigger['trigger_id']}", None),
        ("DELETE", f"/v1/tenants/{OTHER}/triggers/{trigger['trigger_id']}", None),
        ("POST", f"/v1/tenants/{OTHER}/triggers/{trigger['trigger_id']}:pause", {}),
        ("GET", f"/v1/fires/{run['fire_key']}", None),
        ("POST", f"/v1/fires/{run['fire_key']}:cancel", {}),
        ("GET", f"/v1/fires/{run['fire_key'].replace(TENANT, OTHER, 1)}", None),
    ):
        assert problem(api.call(method, path, body, by="neighbour"))[0] == 404, path
    assert api.json("GET", PATH)["state"] == "live"


def test_addresses_without_a_token_are_limited(api: Api) -> None:
    for _ in range(ANONYMOUS_REQUESTS_PER_MINUTE):
        assert api.client.get("/openapi.json").status_code == 200
    answer = api.client.get("/openapi.json")
    assert problem(answer) == (429, [])
    assert answer.headers["retry-after"] == "60"
    assert api.call("GET", "/v1/tenants").status_code == 200


def test_guessing_is_told_off_and_locks_out_nobody(api: Api) -> None:
    api.principal("fresh", GrantKind.READ)
    for number in range(REFUSED_TOKENS_PER_MINUTE + 5):
        answer = api.client.get("/v1/tenants", headers={"Authorization": f"Bearer pun_{number}"})
        wanted = 401 if number < REFUSED_TOKENS_PER_MINUTE else 429
        assert problem(answer) == (wanted, [])
    assert answer.headers["retry-after"] == "60"
    for name in ("root", "fresh"):
        assert api.call("GET", "/v1/tenants", by=name).status_code == 200


def test_refused_acts_are_limited_so_that_the_audit_is_no_flood(api: Api) -> None:
    api.principal("reader", GrantKind.READ)
    statuses = [
        api.call("PUT", PATH, a_trigger_body(), by="reader").status_code
        for _ in range(REFUSED_ACTS_PER_MINUTE + 3)
    ]
    assert statuses == [403] * REFUSED_ACTS_PER_MINUTE + [429] * 3
    assert len(api.audit("privilege_refused")) == REFUSED_ACTS_PER_MINUTE


def test_slow_body_is_408(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received_body, "BODY_S_MAX", 0.01)
    monkeypatch.setattr(received_body, "LINGER_S_MAX", 0.01)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [
            (b"authorization", f"Bearer {api.tokens['root']}".encode()),
            (b"content-type", JSON.encode()),
            (b"content-length", b"2"),
        ],
    }
    asyncio.run(create_app(api.services)(scope, receive, send))
    assert sent[0]["status"] == 408
    assert (b"Connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (StoreUnavailable("busy"), 503, "1"),
        (StoreCorrupt("page 7"), 503, None),
        (RuntimeError("a canary"), 500, None),
    ],
    ids=["busy", "corrupt", "fault"],
)
def test_what_fails_behind_it_is_told_without_its_secrets(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    retry_after: str | None,
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    api.call("GET", "/v1/tenants")
    monkeypatch.setattr(api.services.store.registry, "tenants", failing)
    answer = api.call("GET", "/v1/tenants")
    assert problem(answer) == (status, [])
    assert answer.headers.get("retry-after") == retry_after
    assert "canary" not in answer.text
    assert "page 7" not in answer.text
