"""PUT an allowed host."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/allowed-hosts/hook.example"


class TestAllowHost(WriteLadder):
    method = "PUT"
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    body: ClassVar[dict[str, Any]] = {"note": "ours"}
    kind = GrantKind.OPERATOR
    unknown_params: ClassVar[dict[str, Any]] = {"tenant": "nobody"}
    other: ClassVar[dict[str, Any]] = {"note": "theirs"}
    action = "host_allowed"
    unrevised = "a host is vouched for or not: it has no revision"
    stale = None


def test_host_that_is_allowed_changes_nothing(api: Api) -> None:
    assert api.json("PUT", PATH)["change"] == "created"
    assert api.json("PUT", PATH)["change"] == "unchanged"


def test_host_for_all_is_not_for_an_operator_of_a_tenant(api: Api) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    assert problem(api.call("PUT", PATH, by="half")) == (403, ["grant"])
    assert problem(api.call("PUT", PATH, by="half", tenant=OTHER))[0] == 404
    api.json("PUT", PATH, by="half", tenant=TENANT)


@pytest.mark.parametrize("host", ["hook.example:443", "a%20b", "%C3%BC.example", "x" * 300])
def test_host_that_is_none_is_422(api: Api, host: str) -> None:
    assert problem(api.call("PUT", f"/v1/allowed-hosts/{host}")) == (422, ["host"])
