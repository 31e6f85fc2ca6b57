"""A tenant's payload key is deleted: what it sealed is gone on every way, and everybody is told."""

from typing import Final

import pytest

from ports.records import FireRecord
from scheduling.vocabulary import Cause, FireState
from tests.support.api import ALL, OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.scripted_target import ACCEPTED, BUSY
from tests.support.served import Served

DELETE: Final = f"/v1/tenants/{TENANT}/payload-key:delete"
TARGET: Final = f"/v1/tenants/{TENANT}/targets/shop"
PAYLOAD: Final = {"to": "everybody"}
GONE: Final = f"the payload key of {TENANT} is gone"


def fires(served: Served, *states: FireState) -> list[FireRecord]:
    return [row for row in served.service.fires("job") if not states or row.state in states]


def sent(served: Served) -> list[bytes | None]:
    """What came to the target, one after the other."""
    return [receipt.fire.payload for receipt in served.service.target.receipts]


@pytest.fixture
def running(served: Served) -> Served:
    """A trigger with a payload, and a fire of it that went."""
    served.put(payload=PAYLOAD)
    served.start()
    served.to("00:01:30")
    assert sent(served) == [b'{"to":"everybody"}']
    return served


def test_waiting_fires_end_cancelled_and_why_says_so(running: Served) -> None:
    running.api.json("POST", DELETE)
    running.to("00:03:30")
    ended = fires(running, FireState.NOT_DISPATCHED)
    assert [(row.cause, row.cause_detail) for row in ended] == [(Cause.CANCELLED, GONE)] * 2
    assert len(sent(running)) == 1
    (answer,) = running.why("00:02")
    assert answer["answer"] == "not_dispatched"
    assert f"its payload cannot be read any more ({GONE})" in answer["sentence"]


def test_fire_that_was_tried_is_tried_no_more_and_why_says_so(running: Served) -> None:
    running.answers(BUSY)
    running.to("00:02:00.100000")
    running.api.json("POST", DELETE)
    running.answers(ACCEPTED)
    running.to("00:30:00")
    row = next(row for row in fires(running) if row.state is FireState.UNDELIVERED)
    assert row.cause_detail == GONE
    assert len(sent(running)) == 2
    (answer,) = running.why("00:02")
    assert f"no try is left ({GONE})" in answer["sentence"]


def test_run_by_hand_has_nothing_to_carry(running: Served) -> None:
    running.api.json("POST", DELETE)
    run = running.api.json("POST", running.path() + ":run")
    running.to("00:01:40")
    fire = running.api.json("GET", f"/v1/fires/{run['fire_key']}")["fire"]
    assert (fire["state"], fire["cause"], fire["cause_detail"]) == (
        "not_dispatched",
        "cancelled",
        GONE,
    )


def test_payload_of_a_run_that_waited_is_gone_too(running: Served) -> None:
    running.stop()
    run = running.api.json("POST", running.path() + ":run", {"payload": {"just": "once"}})
    running.api.json("POST", DELETE)
    running.api.json("PUT", TARGET, {"url": "https://shop.example/hook"}, headers={"If-Match": "*"})
    running.start()
    running.to("00:01:40")
    fire = running.api.json("GET", f"/v1/fires/{run['fire_key']}")["fire"]
    assert (fire["cause"], fire["cause_detail"]) == (
        "cancelled",
        f"{GONE}, and it has another one now",
    )


def test_put_again_seals_with_a_new_key_and_fires_again(running: Served) -> None:
    running.api.json("POST", DELETE)
    running.api.json("PUT", TARGET, {"url": "https://shop.example/hook"}, headers={"If-Match": "*"})
    running.to("00:02:30")
    (dropped,) = fires(running, FireState.NOT_DISPATCHED)
    assert dropped.cause_detail == f"{GONE}, and it has another one now"
    running.put(payload=PAYLOAD)
    running.to("00:03:30")
    assert sent(running) == [b'{"to":"everybody"}'] * 2


def test_apply_again_is_an_edit_because_what_is_stored_is_lost(api: Api) -> None:
    members = {
        "targets": {"shop": {"url": "https://shop.example/hook"}},
        "triggers": {"digest": a_trigger_body(payload=PAYLOAD)},
    }
    body = {"manifests": [{"tenants": {TENANT: members}}]}
    api.json("POST", "/v1/apply", body)
    assert {each["change"] for each in api.json("POST", "/v1/apply", body)["entries"]} == {
        "unchanged"
    }
    api.json("POST", DELETE)
    again = api.json("POST", "/v1/apply", body)["entries"]
    assert {each["name"]: each["change"] for each in again}["digest"] == "edited"


def test_secret_is_gone_and_a_new_one_is_another(api: Api) -> None:
    before = api.json("GET", TARGET + "/secret")["secret"]
    api.json("POST", DELETE)
    assert problem(api.call("GET", TARGET + "/secret")) == (404, ["secret"])
    api.json("PUT", TARGET, {"url": "https://shop.example/hook"}, headers={"If-Match": "*"})
    assert api.json("GET", TARGET + "/secret")["secret"] != before


def test_other_tenants_go_on(running: Served) -> None:
    api = running.api
    for path, body in (
        (f"/v1/tenants/{OTHER}/targets/shop", {"url": "http://127.0.0.1:8089/hook"}),
        (
            f"/v1/tenants/{OTHER}/triggers/job",
            a_trigger_body(schedule="* * * * *", zone="UTC", payload={"of": OTHER}),
        ),
    ):
        api.json("PUT", path, body)
    api.json("POST", DELETE)
    running.to("00:02:30")
    assert sent(running)[1:] == [b'{"of":"bolt"}']


def test_deletion_is_audited_once_and_again_where_it_is_repeated(api: Api) -> None:
    api.principal("ada", *ALL)
    for _ in range(2):
        api.json("POST", DELETE, by="ada")
    entries = api.audit("payload_key_deleted")
    assert [(each.actor, each.tenant_id, each.subject) for each in entries] == [
        ("ada", TENANT, TENANT)
    ] * 2
