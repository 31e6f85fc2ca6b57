"""PUT a target."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import HOOK, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/targets/hook"
SECRET = "whsec_" + "YS1zZWNyZXQtb2YtdGhlLXRlc3RzLTMyLWJ5dGVz"
OTHER_SECRET = "whsec_" + "YW5vdGhlci1vbmUtb2YtdGhlLXRlc3RzLTMyLWI="


class TestPutTarget(WriteLadder):
    method = "PUT"
    path = "/v1/tenants/{tenant}/targets/hook"
    body: ClassVar[dict[str, Any]] = {"url": HOOK, "timeout_s": 5, "secret": SECRET}
    status = 201
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/nobody/targets/hook"
    required = ("url",)
    other: ClassVar[dict[str, Any]] = {"timeout_s": 6}
    action = "target_put"
    revised = path
    creates = True


def test_put_target_on_this_machine_is_usable_at_once(api: Api) -> None:
    answer = api.call("PUT", PATH, {"url": HOOK})
    target = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, PATH)
    assert (target["url"], target["timeout_s"], target["revision"]) == (HOOK, 10.0, 1)
    assert (target["ownership"]["state"], target["ownership"]["is_usable"]) == ("local", True)
    assert api.call("GET", PATH).headers["etag"] == answer.headers["etag"]


def test_put_target_makes_a_secret_that_is_shown_apart(api: Api) -> None:
    answer = api.call("PUT", PATH, {"url": HOOK})
    secret = api.json("GET", PATH + "/secret")["secret"]
    assert secret.startswith("whsec_")
    assert "whsec_" not in answer.text
    assert "whsec_" not in api.call("GET", PATH).text


def test_put_target_again_changes_nothing(api: Api) -> None:
    api.json("PUT", PATH, {"url": HOOK, "secret": SECRET})
    for body in ({"url": HOOK, "secret": SECRET}, {"url": HOOK, "timeout_s": 10}):
        again = api.call("PUT", PATH, body)
        assert (again.status_code, again.json()["revision"]) == (200, 1)


def test_put_target_differently_needs_its_etag(api: Api) -> None:
    first = api.call("PUT", PATH, {"url": HOOK})
    body = {"url": HOOK, "timeout_s": 3}
    assert problem(api.call("PUT", PATH, body)) == (428, ["If-Match"])
    answer = api.call("PUT", PATH, body, headers={"If-Match": first.headers["etag"]})
    assert (answer.status_code, answer.json()["revision"], answer.json()["timeout_s"]) == (
        200,
        2,
        3,
    )
    stale = api.call("PUT", PATH, {"url": HOOK}, headers={"If-Match": first.headers["etag"]})
    assert problem(stale)[0] == 412


def test_put_target_another_secret_is_a_new_revision(api: Api) -> None:
    api.json("PUT", PATH, {"url": HOOK, "secret": SECRET})
    body = {"url": HOOK, "secret": OTHER_SECRET}
    assert problem(api.call("PUT", PATH, body))[0] == 428
    assert api.json("PUT", PATH, body, headers={"If-Match": "*"})["revision"] == 2
    assert api.json("GET", PATH + "/secret")["secret"] == OTHER_SECRET


def test_put_target_an_etag_of_a_deleted_namesake_is_412(api: Api) -> None:
    first = api.call("PUT", PATH, {"url": HOOK})
    api.json("DELETE", PATH)
    api.clock.advance(1)
    second = api.call("PUT", PATH, {"url": HOOK})
    assert second.json()["revision"] == first.json()["revision"]
    for method in ("PUT", "DELETE"):
        answer = api.call(method, PATH, {"url": HOOK}, headers={"If-Match": first.headers["etag"]})
        assert problem(answer) == (412, ["If-Match"])


def test_put_target_create_only_of_what_is_there_is_412(api: Api) -> None:
    api.json("PUT", PATH, {"url": HOOK})
    answer = api.call("PUT", PATH, {"url": HOOK}, headers={"If-None-Match": "*"})
    assert problem(answer)[0] == 412


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"url": "ftp://shop.example/hook"}, "url", "https"),
        ({"url": "https://10.0.0.1/hook"}, "url", "private"),
        ({"url": "https://169.254.169.254/latest"}, "url", "metadata"),
        ({"url": "https://user:pass@shop.example/"}, "url", "user"),
        ({"url": "https://shop.example:22/"}, "url", "port 22"),
        ({"url": "https://shop.example/a b"}, "url", ""),
        ({"url": "https://shop.example/\u0000"}, "url", ""),
        ({"url": "https://shöp.example/"}, "url", ""),
        ({"url": ""}, "url", ""),
        ({"url": "https://shop.example/" + "x" * 2_048}, "url", "2,048"),
        ({"url": 7}, "url", "text"),
        ({"timeout_s": 0}, "timeout_s", "at least 1"),
        ({"timeout_s": 61}, "timeout_s", "at most 60"),
        ({"timeout_s": 1.5}, "timeout_s", "whole number"),
        ({"secret": "geheim"}, "secret", "whsec_"),
        ({"secret": "whsec_YQ=="}, "secret", "24"),
        ({"endpoint": HOOK}, "endpoint", "did you mean `url`"),
    ],
)
def test_put_target_wrong_field_is_named_with_its_remedy(
    api: Api, changes: dict[str, Any], field: str, says: str
) -> None:
    answer = api.call("PUT", PATH, {"url": HOOK, **changes})
    assert problem(answer) == (422, [field])
    assert says in answer.json()["detail"]


def test_put_target_refusal_does_not_repeat_a_secret(api: Api) -> None:
    answer = api.call("PUT", PATH, {"url": HOOK, "secret": "whsec_canary4711"})
    assert problem(answer) == (422, ["secret"])
    assert "canary" not in answer.text


@pytest.mark.parametrize("name", ["Hook", "x" * 129, "-a"])
def test_put_target_bad_name_is_422(api: Api, name: str) -> None:
    answer = api.call("PUT", f"/v1/tenants/{TENANT}/targets/{name}", {"url": HOOK})
    assert problem(answer) == (422, ["name"])
