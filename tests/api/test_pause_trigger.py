"""POST a pause."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from scheduling.instants import from_text
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
PATH = TRIGGER + ":pause"


class TestPauseTrigger(WriteLadder):
    method = "POST"
    path = "/v1/tenants/{tenant}/triggers/digest:pause"
    body: ClassVar[dict[str, Any]] = {"note": "over the holidays"}
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing:pause"
    other: ClassVar[dict[str, Any]] = {"note": "for good"}
    action = "trigger_paused"
    revised = "/v1/tenants/{tenant}/triggers/digest"
    event = "TriggerChanged"

    def prepare(self, api: Api) -> None:
        api.json("PUT", TRIGGER, a_trigger_body())

    def enough(self) -> tuple[GrantKind, ...]:
        return (GrantKind.AUTHOR, GrantKind.OPERATOR)


@pytest.fixture
def minutely(api: Api) -> Api:
    api.json("PUT", TRIGGER, a_trigger_body(schedule="* * * * *"))
    return api


def test_pause_stops_it_with_a_note(minutely: Api) -> None:
    minutely.clock.advance(from_text("2026-03-02T00:01:30Z") - minutely.now_us)
    answer = minutely.call("POST", PATH, {"note": "over the holidays"})
    changed = answer.json()
    assert (answer.status_code, changed["change"]) == (200, "paused")
    assert (changed["version"], changed["revision"], changed["settled_rows"]) == (1, 2, 1)
    assert answer.headers["etag"] == f'"{changed["trigger_id"]}.2"'
    assert changed["since"] == "2026-03-02T00:01:30Z"
    assert (changed["trigger"]["state"], changed["trigger"]["pause_note"]) == (
        "paused",
        "over the holidays",
    )
    (entry,) = minutely.audit("trigger_paused")
    assert (entry.tenant_id, entry.subject, entry.note) == (TENANT, "digest", "over the holidays")


@pytest.mark.parametrize("body", [None, {}, {"note": None}])
def test_pause_needs_no_note(minutely: Api, body: Any) -> None:
    assert minutely.json("POST", PATH, body)["trigger"]["pause_note"] is None


def test_pause_again_changes_nothing(minutely: Api) -> None:
    minutely.json("POST", PATH, {"note": "first"})
    again = minutely.json("POST", PATH, {"note": "first"})
    assert (again["change"], again["revision"]) == ("unchanged", 2)
    assert len(minutely.audit("trigger_paused")) == 1


def test_pause_of_another_revision_is_412(minutely: Api) -> None:
    etag = minutely.call("GET", TRIGGER).headers["etag"]
    minutely.json("PUT", TRIGGER, a_trigger_body(), headers={"If-Match": "*"})
    assert problem(minutely.call("POST", PATH, headers={"If-Match": etag}))[0] == 412
    assert minutely.json("GET", TRIGGER)["state"] == "live"


@pytest.mark.parametrize("note", ["", "x" * 501, 7, ["a"]])
def test_pause_bad_note_is_422(minutely: Api, note: Any) -> None:
    assert problem(minutely.call("POST", PATH, {"note": note})) == (422, ["note"])
