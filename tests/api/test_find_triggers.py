"""GET /v1/triggers?name= and GET /v1/backlog?trigger=: one trigger among all tenants'."""

from typing import Any

import pytest

from ports.changes import PauseTrigger
from ports.principals import GrantKind
from scheduling.instants import SECOND_US
from scheduling.limits import PAGE_ROWS_DEFAULT
from scheduling.vocabulary import MissedPolicy
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.definitions import a_target, a_trigger

HOUR_US = 3_600 * SECOND_US


@pytest.fixture
def found(api: Api) -> Api:
    """A name that two tenants have, and one that begins with it."""
    api.apply(
        a_target(OTHER),
        a_trigger("digest", tenant_id=TENANT),
        a_trigger("digest", tenant_id=OTHER),
        a_trigger("digest-weekly", tenant_id=TENANT),
    )
    return api


def names(answer: Any) -> list[str]:
    return [f"{each['tenant']}/{each['name']}" for each in answer["items"]]


def test_find_by_name_finds_it_in_every_tenant_and_nothing_longer(found: Api) -> None:
    answer = found.json("GET", "/v1/triggers", name="digest")
    assert sorted(names(answer)) == [f"{TENANT}/digest", f"{OTHER}/digest"]
    assert answer["cursor"] is None


def test_find_by_id_finds_the_one(found: Api) -> None:
    by_name = found.json("GET", "/v1/triggers", name="digest", tenant=OTHER)
    trigger_id = by_name["items"][0]["trigger_id"]
    assert names(found.json("GET", "/v1/triggers", name=trigger_id)) == [f"{OTHER}/digest"]


def test_find_by_name_without_the_platform_finds_what_the_caller_may_read(found: Api) -> None:
    found.principal("reader", GrantKind.READ, tenant=OTHER)
    assert names(found.json("GET", "/v1/triggers", by="reader", name="digest")) == [
        f"{OTHER}/digest"
    ]


def test_find_by_name_behind_a_full_page_of_other_tenants_finds_the_readable_one(
    found: Api,
) -> None:
    many = [f"first-{number:03d}" for number in range(PAGE_ROWS_DEFAULT)]
    for tenant in many:
        found.json("PUT", f"/v1/tenants/{tenant}", {})
        found.apply(a_target(tenant), a_trigger("digest", tenant_id=tenant))
    found.principal("reader", GrantKind.READ, tenant=OTHER)
    answer = found.json("GET", "/v1/triggers", by="reader", name="digest")
    assert (names(answer), answer["cursor"]) == ([f"{OTHER}/digest"], None)


def test_find_by_name_comes_in_pages(found: Api) -> None:
    first = found.json("GET", "/v1/triggers", name="digest", limit=1)
    second = found.json("GET", "/v1/triggers", name="digest", limit=1, cursor=first["cursor"])
    last = found.json("GET", "/v1/triggers", name="digest", limit=1, cursor=second["cursor"])
    assert names(first) + names(second) == sorted([f"{TENANT}/digest", f"{OTHER}/digest"])
    assert (names(last), last["cursor"]) == ([], None)


def test_find_by_unknown_name_finds_nothing(found: Api) -> None:
    assert names(found.json("GET", "/v1/triggers", name="digests")) == []


@pytest.mark.parametrize(
    "more",
    [{"state": "live"}, {"target": "shop"}, {"prefix": "d"}],
    ids=["state", "target", "prefix"],
)
def test_find_by_name_beside_a_filter_is_refused(found: Api, more: dict[str, Any]) -> None:
    assert problem(found.call("GET", "/v1/triggers", name="digest", **more)) == (422, ["name"])


def test_backlog_of_a_trigger_counts_its_own_alone(api: Api) -> None:
    policy: dict[str, Any] = {
        "missed_policy": MissedPolicy.FIRE_ALL,
        "catchup_horizon_s": 86_400,
    }
    api.apply(a_trigger("one", **policy), a_trigger("two", **policy))
    api.clock.advance(HOUR_US)
    api.decide()
    both = _waiting(api.json("GET", "/v1/backlog", tenant=TENANT))
    one = api.json("GET", "/v1/backlog", tenant=TENANT, trigger="one")
    assert (one["tenant"], one["trigger"]) == (TENANT, "one")
    assert _waiting(one) * 2 == both > 0
    api.apply(PauseTrigger(tenant_id=TENANT, name="one"))
    assert _waiting(api.json("GET", "/v1/backlog", tenant=TENANT, trigger="one")) == 0


def test_backlog_of_a_trigger_without_its_tenant_is_refused(found: Api) -> None:
    assert problem(found.call("GET", "/v1/backlog", trigger="digest")) == (422, ["trigger"])


def test_backlog_of_an_unknown_trigger_is_404(found: Api) -> None:
    answer = found.call("GET", "/v1/backlog", tenant=TENANT, trigger="digst")
    assert problem(answer) == (404, ["trigger"])


def _waiting(backlog: Any) -> int:
    return sum(each["waiting"] for each in backlog["lanes"])
