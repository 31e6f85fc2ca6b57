"""DELETE an allowed host."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/allowed-hosts/hook.example"


class TestDisallowHost(WriteLadder):
    method = "DELETE"
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    kind = GrantKind.OPERATOR
    unknown_path = "/v1/allowed-hosts/other.example"
    other_params: ClassVar[dict[str, Any]] = {"note": "sold"}
    action = "host_disallowed"
    unrevised = "a host is vouched for or not: it has no revision"
    stale = None

    def prepare(self, api: Api) -> None:
        api.json("PUT", PATH, tenant=TENANT)


def test_disallowed_host_has_to_be_proven(api: Api) -> None:
    api.json("PUT", PATH, tenant=TENANT)
    path = f"/v1/tenants/{TENANT}/targets/hook"
    target = api.json("PUT", path, {"url": "https://hook.example/x"})
    assert target["ownership"]["state"] == "allow_listed"
    api.json("DELETE", PATH, tenant=TENANT, note="sold")
    target = api.json("GET", path)
    assert (target["ownership"]["state"], target["revision"]) == ("pending", 2)
    assert api.audit("host_disallowed")[0].note == "sold"
    assert problem(api.call("DELETE", PATH)) == (404, ["host"])
