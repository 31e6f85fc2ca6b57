"""GET a tenant."""

from tests.support.api import TENANT, Api
from tests.support.ladder import ReadLadder


class TestGetTenant(ReadLadder):
    path = "/v1/tenants/{tenant}"
    unknown_path = "/v1/tenants/nobody"


def test_get_tenant_has_quotas_and_an_etag(api: Api) -> None:
    answer = api.call("GET", f"/v1/tenants/{TENANT}")
    assert answer.headers["etag"] == '"1"'
    assert answer.json()["quota_dispatch_per_s"] == 100
    changed = api.call("PUT", f"/v1/tenants/{TENANT}/quota", {"quota_dispatch_per_s": 9})
    assert api.json("GET", f"/v1/tenants/{TENANT}") == changed.json()
