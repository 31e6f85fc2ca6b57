"""POST cancel: one fire that waits is stopped, and nothing else is."""

from typing import Any, ClassVar

import pytest

from control_api.app import ROUTERS
from ports.changes import RunTrigger
from ports.principals import GrantKind
from scheduling.instants import from_text
from scheduling.keys import FireKey, trigger_id_of
from tests.support.api import START, TENANT, Api, problem
from tests.support.definitions import a_trigger
from tests.support.ladder import WriteLadder
from tests.support.scripted_target import BUSY, Answer
from tests.support.served import Served

JOB_ID = trigger_id_of(TENANT, "job", generation=0)


class TestCancelFire(WriteLadder):
    method = "POST"
    path = f"/v1/fires/{FireKey(TENANT, JOB_ID, from_text(START), 1)}:cancel"
    body: ClassVar[dict[str, Any]] = {}
    kind = GrantKind.AUTHOR
    unknown_path = f"/v1/fires/{FireKey(TENANT, JOB_ID, from_text(START), 2)}:cancel"
    other: ClassVar[dict[str, Any]] = {"note": "another"}
    action = "fire_cancelled"
    unrevised = "a fire has no revision: its state says how far it is"
    stale = None

    def prepare(self, api: Api) -> None:
        api.apply(a_trigger("job"), RunTrigger(tenant_id=TENANT, name="job"))

    def enough(self) -> tuple[GrantKind, ...]:
        return (GrantKind.AUTHOR, GrantKind.OPERATOR)


def a_run(served: Served) -> str:
    """A manual run that nobody has sent yet; the path of its fire."""
    path = served.put(schedule="0 6 * * *")
    key = served.api.json("POST", f"{path}:run", {})["fire_key"]
    return f"/v1/fires/{key}"


def test_cancelled_fire_tells_by_whom_and_is_never_sent(served: Served) -> None:
    path = a_run(served)
    cancelled = served.api.json("POST", f"{path}:cancel", {"note": "not now"})
    assert cancelled["change"] == "cancelled"
    fire = cancelled["fire"]
    assert (fire["state"], fire["cause"], fire["cause_detail"]) == (
        "not_dispatched",
        "cancelled",
        "by root: not now",
    )
    served.start().to("00:05:00")
    assert served.service.target.receipts == []
    assert served.api.json("GET", path)["fire"] == fire


def test_body_may_be_left_out(served: Served) -> None:
    path = a_run(served)
    assert served.api.json("POST", f"{path}:cancel")["fire"]["cause_detail"] == "by root"


def test_operator_may_cancel_too(served: Served) -> None:
    path = a_run(served)
    served.api.principal("op", GrantKind.OPERATOR, tenant=TENANT)
    assert served.api.call("POST", f"{path}:cancel", {}, by="op").status_code == 200


def test_fire_that_was_tried_ends_as_it_stands(served: Served) -> None:
    served.answers(BUSY)
    served.put(schedule="1 * * * *")
    served.start().to("00:01:02")
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    assert (fire["state"], fire["held_reason"]) == ("held", "backoff")
    cancelled = served.api.json("POST", f"/v1/fires/{fire['fire_key']}:cancel", {})
    assert cancelled["fire"]["state"] == "undelivered"
    sent = len(served.service.target.receipts)
    served.to("00:30:00")
    assert len(served.service.target.receipts) == sent


def test_fire_that_has_ended_is_409_and_stays(served: Served) -> None:
    served.put()
    served.start().to("00:01:30")
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    answer = served.api.call("POST", f"/v1/fires/{fire['fire_key']}:cancel", {})
    assert problem(answer) == (409, ["key"])
    assert "has ended as succeeded" in answer.json()["detail"]
    assert served.api.audit("fire_cancelled") == []


def test_fire_under_way_is_409(served: Served) -> None:
    served.answers(Answer(after_us=5_000_000, lasts_us=None))
    served.put(schedule="1 * * * *")
    served.start().to("00:01:02")
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    answer = served.api.call("POST", f"/v1/fires/{fire['fire_key']}:cancel", {})
    assert problem(answer)[0] == 409
    assert "is under way" in answer.json()["detail"]


def test_range_is_409(served: Served) -> None:
    served.after_an_outage()
    (missed,) = served.api.json("GET", "/v1/fires", tenant=TENANT, cause="coalesced")["items"]
    answer = served.api.call("POST", f"/v1/fires/{missed['fire_key']}:cancel", {})
    assert problem(answer)[0] == 409


def test_cancelled_fire_cannot_be_cancelled_again(served: Served) -> None:
    path = a_run(served)
    served.api.json("POST", f"{path}:cancel", {})
    assert problem(served.api.call("POST", f"{path}:cancel", {}))[0] == 409
    assert len(served.api.audit("fire_cancelled")) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [({"note": ""}, "note"), ({"note": "x" * 501}, "note"), ({"note": 5}, "note"), ([], "body")],
)
def test_wrong_body_is_422(served: Served, body: Any, field: str) -> None:
    path = a_run(served)
    assert problem(served.api.call("POST", f"{path}:cancel", body)) == (422, [field])


def test_key_that_is_none_is_422(api: Api) -> None:
    assert problem(api.call("POST", "/v1/fires/x:cancel", {})) == (422, ["fire_key"])


def test_history_alone_changes_nothing() -> None:
    methods = {
        method
        for router in ROUTERS["history"]
        for route in router.routes
        for method in getattr(route, "methods", ())
    }
    assert methods == {"GET"}
