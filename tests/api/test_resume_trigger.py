"""POST a resume."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from scheduling.instants import from_text
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
PATH = TRIGGER + ":resume"


class TestResumeTrigger(WriteLadder):
    method = "POST"
    path = "/v1/tenants/{tenant}/triggers/digest:resume"
    body: ClassVar[dict[str, Any]] = {"policy": "fire_once_now", "note": "they are back"}
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing:resume"
    other: ClassVar[dict[str, Any]] = {"policy": "drop"}
    action = "trigger_resumed"
    revised = "/v1/tenants/{tenant}/triggers/digest"
    event = "TriggerChanged"

    def prepare(self, api: Api) -> None:
        api.json("PUT", TRIGGER, a_trigger_body())
        api.json("POST", TRIGGER + ":pause")

    def enough(self) -> tuple[GrantKind, ...]:
        return (GrantKind.AUTHOR, GrantKind.OPERATOR)


@pytest.fixture
def paused(api: Api) -> Api:
    """Paused for an hour and a half, during which it would have fired at 01:00."""
    api.json("PUT", TRIGGER, a_trigger_body(schedule="0 * * * *", zone="UTC"))
    api.json("POST", TRIGGER + ":pause")
    api.clock.advance(from_text("2026-03-02T01:30:00Z") - api.now_us)
    return api


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (None, "not_dispatched"),
        ({"policy": "drop"}, "not_dispatched"),
        ({"policy": "skip"}, "not_dispatched"),
        ({"policy": "fire_once_now"}, "held"),
        ({"policy": "fire_all"}, "held"),
    ],
)
def test_resume_says_what_becomes_of_the_paused_time(paused: Api, body: Any, state: str) -> None:
    changed = paused.json("POST", PATH, body)
    assert (changed["change"], changed["trigger"]["state"]) == ("resumed", "live")
    assert changed["trigger"]["next_due_at"] is not None
    paused.decide()
    (row,) = paused.services.store.history.fires(tenant_id=TENANT, limit=10)
    assert row.state == state


def test_resume_of_a_live_trigger_changes_nothing(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    answer = api.call("POST", PATH)
    assert (answer.status_code, answer.json()["change"]) == (200, "unchanged")


def test_resume_is_a_new_revision_of_the_same_version(paused: Api) -> None:
    answer = paused.call("POST", PATH, {"note": "they are back"})
    changed = answer.json()
    assert (changed["version"], changed["revision"]) == (1, 3)
    assert answer.headers["etag"] == f'"{changed["trigger_id"]}.3"'
    assert paused.audit("trigger_resumed")[0].note == "they are back"


@pytest.mark.parametrize("policy", ["later", "", 1, None, "DROP"])
def test_resume_unknown_policy_is_422(paused: Api, policy: Any) -> None:
    answer = paused.call("POST", PATH, {"policy": policy})
    assert problem(answer) == (422, ["policy"])
    assert "fire_once_now" in answer.json()["detail"]
