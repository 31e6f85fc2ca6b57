"""PUT a tenant's quota."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/quota"


class TestSetQuota(WriteLadder):
    method = "PUT"
    path = "/v1/tenants/{tenant}/quota"
    body: ClassVar[dict[str, Any]] = {"quota_triggers": 7, "catchup_rate_pct": 20}
    kind = GrantKind.POLICY
    unknown_path = "/v1/tenants/nobody/quota"
    other: ClassVar[dict[str, Any]] = {"quota_triggers": 8}
    action = "tenant_put"
    revised = "/v1/tenants/{tenant}"


def test_quota_left_out_stays(api: Api) -> None:
    before = api.json("GET", f"/v1/tenants/{TENANT}")
    answer = api.call("PUT", PATH, {"quota_inflight": 3})
    assert answer.headers["etag"] == '"2"'
    assert answer.json() == before | {"quota_inflight": 3, "revision": 2}
    (entry,) = api.audit("tenant_put")[-1:]
    assert '"quota_inflight": 1000' in (entry.prior_value or "")


def test_quota_as_it_is_changes_nothing(api: Api) -> None:
    api.json("PUT", PATH, {"quota_inflight": 3})
    assert api.json("PUT", PATH, {"quota_inflight": 3})["revision"] == 2


def test_quota_holds_for_the_next_trigger(api: Api) -> None:
    api.json("PUT", PATH, {"quota_triggers": 1})
    api.json("PUT", f"/v1/tenants/{TENANT}/triggers/one", a_trigger_body())
    answer = api.call("PUT", f"/v1/tenants/{TENANT}/triggers/two", a_trigger_body())
    assert problem(answer) == (409, ["quota_triggers"])
    # What is there may be replaced.
    edited = a_trigger_body(zone="UTC")
    api.json("PUT", f"/v1/tenants/{TENANT}/triggers/one", edited, headers={"If-Match": "*"})


def test_quota_whoever_edits_triggers_cannot_raise_it(api: Api) -> None:
    api.principal("author", GrantKind.AUTHOR, GrantKind.OPERATOR, tenant=TENANT)
    assert problem(api.call("PUT", PATH, {"quota_triggers": 9}, by="author")) == (403, ["grant"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "quota_triggers"),
        ({"quota_triggers": None}, "quota_triggers"),
        ({"quota_triggers": 0}, "quota_triggers"),
        ({"quota_triggers": 10**12}, "quota_triggers"),
        ({"quota_dispatch_per_s": -1}, "quota_dispatch_per_s"),
        ({"quota_inflight": "many"}, "quota_inflight"),
        ({"catchup_rate_pct": 101}, "catchup_rate_pct"),
        ({"catchup_rate_pct": 1e2}, "catchup_rate_pct"),
    ],
)
def test_quota_out_of_bounds_is_422(api: Api, body: Any, field: str) -> None:
    assert problem(api.call("PUT", PATH, body)) == (422, [field])


def test_set_quotas_at_once_loses_none(api: Api) -> None:
    given = {"quota_triggers": 7, "quota_inflight": 9, "quota_dispatch_per_s": 11}
    with ThreadPoolExecutor(len(given)) as pool:
        answers = list(pool.map(lambda field: api.call("PUT", PATH, {field: given[field]}), given))
    assert [answer.status_code for answer in answers] == [200] * len(given)
    tenant = api.json("GET", f"/v1/tenants/{TENANT}")
    assert {field: tenant[field] for field in given} == given
