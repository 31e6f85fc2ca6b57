"""GET the list of tenants."""

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api
from tests.support.ladder import ReadLadder

PATH = "/v1/tenants"


class TestListTenants(ReadLadder):
    path = PATH
    is_platform_wide = True

    def test_other_tenants_principal_is_told_nothing(self, api: Api) -> None:
        """Everybody may list what he may read, which is nothing of others."""
        api.principal("neighbour", *GrantKind, tenant=OTHER)
        items = api.json("GET", PATH, by="neighbour")["items"]
        assert [each["tenant"] for each in items] == [OTHER]


def test_list_tenants_is_by_name(api: Api) -> None:
    api.json("PUT", "/v1/tenants/able", {})
    page = api.json("GET", PATH)
    assert [each["tenant"] for each in page["items"]] == ["able", TENANT, OTHER]
    assert page["cursor"] is None


def test_list_tenants_of_a_principal_without_grants_is_empty(api: Api) -> None:
    api.principal("nobody")
    assert api.json("GET", PATH, by="nobody")["items"] == []
