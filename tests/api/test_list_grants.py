"""GET the grants."""

from ports.principals import GrantKind
from tests.support.api import TENANT, Api
from tests.support.ladder import ReadLadder

PATH = "/v1/grants"


class TestListGrants(ReadLadder):
    path = PATH
    kind = GrantKind.OPERATOR
    is_platform_wide = True


def test_list_grants_is_by_principal_tenant_and_kind(api: Api) -> None:
    api.principal("amy", GrantKind.READ, GrantKind.AUTHOR, tenant=TENANT)
    api.principal("amy-2", GrantKind.AUDITOR)
    items = api.json("GET", PATH)["items"]
    assert items[:3] == [
        {"principal": "amy", "kind": "author", "tenant": TENANT},
        {"principal": "amy", "kind": "read", "tenant": TENANT},
        {"principal": "amy-2", "kind": "auditor", "tenant": None},
    ]
    assert len(items) == 3 + len(GrantKind)


def test_list_grants_of_one_principal(api: Api) -> None:
    api.principal("amy", GrantKind.READ)
    assert len(api.json("GET", PATH, principal="amy")["items"]) == 1
    assert api.json("GET", PATH, principal="nobody")["items"] == []
