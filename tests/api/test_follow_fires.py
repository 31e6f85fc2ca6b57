"""GET fires by their change: each change is told, oldest first, and none is missed."""

from typing import Any, ClassVar

import pytest

from ports.changes import PutTrigger
from scheduling.instants import SECOND_US, from_text, to_text
from tests.support.api import OTHER, START, TENANT, problem
from tests.support.definitions import a_definition, a_target
from tests.support.ladder import ReadLadder
from tests.support.scripted_target import ACCEPTED, BUSY, Answer
from tests.support.served import Served


class TestFollowFires(ReadLadder):
    path = "/v1/fires"
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT, "changed_since": START}


class TestFollowFiresOfThePlatform(ReadLadder):
    path = "/v1/fires"
    params: ClassVar[dict[str, Any]] = {"changed_since": START}
    is_platform_wide = True
    is_of_the_caller = True


class Follower:
    """Polls as a client does: the last cursor, and each change of a fire told once."""

    def __init__(self, served: Served, **params: Any) -> None:
        self.served = served
        self.params = {"tenant": TENANT, "changed_since": START, **params}
        self.cursor: dict[str, Any] = {}
        self.seen: set[tuple[str, str, str]] = set()
        self.repeats = 0

    def poll(self) -> list[str]:
        """What is new, in short."""
        told = []
        while True:
            page = self.served.api.json("GET", "/v1/fires", **self.params, **self.cursor)
            self.cursor = {"cursor": page["cursor"]}
            for each in page["items"]:
                stamp = (each["fire_key"], each["changed_at"], each["state"])
                if stamp in self.seen:
                    self.repeats += 1
                    continue
                self.seen.add(stamp)
                told.append(f"{each['scheduled_instant'][11:16]} {each['state']}")
            if len(page["items"]) < self.params.get("limit", 100):
                return told


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_each_change_is_told_once_and_in_order(served: Served, limit: int) -> None:
    served.answers(Answer(lasts_us=20 * SECOND_US), BUSY, ACCEPTED)
    served.put()
    served.start()
    follower = Follower(served, limit=limit)
    told = []
    for moment in ("00:00:30", "00:01:10", "00:01:50", "00:02:00.2", "00:03:50"):
        served.to(moment)
        told.append(follower.poll())
    assert told == [
        [],
        ["00:01 accepted"],
        ["00:01 succeeded"],
        ["00:02 held"],
        ["00:02 succeeded", "00:03 succeeded"],
    ]


def test_quiet_follower_is_told_nothing_again(served: Served) -> None:
    served.put()
    served.start().to("00:01:30")
    follower = Follower(served)
    assert follower.poll() == ["00:01 succeeded"]
    for _ in range(3):
        assert follower.poll() == []
    assert follower.repeats == 0


def test_change_that_becomes_visible_after_a_later_dated_one_is_told(served: Served) -> None:
    served.put()
    served.start().to("00:02:00.5")
    follower = Follower(served)
    assert follower.poll() == ["00:01 succeeded", "00:02 succeeded"]
    # Another process dated its commit a second before this one, and was slower.
    late_us = from_text("2026-03-02T00:01:59.500000Z")
    served.plant(
        f"UPDATE fire SET changed_at = {late_us}, state = 'failed'"
        " WHERE scheduled_instant = (SELECT min(scheduled_instant) FROM fire)"
    )
    assert follower.poll() == ["00:01 failed"]


def test_nothing_from_before_the_start_is_told(served: Served) -> None:
    served.put()
    served.start().to("00:02:00.5")
    since = to_text(served.api.now_us)
    follower = Follower(served, changed_since=since)
    assert follower.poll() == []
    served.to("00:03:00.5")
    assert follower.poll() == ["00:03 succeeded"]


def test_follower_takes_filters(served: Served) -> None:
    served.put("job")
    served.put("other")
    served.answers(BUSY, ACCEPTED)
    served.start()
    of_job = Follower(served, trigger="job")
    held = Follower(served, state="held")
    served.to("00:01:00.1")
    assert [len(each.poll()) for each in (of_job, held)] == [1, 1]


def test_follower_of_a_tenant_is_told_nothing_of_another(served: Served) -> None:
    served.api.apply(a_target(OTHER))
    theirs = PutTrigger(tenant_id=OTHER, name="theirs", definition=a_definition())
    served.api.apply(theirs)
    served.start().to("00:05:30")
    follower = Follower(served)
    assert follower.poll() == []
    everybody = served.api.json("GET", "/v1/fires", changed_since=START)["items"]
    assert {each["tenant"] for each in everybody} == {OTHER}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"since": START}, "since"),
        ({"through": START}, "through"),
        ({"expand": True}, "expand"),
    ],
)
def test_following_has_no_window(served: Served, params: dict[str, Any], field: str) -> None:
    answer = served.api.call("GET", "/v1/fires", tenant=TENANT, changed_since=START, **params)
    assert problem(answer) == (422, [field])
