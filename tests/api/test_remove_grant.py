"""DELETE a grant."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/principals/amy/grants/author"


class TestRemoveGrant(WriteLadder):
    method = "DELETE"
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    kind = GrantKind.OPERATOR
    unknown_path = "/v1/principals/nobody/grants/author"
    other_params: ClassVar[dict[str, Any]] = {"tenant": OTHER}
    action = "grant_removed"
    unrevised = "a grant is held or not: it has no revision"
    stale = None

    def prepare(self, api: Api) -> None:
        api.principal("amy", GrantKind.AUTHOR, tenant=TENANT)


def test_removed_grant_is_gone_at_once(api: Api) -> None:
    api.principal("amy", GrantKind.AUTHOR)
    path = f"/v1/tenants/{TENANT}/targets/shop/secret"
    api.json("GET", path, by="amy")
    assert api.json("DELETE", PATH) == {"change": "deleted", "subject": "amy"}
    assert problem(api.call("GET", path, by="amy"))[0] == 404
    assert problem(api.call("DELETE", PATH)) == (404, ["grant"])


def test_grant_of_another_scope_stays(api: Api) -> None:
    api.principal("amy", GrantKind.AUTHOR)
    assert problem(api.call("DELETE", PATH, tenant=TENANT)) == (404, ["grant"])
