"""DELETE a target."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import HOOK, TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/targets/hook"


class TestDeleteTarget(WriteLadder):
    method = "DELETE"
    path = "/v1/tenants/{tenant}/targets/hook"
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/targets/nothing"
    other: ClassVar[dict[str, Any]] = {"why": "no reader"}
    action = "target_deleted"
    unrevised = "nothing is left of it"

    def prepare(self, api: Api) -> None:
        api.json("PUT", PATH, {"url": HOOK})


def test_delete_target_takes_its_secret_with_it(api: Api) -> None:
    put = api.call("PUT", PATH, {"url": HOOK})
    answer = api.call("DELETE", PATH, headers={"If-Match": put.headers["etag"]})
    assert answer.json() == {"change": "deleted", "subject": "hook"}
    assert problem(api.call("GET", PATH))[0] == 404
    assert problem(api.call("GET", PATH + "/secret"))[0] == 404


def test_delete_target_in_use_is_409_and_names_the_trigger(api: Api) -> None:
    api.json("PUT", f"/v1/tenants/{TENANT}/triggers/digest", a_trigger_body())
    answer = api.call("DELETE", f"/v1/tenants/{TENANT}/targets/shop")
    assert problem(answer) == (409, ["target"])
    assert "'digest'" in answer.json()["detail"]
