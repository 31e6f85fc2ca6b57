"""PUT a grant."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/principals/amy/grants/author"


class TestAddGrant(WriteLadder):
    method = "PUT"
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    kind = GrantKind.OPERATOR
    unknown_params: ClassVar[dict[str, Any]] = {"tenant": "nobody"}
    other_params: ClassVar[dict[str, Any]] = {"tenant": OTHER}
    action = "grant_added"
    unrevised = "a grant is held or not: it has no revision"
    stale = None

    def prepare(self, api: Api) -> None:
        api.principal("amy")


def test_grant_holds_at_once(api: Api) -> None:
    api.principal("amy")
    path = f"/v1/tenants/{TENANT}/targets/shop/secret"
    assert problem(api.call("GET", path, by="amy"))[0] == 404
    done = api.json("PUT", PATH, tenant=TENANT)
    assert done == {"change": "created", "subject": "amy"}
    api.json("GET", path, by="amy")
    assert problem(api.call("GET", f"/v1/tenants/{OTHER}", by="amy"))[0] == 404


def test_grant_that_is_held_changes_nothing(api: Api) -> None:
    api.principal("amy", GrantKind.AUTHOR)
    assert api.json("PUT", PATH)["change"] == "unchanged"


def test_grant_on_the_platform_is_not_for_an_operator_of_a_tenant(api: Api) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    assert problem(api.call("PUT", PATH, by="half")) == (403, ["grant"])
    api.json("PUT", PATH, by="half", tenant=TENANT)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/principals/amy/grants/root", "kind"),
        ("/v1/principals/" + "x" * 129 + "/grants/read", "principal"),
        ("/v1/principals/%C3%BC/grants/read", "principal"),
    ],
)
def test_grant_bad_name_is_422(api: Api, path: str, field: str) -> None:
    assert problem(api.call("PUT", path)) == (422, [field])
