"""GET fires: filters, pages that stay stable, ranges expanded, and what is refused."""

import base64
from typing import Any, ClassVar

import pytest

from control_api.answers import fire_pages
from ports.changes import PutTrigger
from ports.principals import GrantKind
from scheduling.instants import from_text
from scheduling.keys import FireKey
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.cursors import forged
from tests.support.definitions import a_definition, a_target, a_trigger
from tests.support.ladder import ReadLadder
from tests.support.scripted_target import REFUSED
from tests.support.served import Served


class TestListFires(ReadLadder):
    path = "/v1/fires"
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}


class TestListFiresOfTheTrigger(ReadLadder):
    path = "/v1/fires"
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT, "trigger": "job"}

    def prepare(self, api: Api) -> None:
        api.apply(a_trigger("job"))


class TestListFiresOfThePlatform(ReadLadder):
    path = "/v1/fires"
    is_platform_wide = True
    is_of_the_caller = True


def fires(served: Served, **params: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = served.api.json("GET", "/v1/fires", tenant=TENANT, **params)[
        "items"
    ]
    return items


def all_pages(served: Served, *, limit: int, **params: Any) -> list[list[str]]:
    """The times of each page's fires, until there is no cursor."""
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = served.api.json(
            "GET", "/v1/fires", **{"tenant": TENANT, "limit": limit, **params, **more}
        )
        pages.append(times(page["items"]))
        cursor = page["cursor"]
        if cursor is None:
            return pages


def times(items: list[dict[str, Any]]) -> list[str]:
    """`00:05` of the first day."""
    return [each["scheduled_instant"][11:16] for each in items]


def two_tenants(served: Served) -> None:
    served.put("job")
    served.api.apply(a_target(OTHER))
    theirs = PutTrigger(tenant_id=OTHER, name="theirs", definition=a_definition())
    served.api.apply(theirs)
    served.start().to("00:02:30")


def test_list_shows_newest_first_with_what_became_of_each(served: Served) -> None:
    served.after_an_outage()
    newest, late, missed, *_ = fires(served)
    assert times([newest, late, missed]) == ["00:41", "00:40", "00:04"]
    assert (newest["state"], newest["lateness_ms"], newest["attempts"]) == ("succeeded", 5.0, 1)
    assert (missed["state"], missed["cause"]) == ("not_dispatched", "coalesced")
    assert (missed["instant_count"], missed["through_instant"]) == (36, "2026-03-02T00:39:00Z")
    assert missed["became"] == {
        "fire_key": late["fire_key"],
        "scheduled_instant": "2026-03-02T00:40:00Z",
        "state": "succeeded",
        "cause": None,
    }


def test_list_shows_the_clock_of_the_triggers_zone(served: Served) -> None:
    served.put(zone="Asia/Tokyo")
    served.start().to("00:01:30")
    (fire,) = fires(served)
    assert (fire["zone"], fire["scheduled_local"]) == ("Asia/Tokyo", "2026-03-02 09:01:00 +09:00")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["00:41", "00:40", "00:04", "00:03", "00:02", "00:01"]),
        ({"state": "not_dispatched"}, ["00:04"]),
        ({"state": ["not_dispatched", "succeeded"], "since": "2026-03-02T00:41:00Z"}, ["00:41"]),
        ({"state": "held"}, []),
        ({"cause": "coalesced"}, ["00:04"]),
        ({"cause": ["paused", "coalesced"]}, ["00:04"]),
        ({"cause": "coalesced", "state": "succeeded"}, []),
        ({"cause": "expired_past_horizon"}, []),
        ({"lane": "on_time", "state": "succeeded", "limit": 2}, ["00:41", "00:40"]),
        ({"lane": "backfill"}, []),
        ({"trigger": "job", "through": "2026-03-02T00:02:59Z"}, ["00:02", "00:01"]),
        ({"since": "2026-03-02T00:20:00Z"}, ["00:41", "00:40", "00:04"]),
        ({"since": "2026-03-02T09:41:00+09:00"}, ["00:41"]),
        (
            {"since": "2026-03-02T00:03:00Z", "through": "2026-03-02T00:39:30Z"},
            ["00:04", "00:03"],
        ),
    ],
)
def test_list_takes_every_filter(served: Served, filters: dict[str, Any], found: list[str]) -> None:
    served.after_an_outage()
    assert times(fires(served, **filters)) == found


