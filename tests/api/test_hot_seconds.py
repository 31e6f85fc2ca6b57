"""GET hot seconds: the next day's busiest, and the smear that would flatten them."""

from typing import Any

import pytest

from control_api.operations import forecasts
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.definitions import a_target, a_trigger
from tests.support.ladder import ReadLadder

PATH = f"/v1/tenants/{TENANT}/hot-seconds"


class TestHotSeconds(ReadLadder):
    path = "/v1/tenants/{tenant}/hot-seconds"
    unknown_path = "/v1/tenants/nobody/hot-seconds"


def crowd(api: Api, count: int, *, tenant: str = TENANT) -> None:
    """So many triggers of one definition, and one beside them."""
    names = [f"job-{number:02}" for number in range(count)]
    api.apply(*(a_trigger(name, "0 9 * * *", tenant_id=tenant) for name in names))


def test_hot_second_tells_who_crowds_it(api: Api) -> None:
    crowd(api, 40)
    api.apply(a_trigger("alone", "0 10 * * *"))
    found = api.json("GET", PATH)
    assert (found["tenant"], found["triggers"], found["unreadable"]) == (TENANT, 41, 0)
    assert (found["since"], found["until"]) == ("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z")
    assert (found["instants"], found["is_complete"]) == (41, True)
    hottest = found["before"][0]
    assert (hottest["at"], hottest["count"]) == ("2026-03-02T09:00:00Z", 40)
    assert hottest["crowds"] == [
        {
            "schedule": ["0 9 * * *"],
            "zone": "UTC",
            "count": 40,
            "names": ["acme/job-00", "acme/job-01", "acme/job-02"],
        }
    ]


def test_level_asks_for_the_smear_that_reaches_it(api: Api) -> None:
    crowd(api, 40)
    smear = api.json("GET", PATH, level=10)["smear"]
    assert smear["level"] == 10
    assert 1 <= smear["smear_s"] <= 3_600
    assert smear["expected"] <= 10
    assert smear["is_complete"] is True
    assert api.json("GET", PATH, level=50)["smear"]["smear_s"] == 0


def test_seconds_bound_what_is_shown(api: Api) -> None:
    api.apply(a_trigger("minutely"))
    assert len(api.json("GET", PATH, seconds=3)["after"]) == 3


def test_other_tenants_are_not_counted(api: Api) -> None:
    api.apply(a_target(OTHER))
    crowd(api, 5, tenant=OTHER)
    assert api.json("GET", PATH)["triggers"] == 0


def test_second_forecast_at_a_time_is_429_and_the_next_is_answered(api: Api) -> None:
    with forecasts._COUNTING:
        answer = api.call("GET", PATH)
    assert problem(answer) == (429, [])
    assert answer.headers["retry-after"] == "2"
    assert api.call("GET", PATH).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"), [("seconds", 0), ("seconds", 101), ("level", 0), ("level", "low")]
)
def test_bound_is_422(api: Api, name: str, value: Any) -> None:
    assert problem(api.call("GET", PATH, **{name: value})) == (422, [name])
