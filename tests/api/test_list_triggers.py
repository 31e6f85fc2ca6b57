"""GET the list of triggers."""

from typing import Any, ClassVar

import pytest

from ports.changes import AddGrant
from ports.principals import GrantKind, GrantRecord
from tests.support.api import HOOK, OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.cursors import forged
from tests.support.ladder import ReadLadder

PATH = "/v1/triggers"
NAMES = ("alpha", "beta", "beta-2", "gamma")


class TestListTriggers(ReadLadder):
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    unknown_params: ClassVar[dict[str, Any]] = {"tenant": "nobody"}


@pytest.fixture
def full(api: Api) -> Api:
    """Four triggers of one tenant, one of another."""
    api.json("PUT", f"/v1/tenants/{TENANT}/targets/second", {"url": HOOK})
    api.json("PUT", f"/v1/tenants/{OTHER}/targets/shop", {"url": HOOK})
    for name in NAMES:
        target = "second" if name == "gamma" else "shop"
        body = a_trigger_body(target=target)
        api.json("PUT", f"/v1/tenants/{TENANT}/triggers/{name}", body)
    api.json("PUT", f"/v1/tenants/{OTHER}/triggers/beta", a_trigger_body())
    api.json("POST", f"/v1/tenants/{TENANT}/triggers/alpha:pause")
    return api


def _names(page: Any) -> list[str]:
    return [f"{each['tenant']}/{each['name']}" for each in page["items"]]


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({}, ["alpha", "beta", "beta-2", "gamma"]),
        ({"state": "paused"}, ["alpha"]),
        ({"state": ["paused", "live"]}, ["alpha", "beta", "beta-2", "gamma"]),
        ({"state": "finished"}, []),
        ({"target": "second"}, ["gamma"]),
        ({"prefix": "beta"}, ["beta", "beta-2"]),
        ({"prefix": "beta", "state": "paused"}, []),
        ({"limit": 2}, ["alpha", "beta"]),
    ],
)
def test_list_gives_what_meets_every_filter(
    full: Api, params: dict[str, Any], names: list[str]
) -> None:
    page = full.json("GET", PATH, tenant=TENANT, **params)
    assert _names(page) == [f"{TENANT}/{name}" for name in names]


def test_list_of_the_platform_is_by_tenant_and_name(full: Api) -> None:
    every = [f"{TENANT}/{name}" for name in NAMES] + [f"{OTHER}/beta"]
    assert _names(full.json("GET", PATH)) == every


def test_list_that_names_no_tenant_is_of_the_readers_only_one(full: Api) -> None:
    full.principal("reader", *GrantKind, tenant=TENANT)
    assert _names(full.json("GET", PATH, by="reader")) == [f"{TENANT}/{name}" for name in NAMES]
    assert full.audit("privilege_refused") == []


@pytest.mark.parametrize("tenants", [(), (TENANT, OTHER)], ids=["none", "two"])
def test_list_of_the_platform_needs_a_grant_on_it(full: Api, tenants: tuple[str, ...]) -> None:
    full.principal("reader")
    full.apply(*(AddGrant(grant=GrantRecord("reader", GrantKind.READ, each)) for each in tenants))
    assert problem(full.call("GET", PATH, by="reader")) == (403, ["grant"])


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
def test_list_pages_join_without_a_gap_or_a_repeat(full: Api, limit: int) -> None:
    found: list[str] = []
    cursor = None
    for _ in range(10):
        page = full.json("GET", PATH, limit=limit, **({"cursor": cursor} if cursor else {}))
        found += _names(page)
        cursor = page["cursor"]
        if cursor is None:
            break
    assert found == [f"{TENANT}/{name}" for name in NAMES] + [f"{OTHER}/beta"]


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "ü", "a" * 5_000, "e30", forged(), forged("a", "b")),
        *(forged("triggers", *parts) for parts in ("a", (1, 2), ("a", None), ("a", "b", "c"))),
    ],
)
def test_list_cursor_that_is_not_ours_is_400(full: Api, cursor: str) -> None:
    answer = full.call("GET", PATH, cursor=cursor)
    assert problem(answer) == (400, ["cursor"])
    assert "as it came" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"limit": "9" * 30}, "limit"),
        ({"state": "sleeping"}, "state"),
        ({"prefix": "x" * 129}, "prefix"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_list_wrong_parameter_is_named(full: Api, params: dict[str, Any], field: str) -> None:
    status, fields = problem(full.call("GET", PATH, **params))
    assert (status, fields[0].split(".")[0]) == (422, field)