def test_list_of_a_trigger_leaves_the_others_out(served: Served) -> None:
    served.put("other")
    served.put("job")
    served.start().to("00:02:30")
    assert {each["trigger"] for each in fires(served, trigger="job")} == {"job"}
    trigger_id = served.api.json("GET", served.path())["trigger_id"]
    assert fires(served, trigger=trigger_id) == fires(served, trigger="job")


def test_list_of_a_deleted_trigger_goes_by_its_id(served: Served) -> None:
    path = served.put()
    served.start().to("00:01:30")
    trigger_id = served.api.json("GET", path)["trigger_id"]
    served.api.json("DELETE", path)
    assert times(fires(served, trigger=trigger_id)) == ["00:01"]
    answer = served.api.call("GET", "/v1/fires", tenant=TENANT, trigger="job")
    assert problem(answer) == (404, ["trigger"])


def test_list_of_one_tenant_shows_nothing_of_another(served: Served) -> None:
    two_tenants(served)
    assert {each["tenant"] for each in fires(served)} == {TENANT}
    every = served.api.json("GET", "/v1/fires")["items"]
    assert {each["tenant"] for each in every} == {TENANT, OTHER}


def test_list_that_names_no_tenant_is_of_the_readers_only_one(served: Served) -> None:
    two_tenants(served)
    served.api.principal("reader", GrantKind.READ, tenant=TENANT)
    mine = served.api.json("GET", "/v1/fires", by="reader")
    assert mine == served.api.json("GET", "/v1/fires", by="reader", tenant=TENANT)
    assert {each["tenant"] for each in mine["items"]} == {TENANT}
    one = served.api.json("GET", "/v1/fires", by="reader", trigger="job")
    assert one == mine
    theirs = served.api.call("GET", "/v1/fires", by="reader", tenant=OTHER)
    assert problem(theirs) == (404, ["tenant"])


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_pages_together_are_the_list(served: Served, limit: int) -> None:
    served.after_an_outage()
    pages = all_pages(served, limit=limit)
    assert [time for page in pages for time in page] == times(fires(served))
    assert {len(page) for page in pages[:-1]} <= {limit}


def test_pages_stay_stable_while_rows_are_added(served: Served) -> None:
    served.after_an_outage()
    first = served.api.json("GET", "/v1/fires", tenant=TENANT, limit=2)
    served.to("00:45:30")
    rest = served.api.json("GET", "/v1/fires", tenant=TENANT, cursor=first["cursor"])
    assert times([*first["items"], *rest["items"]]) == [
        "00:41",
        "00:40",
        "00:04",
        "00:03",
        "00:02",
        "00:01",
    ]


def test_pages_of_several_triggers_and_tenants_leave_nothing_out(served: Served) -> None:
    two_tenants(served)
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = served.api.json("GET", "/v1/fires", limit=1, **cursor)
        seen += (each["fire_key"] for each in page["items"])
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert len(seen) == len(set(seen)) == 4


@pytest.mark.parametrize("limit", [1, 7, 35, 36, 37, 38, 100])
def test_expanded_pages_together_are_every_instant_once(served: Served, limit: int) -> None:
    served.after_an_outage()
    pages = all_pages(served, limit=limit, expand=True)
    assert max(map(len, pages)) <= limit
    assert [time for page in pages for time in page] == [
        f"00:{minute:02}" for minute in range(41, 0, -1)
    ]


def test_expanded_inside_a_window_are_only_its_instants(served: Served) -> None:
    served.after_an_outage()
    window: dict[str, Any] = {"since": "2026-03-02T00:10:00Z", "through": "2026-03-02T00:13:30Z"}
    assert all_pages(served, limit=3, expand=True, **window) == [
        ["00:13", "00:12", "00:11"],
        ["00:10"],
    ]


