"""DELETE an exclusion calendar."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/calendars/works"


class TestDeleteCalendar(WriteLadder):
    method = "DELETE"
    path = "/v1/tenants/{tenant}/calendars/works"
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/calendars/nothing"
    other: ClassVar[dict[str, Any]] = {"why": "no reader"}
    action = "calendar_deleted"
    unrevised = "nothing is left of it"

    def prepare(self, api: Api) -> None:
        api.json("PUT", PATH, {"dates": ["2026-05-01"]})


def test_delete_calendar_in_use_is_409_and_names_the_trigger(api: Api) -> None:
    put = api.call("PUT", PATH, {"dates": ["2026-05-01"]})
    trigger = f"/v1/tenants/{TENANT}/triggers/digest"
    api.json("PUT", trigger, a_trigger_body(calendars=["works"]))
    answer = api.call("DELETE", PATH)
    assert problem(answer) == (409, ["calendar"])
    assert "'digest'" in answer.json()["detail"]
    api.json("PUT", trigger, a_trigger_body(), headers={"If-Match": "*"})
    done = api.json("DELETE", PATH, headers={"If-Match": put.headers["etag"]})
    assert done == {"change": "deleted", "subject": "works"}
    assert problem(api.call("GET", PATH)) == (404, ["calendar"])
