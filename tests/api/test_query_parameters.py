"""Query parameters that nobody reads: refused on every route, with a suggestion."""

from typing import Any

import pytest

from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem


@pytest.mark.parametrize(
    ("path", "key", "says"),
    [
        ("/v1/fires", "stat", "did you mean `state`?"),
        ("/v1/fires", "from", "did you mean `since`?"),
        ("/v1/fires", "to", "did you mean `through`?"),
        ("/v1/fires", "tenantId", "did you mean `tenant`?"),
        ("/v1/triggers", "tenants", "did you mean `tenant`?"),
        ("/v1/events", "xyz", "this path takes after, limit, tenant"),
        ("/v1/backlog", "lane", "this path takes tenant, trigger"),
        (f"/v1/tenants/{TENANT}", "fields", "this path takes none"),
    ],
)
def test_unknown_parameter_is_422_and_suggests_one(
    api: Api, path: str, key: str, says: str
) -> None:
    answer = api.call("GET", f"{path}?{key}=x")
    assert problem(answer) == (422, [key])
    assert answer.json()["detail"] == f"unknown parameter '{key}': {says}"


@pytest.mark.parametrize(
    ("path", "key", "values"),
    [
        ("/v1/fires", "limit", ("1", "2")),
        ("/v1/fires", "tenant", (TENANT, TENANT)),
        ("/v1/fires", "expand", ("true", "false")),
        ("/v1/fires", "since", ("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z")),
        ("/v1/triggers", "cursor", ("x", "y")),
        ("/v1/audit", "actor", ("ann", "bob")),
        ("/v1/tenants", "limit", ("", "5")),
        ("/v1/events", "after", ("0", "1")),
        ("/v1/backlog", "tenant", (TENANT, OTHER)),
        ("/v1/grants", "principal", ("ann", "bob")),
    ],
)
def test_parameter_that_comes_twice_is_422_and_named(
    api: Api, path: str, key: str, values: tuple[str, str]
) -> None:
    asked: dict[str, Any] = {key: list(values)}
    answer = api.call("GET", path, **asked)
    assert problem(answer) == (422, [key])
    assert answer.json()["detail"].startswith(f"{key}: it came more than once")


def test_every_parameter_that_comes_twice_is_named(api: Api) -> None:
    answer = api.call("GET", "/v1/fires", tenant=[TENANT, OTHER], limit=[1, 2], state=["held"] * 2)
    assert problem(answer) == (422, ["limit", "tenant"])


@pytest.mark.parametrize(
    ("path", "key", "values"),
    [
        ("/v1/fires", "state", ("held", "ready")),
        ("/v1/fires", "cause", ("paused", "overlap")),
        ("/v1/fires", "lane", ("on_time", "catch_up")),
        ("/v1/triggers", "state", ("live", "paused")),
        ("/v1/audit", "action", ("trigger_paused", "trigger_resumed")),
    ],
)
def test_list_may_come_several_times(
    api: Api, path: str, key: str, values: tuple[str, str]
) -> None:
    asked: dict[str, Any] = {key: list(values)}
    assert api.json("GET", path, **asked)["items"] == []


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_parameter_of_a_change_that_comes_twice_changes_nothing(api: Api, method: str) -> None:
    path = "/v1/principals/ci/grants/read"
    before = api.json("GET", "/v1/grants")
    answer = api.call(method, path, tenant=[TENANT, OTHER])
    assert problem(answer) == (422, ["tenant"])
    assert api.json("GET", "/v1/grants") == before


def test_every_unknown_parameter_is_named(api: Api) -> None:
    answer = api.call("GET", "/v1/fires", tenat=TENANT, stat="held")
    assert problem(answer) == (422, ["stat", "tenat"])


def test_unknown_parameter_of_a_change_is_422_and_nothing_changes(api: Api) -> None:
    path = f"/v1/tenants/{TENANT}/triggers/digest"
    answer = api.call("PUT", path, a_trigger_body(), dryrun="true")
    assert problem(answer) == (422, ["dryrun"])
    assert api.call("GET", path).status_code == 404


def test_parameter_that_may_hold_a_secret_is_not_repeated(api: Api) -> None:
    answer = api.call("GET", "/v1/fires?pun_s3cret=x")
    assert problem(answer) == (422, ["?"])
    assert "s3cret" not in answer.text


FAR = ("0001-01-01T00:00:00+23:59", "1900-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59")


@pytest.mark.parametrize("instant", FAR)
@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"/v1/fires?tenant={TENANT}&trigger=job", "since"),
        (f"/v1/fires?tenant={TENANT}&expand=true", "through"),
        ("/v1/fires?limit=5", "changed_since"),
        (f"/v1/tenants/{TENANT}/triggers/job/upcoming?count=3", "since"),
        (f"/v1/tenants/{TENANT}/upcoming?count=3", "through"),
        (f"/v1/tenants/{TENANT}/triggers/job/why?", "instant"),
    ],
)
def test_instant_far_away_is_answered_or_refused(
    api: Api, path: str, name: str, instant: str
) -> None:
    api.json("PUT", f"/v1/tenants/{TENANT}/triggers/job", a_trigger_body())
    answer = api.call("GET", f"{path}&{name}={instant}")
    assert answer.status_code in (200, 422), answer.text