def test_expanded_pages_stay_inside_a_range_while_rows_are_added(served: Served) -> None:
    served.after_an_outage()
    first = served.api.json("GET", "/v1/fires", tenant=TENANT, limit=5, expand=True)
    served.to("00:45:30")
    more = {"cursor": first["cursor"], "limit": 2, "expand": True}
    assert times(fires(served, **more)) == ["00:36", "00:35"]


def test_rare_filter_is_searched_a_bounded_way_and_goes_on(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fire_pages, "FIRES_SEARCHED_MAX", 2)
    monkeypatch.setattr(fire_pages, "_PAGE_ROWS", 2)
    served.after_an_outage()
    pages = all_pages(served, limit=5, lane="on_time", state="succeeded", trigger="job")
    assert pages == [["00:41", "00:40"], ["00:03"], ["00:02", "00:01"], []]


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%%%",
        "ü",
        forged("acme~t1~5~0", ""),
        *(
            forged(kind, *parts)
            for kind in ("fires", "changes")
            for parts in (
                ("acme~t1~5~0",),
                ("acme~t1~5~0", "", ""),
                ("acme~t1~5", ""),
                ("acme~t1~" + "9" * 40 + "~0", ""),
                ("acme~t1~5~0", "now"),
                ("acme~t1~5~0", "9" * 40),
                (5, 6),
            )
        ),
        base64.urlsafe_b64encode(b"[" * 5_000).decode(),
    ],
)
@pytest.mark.parametrize("mode", [{}, {"changed_since": "2026-03-02T00:00:00Z"}], ids=str)
def test_cursor_that_is_none_of_ours_is_400(api: Api, cursor: str, mode: dict[str, Any]) -> None:
    answer = api.call("GET", "/v1/fires", tenant=TENANT, cursor=cursor, **mode)
    assert problem(answer) == (400, ["cursor"])


def test_forged_cursor_into_another_tenants_range_shows_nothing_of_it(served: Served) -> None:
    served.api.apply(a_target(OTHER))
    theirs = PutTrigger(tenant_id=OTHER, name="theirs", definition=a_definition())
    served.api.apply(theirs)
    served.after_an_outage()
    (missed,) = [
        FireKey.parse(each["fire_key"])
        for each in served.api.json("GET", "/v1/fires", tenant=OTHER)["items"]
        if each["instant_count"] > 1
    ]
    inside = from_text("2026-03-02T00:30:00Z")
    cursor = forged("fires", str(missed), str(inside))
    found = fires(served, cursor=cursor, expand=True, limit=500)
    assert {each["tenant"] for each in found} <= {TENANT}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"state": "done"}, "state.0"),
        ({"cause": "because"}, "cause.0"),
        ({"lane": "fast"}, "lane.0"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-03-02"}, "since"),
        ({"since": "2026-03-02T00:00:00"}, "since"),
        ({"through": "2026-02-30T00:00:00Z"}, "through"),
        ({"changed_since": "0"}, "changed_since"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"expand": "perhaps"}, "expand"),
        ({"since": "2026-03-03T00:00:00Z", "through": "2026-03-02T00:00:00Z"}, "through"),
    ],
)
def test_wrong_parameter_is_422_and_named(api: Api, params: dict[str, Any], field: str) -> None:
    assert problem(api.call("GET", "/v1/fires", tenant=TENANT, **params)) == (422, [field])


def test_trigger_without_its_tenant_is_422(api: Api) -> None:
    answer = api.call("GET", "/v1/fires", trigger="job")
    assert problem(answer) == (422, ["trigger"])
    assert "name its `tenant` too" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("names", "status"), [({"tenant": "acne"}, 404), ({"tenant": TENANT, "trigger": "jbo"}, 404)]
)
def test_unknown_tenant_or_trigger_is_404_and_no_empty_list(
    api: Api, names: dict[str, Any], status: int
) -> None:
    api.apply(a_trigger("job"))
    answer = api.call("GET", "/v1/fires", **names)
    assert problem(answer)[0] == status
    if "trigger" in names:
        assert "did you mean job?" in answer.json()["detail"]


def test_refused_fires_are_found_by_their_state_alone(served: Served) -> None:
    served.answers(REFUSED)
    served.put()
    served.start().to("00:03:30")
    assert times(fires(served, state="refused", limit=2)) == ["00:03", "00:02"]
