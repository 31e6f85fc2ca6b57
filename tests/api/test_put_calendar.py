"""PUT an exclusion calendar."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/calendars/works"
TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
CHRISTMAS = "DTSTART:20251225\nRRULE:FREQ=YEARLY"


class TestPutCalendar(WriteLadder):
    method = "PUT"
    path = "/v1/tenants/{tenant}/calendars/works"
    body: ClassVar[dict[str, Any]] = {"dates": ["2026-05-01"]}
    status = 201
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/nobody/calendars/works"
    other: ClassVar[dict[str, Any]] = {"dates": ["2026-05-02"]}
    action = "calendar_put"
    revised = path
    creates = True


def test_put_calendar_tells_every_date_that_it_excludes(api: Api) -> None:
    body = {"rules": [CHRISTMAS + ";UNTIL=20281231"], "dates": ["2026-05-01", "2026-05-01"]}
    answer = api.call("PUT", PATH, body)
    assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
    assert answer.headers["location"] == PATH
    assert answer.json() == {
        "tenant": TENANT,
        "name": "works",
        "revision": 1,
        "rules": body["rules"],
        "dates": ["2026-05-01"],
        "excludes": ["2025-12-25", "2026-05-01", "2026-12-25", "2027-12-25", "2028-12-25"],
    }


def test_put_calendar_again_changes_nothing(api: Api) -> None:
    body = {"rules": CHRISTMAS, "dates": "2026-05-01"}
    api.json("PUT", PATH, body)
    again = api.call("PUT", PATH, body)
    assert (again.status_code, again.json()["revision"]) == (200, 1)
    assert len(api.audit("calendar_put")) == 1


def test_put_calendar_moves_its_triggers_at_once(api: Api) -> None:
    first = api.call("PUT", PATH, {"dates": ["2026-03-02"]})
    put = api.json("PUT", TRIGGER, a_trigger_body(schedule="0 9 * * *", calendars=["works"]))
    assert put["trigger"]["next_due_at"] == "2026-03-03T08:00:00Z"
    body = {"dates": ["2026-03-02", "2026-03-03"]}
    assert problem(api.call("PUT", PATH, body)) == (428, ["If-Match"])
    answer = api.call("PUT", PATH, body, headers={"If-Match": first.headers["etag"]})
    assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
    moved = api.json("GET", TRIGGER)
    assert (moved["next_due_at"], moved["version"], moved["revision"]) == (
        "2026-03-04T08:00:00Z",
        2,
        2,
    )
    # One event for the trigger's creation, one for its new version.
    assert [event.event for event in api.outbox()] == ["TriggerChanged"] * 2


def test_put_calendar_that_leaves_a_trigger_no_instant_is_refused(api: Api) -> None:
    api.json("PUT", PATH, {"dates": []})
    body = a_trigger_body(schedule="at 2026-05-01T09:00", calendars="works")
    api.json("PUT", TRIGGER, body)
    answer = api.call("PUT", PATH, {"dates": ["2026-05-01"]}, headers={"If-Match": "*"})
    assert problem(answer) == (422, ["calendars"])
    assert "acme/digest" in answer.json()["detail"]
    assert api.json("GET", PATH)["excludes"] == []


def test_put_calendar_revisions_go_on_after_a_deletion(api: Api) -> None:
    first = api.call("PUT", PATH, {"dates": ["2026-05-01"]})
    api.json("DELETE", PATH)
    second = api.call("PUT", PATH, {"dates": ["2026-05-01"]})
    assert (second.status_code, second.headers["etag"]) == (201, '"2"')
    stale = api.call("PUT", PATH, {}, headers={"If-Match": first.headers["etag"]})
    assert problem(stale)[0] == 412


def test_put_trigger_with_an_unknown_or_foreign_calendar_is_422(api: Api) -> None:
    api.json("PUT", f"/v1/tenants/{OTHER}/calendars/theirs", {"dates": ["2026-05-01"]})
    for name in ("nothing", "theirs"):
        answer = api.call("PUT", TRIGGER, a_trigger_body(calendars=[name]))
        assert problem(answer) == (422, ["calendars"])
        assert name in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rules": ["RRULE:FREQ=HOURLY"]}, "rules"),
        ({"rules": ["nonsense"]}, "rules"),
        ({"rules": [7]}, "rules"),
        ({"rules": [CHRISTMAS] * 51}, "rules"),
        ({"dates": ["2026-02-30"]}, "dates"),
        ({"dates": ["24.12.2026"]}, "dates"),
        ({"dates": 20261224}, "dates"),
        ({"dates": ["2026-01-01"] * 10_001}, "dates"),
        ({"holidays": []}, "holidays"),
    ],
)
def test_put_calendar_wrong_field_is_named(api: Api, body: Any, field: str) -> None:
    assert problem(api.call("PUT", PATH, body)) == (422, [field])


@pytest.mark.parametrize("name", ["Works", "x" * 129])
def test_put_calendar_bad_name_is_422(api: Api, name: str) -> None:
    answer = api.call("PUT", f"/v1/tenants/{TENANT}/calendars/{name}", {})
    assert problem(answer) == (422, ["name"])
