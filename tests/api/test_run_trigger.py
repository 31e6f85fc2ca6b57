"""POST a run by hand."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
PATH = TRIGGER + ":run"


class TestRunTrigger(WriteLadder):
    method = "POST"
    path = "/v1/tenants/{tenant}/triggers/digest:run"
    body: ClassVar[dict[str, Any]] = {"note": "the bank asks", "payload": {"to": "bank"}}
    status = 202
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing:run"
    other: ClassVar[dict[str, Any]] = {"force": True}
    action = "trigger_run"
    unrevised = "a run is a fire of its own, and leaves the trigger as it is"

    def prepare(self, api: Api) -> None:
        api.json("PUT", TRIGGER, a_trigger_body())


def test_run_is_one_fire_of_its_own(api: Api) -> None:
    put = api.json("PUT", TRIGGER, a_trigger_body())
    answer = api.call("POST", PATH, {"note": "the bank asks"})
    run = answer.json()
    assert answer.status_code == 202
    assert run["accepted_at"] == "2026-03-02T00:00:00Z"
    assert answer.headers["location"] == f"/v1/fires/{run['fire_key']}"
    fire = api.json("GET", answer.headers["location"])["fire"]
    assert (fire["origin"], fire["lane"], fire["sequence"]) == ("manual", "on_time", 1)
    assert fire["trigger_id"] == put["trigger_id"]
    assert api.audit("trigger_run")[0].note == "the bank asks"
    # It displaces nothing: the schedule stands as it was.
    after = api.json("GET", TRIGGER)
    assert {key: after[key] for key in put["trigger"]} == put["trigger"]


def test_run_twice_at_one_instant_is_two_fires(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    keys = {api.json("POST", PATH)["fire_key"] for _ in range(2)}
    assert len(keys) == 2


def test_run_against_a_taken_slot_is_409_unless_forced(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body(overlap="skip"))
    api.json("POST", PATH)
    assert problem(api.call("POST", PATH))[0] == 409
    assert api.call("POST", PATH, {"force": True}).status_code == 202


def test_run_of_a_paused_trigger_works(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    api.json("POST", TRIGGER + ":pause")
    assert api.call("POST", PATH).status_code == 202


def test_run_payload_is_nowhere_to_be_read(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    answer = api.call("POST", PATH, {"payload": {"card": "canary-4711"}})
    seen = [answer.text, api.call("GET", answer.headers["location"]).text]
    seen += [api.call("GET", "/v1/audit").text, str(api.outbox())]
    assert not any("canary" in text for text in seen)
    assert not any(b"canary" in path.read_bytes() for path in api.files())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"force": "yes"}, "force"),
        ({"force": 1}, "force"),
        ({"payload": "x" * 70_000}, "payload"),
        ({"note": ""}, "note"),
    ],
)
def test_run_bad_field_is_422(api: Api, body: Any, field: str) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    assert problem(api.call("POST", PATH, body)) == (422, [field])
