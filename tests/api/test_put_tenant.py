"""PUT a tenant."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from ports.records import TenantRecord
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/tenants/crow"


class TestPutTenant(WriteLadder):
    method = "PUT"
    path = PATH
    body: ClassVar[dict[str, Any]] = {"smear_s": 30}
    status = 201
    kind = GrantKind.OPERATOR
    is_platform_wide = True
    other: ClassVar[dict[str, Any]] = {"smear_s": 60}
    action = "tenant_put"
    revised = path
    creates = True

    def test_unknown_id_is_404(self, api: Api) -> None:
        """It creates what is unknown, but what is to be replaced has to be there."""
        answer = self.call(api, headers={"If-Match": '"1"'})
        assert problem(answer)[0] == 412


def test_put_tenant_has_the_services_quotas(api: Api) -> None:
    answer = api.call("PUT", PATH, {})
    assert (answer.status_code, answer.headers["location"]) == (201, PATH)
    assert answer.headers["etag"] == '"1"'
    assert answer.json() == {
        "tenant": "crow",
        "revision": 1,
        "smear_s": 0,
        "quota_triggers": 100000,
        "quota_dispatch_per_s": 100,
        "quota_inflight": 1000,
        "catchup_rate_pct": 10,
    }


def test_put_tenant_again_changes_nothing(api: Api) -> None:
    api.json("PUT", PATH, {"smear_s": 5})
    for body in ({"smear_s": 5}, {}):
        again = api.call("PUT", PATH, body)
        assert (again.status_code, again.json()["revision"]) == (200, 1)
    assert len(api.audit("tenant_put")) == 3  # the two of the builders and this one


def test_put_tenant_differently_needs_its_etag(api: Api) -> None:
    first = api.call("PUT", PATH, {"smear_s": 5})
    assert problem(api.call("PUT", PATH, {"smear_s": 6})) == (428, ["If-Match"])
    answer = api.call("PUT", PATH, {"smear_s": 6}, headers={"If-Match": first.headers["etag"]})
    assert (answer.status_code, answer.headers["etag"], answer.json()["smear_s"]) == (200, '"2"', 6)
    assert problem(api.call("PUT", PATH, {"smear_s": 7}, headers={"If-Match": '"1"'}))[0] == 412


def test_put_tenant_leaves_quotas_as_they_are(api: Api) -> None:
    api.json("PUT", PATH, {})
    api.json("PUT", PATH + "/quota", {"quota_triggers": 7})
    changed = api.json("PUT", PATH, {"smear_s": 6}, headers={"If-Match": "*"})
    assert changed["quota_triggers"] == 7


def test_put_tenant_create_only_of_what_is_there_is_412(api: Api) -> None:
    path = f"/v1/tenants/{TENANT}"
    assert problem(api.call("PUT", path, {}, headers={"If-None-Match": "*"}))[0] == 412


def test_put_tenant_is_not_for_an_operator_of_one_tenant(api: Api) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=OTHER)
    assert problem(api.call("PUT", f"/v1/tenants/{OTHER}", {"smear_s": 1}, by="half"))[0] == 403


@pytest.mark.parametrize("name", ["Crow", "x" * 129, "-a", "a%20b", "%C3%BC"])
def test_put_tenant_bad_name_is_422(api: Api, name: str) -> None:
    assert problem(api.call("PUT", f"/v1/tenants/{name}", {})) == (422, ["tenant"])


@pytest.mark.parametrize("smear_s", [-1, 3_601, 1.5, "30", True, 10**40])
def test_put_tenant_bad_smear_is_422(api: Api, smear_s: Any) -> None:
    assert problem(api.call("PUT", PATH, {"smear_s": smear_s})) == (422, ["smear_s"])


def test_put_tenant_reads_that_one_alone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = api.services.store.registry
    read = registry.tenants
    asked: list[str | None] = []

    def noted(tenant_id: str | None = None) -> list[TenantRecord]:
        asked.append(tenant_id)
        return read(tenant_id)

    monkeypatch.setattr(registry, "tenants", noted)
    api.json("PUT", PATH, {})
    assert set(asked) == {"crow"}
