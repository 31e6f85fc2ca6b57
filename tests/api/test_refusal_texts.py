"""What a wrong value is told, on the routes that privilege guards: its field, and the remedy."""

from typing import Any, Final

import pytest

from tests.support.api import TENANT, Api, a_trigger_body, problem

QUOTA: Final = f"/v1/tenants/{TENANT}/quota"
TRIGGER: Final = f"/v1/tenants/{TENANT}/triggers/job"
HOST: Final = "/v1/allowed-hosts/h.example"
READ: Final = [{"kind": "read"}]
A_PRINCIPAL: Final = (
    "write 1 to 128 letters, digits and any of `: @ . _ -`, a letter or a digit first, as in ci or "
    "billing@example.com"
)
A_DURATION: Final = "write a duration with its unit, as in 90s, 15m, 6h, 2d or 1h30m"
A_KIND: Final = "write read, author, policy, operator or auditor"
TEXT: Final = "write text; quote it if it looks like a number"
NUMBER: Final = "write a whole number without quotes or unit"


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "text"),
    [
        ("POST", "/v1/tokens", {"principal": ""}, "principal", A_PRINCIPAL),
        ("POST", "/v1/tokens", {"principal": "a b"}, "principal", A_PRINCIPAL),
        ("POST", "/v1/tokens", {"principal": "x" * 129}, "principal", A_PRINCIPAL),
        ("POST", "/v1/tokens", {"principal": "_a"}, "principal", A_PRINCIPAL),
        ("POST", "/v1/tokens", {"principal": "a\n"}, "principal", A_PRINCIPAL),
        ("POST", "/v1/tokens", {"principal": 7}, "principal", TEXT),
        ("POST", "/v1/tokens", {}, "principal", "missing: add it"),
        ("POST", "/v1/tokens", {"principal": "ci", "grants": {}}, "grants", "write a list"),
        (
            "POST",
            "/v1/tokens",
            {"principal": "ci", "grants": READ * 101},
            "grants",
            "at most 100 entries: split them",
        ),
        (
            "POST",
            "/v1/tokens",
            {"principal": "ci", "grants": [{"kind": "king"}]},
            "grants.0.kind",
            A_KIND,
        ),
        (
            "POST",
            "/v1/tokens",
            {"principal": "ci", "grants": READ, "expires_in": "5s"},
            "expires_in",
            "at least 1m",
        ),
        (
            "POST",
            "/v1/tokens",
            {"principal": "ci", "grants": READ, "expires_in": "soon"},
            "expires_in",
            A_DURATION,
        ),
        ("POST", "/v1/tokens", {"principal": "ci"}, "grants", "give at least one"),
        ("POST", "/v1/tokens/pun_x:revoke", None, "token_id", "send its id"),
        ("PUT", "/v1/principals/a%20b/grants/read", None, "principal", A_PRINCIPAL),
        ("PUT", "/v1/principals/ci/grants/king", None, "kind", A_KIND),
        ("DELETE", "/v1/principals/ci/grants/king", None, "kind", A_KIND),
        ("PUT", QUOTA, {"quota_triggers": 0}, "quota_triggers", "at least 1"),
        ("PUT", QUOTA, {"quota_triggers": "5"}, "quota_triggers", NUMBER),
        ("PUT", QUOTA, {"quota_inflight": 1.5}, "quota_inflight", NUMBER),
        ("PUT", QUOTA, {"catchup_rate_pct": 101}, "catchup_rate_pct", "at most 100"),
        ("PUT", QUOTA, {}, "quota_triggers", "name at least one quota to set"),
        ("PUT", TRIGGER + "/horizon", {"horizon": 5}, "horizon", A_DURATION),
        ("PUT", TRIGGER + "/horizon", {"horizon": "0s"}, "horizon", "at least 1s"),
        ("PUT", TRIGGER + "/horizon", {"horizon": "9999d"}, "horizon", "at most "),
        ("PUT", TRIGGER + "/horizon", {}, "horizon", "missing: add it"),
        ("PUT", HOST, {"note": ""}, "note", "write some text, or remove the key"),
        ("PUT", HOST, {"note": 5}, "note", TEXT),
        ("PUT", HOST, {"note": "x" * 501}, "note", "at most 500 characters"),
        ("PUT", "/v1/allowed-hosts/h.example:80", {}, "host", "write the name alone"),
        ("DELETE", HOST + "?note=", None, "note", "write some text, or leave it out"),
        ("DELETE", HOST + "?note=" + "x" * 501, None, "note", "at most 500 characters"),
        ("GET", "/v1/audit?limit=0", None, "limit", "at least 1"),
        ("GET", "/v1/audit?limit=1001", None, "limit", "at most 1,000"),
        ("GET", "/v1/tokens?limit=many", None, "limit", "write a whole number"),
        ("GET", "/v1/grants?limit=1.5", None, "limit", "write a whole number"),
        ("GET", "/v1/audit?since=today", None, "since", "write an instant as 2026-12-24T17:00:00Z"),
        ("GET", "/v1/fires?expand=perhaps", None, "expand", "write true or false"),
        ("GET", "/v1/fires?lane=fast", None, "lane.0", "write "),
    ],
)
def test_wrong_value_is_told_with_its_field_and_remedy(
    api: Api, method: str, path: str, body: Any, field: str, text: str
) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    answer = api.call(method, path, body)
    assert problem(answer) == (422, [field])
    (told,) = answer.json()["errors"]
    assert text in told["detail"]
    assert answer.json()["detail"].startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("method", "path", "field", "remedy"),
    [
        ("POST", "/v1/tokens/nope:revoke", "token", "list the tokens"),
        ("DELETE", "/v1/principals/ci/grants/read", "grant", "list the grants"),
        ("DELETE", HOST, "host", "list the allowed hosts"),
    ],
)
def test_what_is_not_there_is_told_with_where_to_look(
    api: Api, method: str, path: str, field: str, remedy: str
) -> None:
    answer = api.call(method, path)
    assert problem(answer) == (404, [field])
    assert answer.json()["detail"].endswith(remedy)


# What a framework says of a value in words of its own.
FOREIGN: Final = ("Input should", "String should", "List should", "Value error", "unable to parse")


@pytest.mark.parametrize(
    "path",
    [
        *(f"/v1/{name}?limit=x" for name in ("tenants", "triggers", "fires", "events", "audit")),
        "/v1/events?after=-1",
        "/v1/events?after=x",
        "/v1/fires?cause=x&state=x&lane=x&since=x&through=x&changed_since=x",
        "/v1/triggers?state=x&prefix=" + "x" * 200 + "&name=" + "y" * 300,
        f"{TRIGGER}/upcoming?count=0",
        f"{TRIGGER}/why?instant=" + "x" * 65,
        f"/v1/tenants/{TENANT}/hot-seconds?seconds=0&level=0",
    ],
)
def test_parameter_is_refused_in_our_words(api: Api, path: str) -> None:
    answer = api.call("GET", path)
    assert answer.status_code == 422
    assert not [words for words in FOREIGN if words in answer.text], answer.text
