"""GET events: what was published, page by page, each tenant its own."""

from typing import Any, ClassVar

import pytest

from control_api.operations import events as operations
from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import ReadLadder
from tests.support.published_events import an_event


class TestEvents(ReadLadder):
    path = "/v1/events"
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}


class TestEventsOfThePlatform(ReadLadder):
    path = "/v1/events"
    is_platform_wide = True
    is_of_the_caller = True


def publish(api: Api, *tenants: str) -> None:
    """One event a tenant named, numbered in order."""
    api.services.events.publish(
        [an_event(number, tenant_id=tenant) for number, tenant in enumerate(tenants, start=1)]
    )


def offsets(answer: dict[str, Any]) -> list[int]:
    return [each["offset"] for each in answer["items"]]


def test_event_is_shown_whole(api: Api) -> None:
    publish(api, TENANT)
    answer = api.json("GET", "/v1/events", tenant=TENANT)
    assert answer == {
        "items": [
            {
                "offset": 1,
                "event_id": "TriggerChanged~1~7",
                "event": "TriggerChanged",
                "tenant": TENANT,
                "trigger_id": "t1",
                "at": "1970-01-01T00:00:00.000001Z",
                "body": {"n": 1},
            }
        ],
        "next_after": 1,
        "kept_after": 0,
        "kept_through": 1,
    }


def test_pages_go_on_after_the_last_offset(api: Api) -> None:
    publish(api, TENANT, OTHER, TENANT, TENANT)
    first = api.json("GET", "/v1/events", limit=3)
    assert (offsets(first), first["next_after"], first["kept_through"]) == ([1, 2, 3], 3, 4)
    rest = api.json("GET", "/v1/events", limit=3, after=first["next_after"])
    assert (offsets(rest), rest["next_after"]) == ([4], 4)
    end = api.json("GET", "/v1/events", after=rest["next_after"])
    assert (offsets(end), end["next_after"]) == ([], 4)


def test_events_of_a_tenant_leave_the_others_out(api: Api) -> None:
    publish(api, OTHER, TENANT, OTHER, TENANT, OTHER)
    api.principal("reader", GrantKind.READ, tenant=TENANT)
    first = api.json("GET", "/v1/events", by="reader", tenant=TENANT, limit=1)
    assert (offsets(first), first["next_after"]) == ([2], 2)
    rest = api.json("GET", "/v1/events", by="reader", tenant=TENANT, after=2)
    assert (offsets(rest), rest["next_after"]) == ([4], 5)
    assert offsets(api.json("GET", "/v1/events", by="reader")) == [2, 4]


def test_events_of_a_quiet_tenant_are_searched_a_bounded_way(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "_PAGE_ROWS", 2)
    monkeypatch.setattr(operations, "EVENTS_SEARCHED_MAX", 4)
    publish(api, *[OTHER] * 5, TENANT)
    first = api.json("GET", "/v1/events", tenant=TENANT)
    assert (offsets(first), first["next_after"]) == ([], 4)
    assert offsets(api.json("GET", "/v1/events", tenant=TENANT, after=4)) == [6]


@pytest.mark.parametrize(
    ("name", "value"), [("after", -1), ("after", 2**63), ("after", "x"), ("limit", 0)]
)
def test_bound_is_422(api: Api, name: str, value: Any) -> None:
    assert problem(api.call("GET", "/v1/events", **{name: value})) == (422, [name])
