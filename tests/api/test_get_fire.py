"""GET one fire: with its attempts, its chain, and the range that holds an instant."""

from typing import Any

import pytest

from ports.changes import RunTrigger
from scheduling.instants import from_text
from scheduling.keys import FireKey, trigger_id_of
from tests.support.api import START, TENANT, Api, problem
from tests.support.definitions import a_trigger
from tests.support.ladder import ReadLadder
from tests.support.scripted_target import ACCEPTED, BUSY, UNREACHABLE
from tests.support.served import Served

JOB_ID = trigger_id_of(TENANT, "job", generation=0)


def key_at(time: str) -> str:
    """Of the fire of `job` at `00:05` of the first day."""
    return str(FireKey(TENANT, JOB_ID, from_text(f"2026-03-02T{time}:00Z")))


def detail(served: Served, key: str) -> dict[str, Any]:
    found: dict[str, Any] = served.api.json("GET", f"/v1/fires/{key}")
    return found


class TestGetFire(ReadLadder):
    path = f"/v1/fires/{FireKey(TENANT, JOB_ID, from_text(START), 1)}"
    unknown_path = f"/v1/fires/{FireKey(TENANT, JOB_ID, from_text(START), 2)}"

    def prepare(self, api: Api) -> None:
        api.apply(a_trigger("job"), RunTrigger(tenant_id=TENANT, name="job"))


def test_fire_comes_with_every_attempt(served: Served) -> None:
    served.answers(BUSY, UNREACHABLE, ACCEPTED)
    served.put()
    served.start().to("00:01:50")
    found = detail(served, key_at("00:01"))
    assert (found["fire"]["state"], found["fire"]["attempts"]) == ("succeeded", 3)
    assert [
        (each["n"], each["transport_result"], each["http_status"], each["error"])
        for each in found["attempts"]
    ] == [
        (1, "response", 503, None),
        (2, "not_sent", None, "connection refused"),
        (3, "response", 200, None),
    ]
    assert found["attempts"][0]["dispatched_at"] == "2026-03-02T00:01:00.005000Z"
    assert found["chain"] == []


def test_coalesced_fire_comes_with_the_one_that_ran(served: Served) -> None:
    served.after_an_outage()
    found = detail(served, key_at("00:04"))
    assert (found["fire"]["cause"], found["fire"]["instant_count"]) == ("coalesced", 36)
    (ran,) = found["chain"]
    assert (ran["fire_key"], ran["state"]) == (key_at("00:40"), "succeeded")
    assert found["fire"]["became"]["fire_key"] == ran["fire_key"]


def test_chain_goes_through_every_fire_to_the_last(served: Served) -> None:
    # What is missed is coalesced into a fire that waits, and that one into a newer one.
    served.put(schedule="*/5 * * * *")
    served.plant("UPDATE tenant SET catchup_rate_pct = 0")
    for away, back in (("00:01:30", "00:22:59"), ("00:23:30", "00:44:30")):
        served.start().to(away)
        served.stop()
        served.to(back)
    served.start().to("00:45:30")
    chain = detail(served, key_at("00:05"))["chain"]
    assert [(each["fire_key"], each["cause"]) for each in chain] == [
        (key_at("00:20"), "coalesced"),
        (key_at("00:40"), "coalesced"),
        (key_at("00:45"), None),
    ]


def test_key_of_an_instant_inside_a_range_finds_the_ranges_row(served: Served) -> None:
    served.after_an_outage()
    found = detail(served, key_at("00:20"))
    assert found["fire"]["fire_key"] == key_at("00:04")


def test_fire_of_a_deleted_trigger_is_still_there(served: Served) -> None:
    path = served.put()
    served.start().to("00:01:30")
    served.api.json("DELETE", path)
    assert detail(served, key_at("00:01"))["fire"]["trigger"] == "job"


@pytest.mark.parametrize("key", ["x", "acme~t1~now~0", "acme~t1~5", "acme~t1~05~0", "~~1~0"])
def test_key_that_is_none_is_422_and_says_the_form(api: Api, key: str) -> None:
    answer = api.call("GET", f"/v1/fires/{key}")
    assert problem(answer) == (422, ["fire_key"])
    assert "tenant~trigger~microseconds~sequence" in answer.json()["detail"]


def test_undecided_instant_is_404_and_points_at_why(served: Served) -> None:
    served.put()
    answer = served.api.call("GET", f"/v1/fires/{key_at('09:00')}")
    assert problem(answer) == (404, ["fire"])
    assert "`why`" in answer.json()["detail"]


def test_payload_is_shown_in_no_answer_about_fires(served: Served) -> None:
    served.put(payload={"canary": "c4n4ry"})
    served.start().to("00:01:30")
    for path in (f"/v1/fires/{key_at('00:01')}", f"/v1/fires?tenant={TENANT}"):
        answer = served.api.call("GET", path)
        assert answer.is_success
        assert "c4n4ry" not in answer.text
