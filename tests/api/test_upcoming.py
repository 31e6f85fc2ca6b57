"""GET upcoming: of a trigger, and of a tenant by due time."""

from typing import Any

import pytest

from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.definitions import a_target, a_trigger
from tests.support.ladder import ReadLadder

JOB = f"/v1/tenants/{TENANT}/triggers/job"
OF_TENANT = f"/v1/tenants/{TENANT}/upcoming"


class TestUpcomingOfTrigger(ReadLadder):
    path = "/v1/tenants/{tenant}/triggers/job/upcoming"
    unknown_path = f"/v1/tenants/{TENANT}/triggers/nothing/upcoming"

    def prepare(self, api: Api) -> None:
        api.apply(a_trigger("job"))


class TestUpcomingOfTenant(ReadLadder):
    path = "/v1/tenants/{tenant}/upcoming"
    unknown_path = "/v1/tenants/nobody/upcoming"


def instants(answer: dict[str, Any]) -> list[str]:
    return [each["scheduled_instant"] for each in answer["items"]]


def test_trigger_tells_its_next_instants_on_its_own_clock(api: Api) -> None:
    api.json("PUT", JOB, a_trigger_body())
    answer = api.json("GET", f"{JOB}/upcoming", count=2)
    assert instants(answer) == ["2026-03-02T08:00:00Z", "2026-03-03T08:00:00Z"]
    first = answer["items"][0]
    assert (first["due_at"], first["zone"]) == ("2026-03-02T08:00:00Z", "Europe/Berlin")
    assert first["scheduled_local"] == "2026-03-02 09:00:00 +01:00"
    assert (first["tenant"], first["trigger"]) == (TENANT, "job")
    assert (answer["reason"], answer["is_complete"]) == (None, True)


def test_trigger_tells_of_a_time_ahead(api: Api) -> None:
    api.json("PUT", JOB, a_trigger_body())
    answer = api.json("GET", f"{JOB}/upcoming", count=1, since="2027-01-01T00:00:00+01:00")
    assert instants(answer) == ["2027-01-01T08:00:00Z"]


def test_trigger_with_smear_is_due_later(api: Api) -> None:
    api.json("PUT", JOB, a_trigger_body(smear_s=600))
    (each,) = api.json("GET", f"{JOB}/upcoming", count=1)["items"]
    assert "2026-03-02T08:00:00" < each["due_at"][:19] < "2026-03-02T08:10:00"


def test_paused_trigger_says_why_nothing_is_due(api: Api) -> None:
    api.json("PUT", JOB, a_trigger_body())
    api.json("POST", f"{JOB}:pause", {"note": "price change"})
    answer = api.json("GET", f"{JOB}/upcoming")
    assert answer["items"] == []
    assert answer["reason"] == "paused (price change): nothing is due until it is resumed"


def test_trigger_that_ends_before_the_time_asked_for_is_not_said_to_have_ended(api: Api) -> None:
    api.json("PUT", JOB, a_trigger_body(ends_at="2026-04-01T00:00:00Z"))
    answer = api.json("GET", f"{JOB}/upcoming", since="2026-05-01T00:00:00Z")
    assert answer["items"] == []
    assert answer["reason"] == "nothing is due after 2026-05-01T00:00:00Z"


def test_tenant_tells_what_is_due_next_of_all_triggers(api: Api) -> None:
    for name, schedule, zone in (("a", "0 9 * * *", "UTC"), ("b", "30 9 * * *", "Asia/Tokyo")):
        path = f"/v1/tenants/{TENANT}/triggers/{name}"
        api.json("PUT", path, a_trigger_body(schedule=schedule, zone=zone))
    answer = api.json("GET", OF_TENANT, count=3)
    assert [(each["trigger"], each["due_at"], each["zone"]) for each in answer["items"]] == [
        ("b", "2026-03-02T00:30:00Z", "Asia/Tokyo"),
        ("a", "2026-03-02T09:00:00Z", "UTC"),
        ("b", "2026-03-03T00:30:00Z", "Asia/Tokyo"),
    ]
    short = api.json("GET", OF_TENANT, through="2026-03-02T01:00:00Z")
    assert instants(short) == ["2026-03-02T00:30:00Z"]


def test_tenant_tells_nothing_of_another(api: Api) -> None:
    api.apply(a_target(OTHER), a_trigger("theirs", tenant_id=OTHER))
    assert api.json("GET", OF_TENANT)["items"] == []


@pytest.mark.parametrize("path", [f"{JOB}/upcoming", OF_TENANT])
@pytest.mark.parametrize("count", [0, -1, 1_001, "all"])
def test_count_out_of_bounds_is_422(api: Api, path: str, count: object) -> None:
    api.apply(a_trigger("job"))
    assert problem(api.call("GET", path, count=count)) == (422, ["count"])


def test_largest_count_is_answered(api: Api) -> None:
    api.apply(a_trigger("job"))
    assert len(api.json("GET", f"{JOB}/upcoming", count=1_000)["items"]) == 1_000


def test_time_that_is_no_instant_is_422(api: Api) -> None:
    api.apply(a_trigger("job"))
    assert problem(api.call("GET", f"{JOB}/upcoming", since="soon")) == (422, ["since"])
    assert problem(api.call("GET", OF_TENANT, through="2026-03-02")) == (422, ["through"])
