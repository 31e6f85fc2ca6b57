"""Query parameters that nobody reads: refused on every route, with a suggestion."""

import pytest

from tests.support.api import TENANT, Api, a_trigger_body, problem


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
