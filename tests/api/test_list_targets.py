"""GET a tenant's targets."""

from tests.support.api import HOOK, OTHER, TENANT, Api
from tests.support.ladder import ReadLadder


class TestListTargets(ReadLadder):
    path = "/v1/tenants/{tenant}/targets"
    unknown_path = "/v1/tenants/nobody/targets"


def test_list_targets_is_the_tenants_own_by_name(api: Api) -> None:
    api.json("PUT", f"/v1/tenants/{TENANT}/targets/hook", {"url": HOOK})
    api.json("PUT", f"/v1/tenants/{OTHER}/targets/else", {"url": HOOK})
    page = api.json("GET", f"/v1/tenants/{TENANT}/targets")
    assert [each["name"] for each in page["items"]] == ["hook", "shop"]
    assert page["items"][0] == api.json("GET", f"/v1/tenants/{TENANT}/targets/hook")
    assert "whsec_" not in str(page)
