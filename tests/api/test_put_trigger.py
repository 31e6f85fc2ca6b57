"""PUT a trigger: create it, replace it."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from scheduling.instants import from_text
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/triggers/digest"


class TestPutTrigger(WriteLadder):
    method = "PUT"
    path = "/v1/tenants/{tenant}/triggers/digest"
    body = a_trigger_body()
    status = 201
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/nobody/triggers/digest"
    required = ("schedule", "zone", "target")
    other: ClassVar[dict[str, Any]] = {"zone": "Europe/Paris"}
    action = "trigger_created"
    revised = "/v1/tenants/{tenant}/triggers/digest"
    event = "TriggerChanged"
    stale = '"t0123456789abcdef0123.7"'
    creates = True


def test_put_new_trigger_says_what_it_will_do(api: Api) -> None:
    answer = api.call("PUT", PATH, a_trigger_body())
    assert answer.status_code == 201, answer.text
    changed = answer.json()
    trigger = changed["trigger"]
    assert changed["change"] == "created"
    assert answer.headers["location"] == PATH
    assert answer.headers["etag"] == f'"{trigger["trigger_id"]}.1"'
    assert trigger["says"].startswith("At 09:00 on ")
    # Berlin is an hour ahead of UTC in the week of 2 March.
    assert trigger["next"] == [f"2026-03-0{day}T08:00:00Z" for day in (2, 3, 4)]
    assert trigger["next_due_at"] == "2026-03-02T08:00:00Z"
    assert trigger["definition"]["missed"] == "fire_once_now"
    assert trigger["horizon_source"] == "default"


def test_put_what_is_there_already_changes_nothing(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    again = api.call("PUT", PATH, a_trigger_body())
    assert (again.status_code, again.json()["change"]) == (200, "unchanged")
    assert len(api.audit("trigger_created", "trigger_edited")) == 1


def test_put_another_definition_without_an_etag_is_428(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call("PUT", PATH, a_trigger_body(zone="Europe/Paris"))
    assert problem(answer) == (428, ["If-Match"])


@pytest.mark.parametrize("etag", ["given", "*"])
def test_put_with_an_etag_is_a_new_version(api: Api, etag: str) -> None:
    first = api.call("PUT", PATH, a_trigger_body())
    api.clock.advance(60_000_000)
    sent = first.headers["etag"] if etag == "given" else etag
    answer = api.call("PUT", PATH, a_trigger_body(zone="Europe/Paris"), headers={"If-Match": sent})
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert (changed["change"], changed["version"], changed["revision"]) == ("edited", 2, 2)
    assert changed["since"] == "2026-03-02T00:01:00Z"


def test_put_create_only_of_what_is_there_is_412(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call("PUT", PATH, a_trigger_body(), headers={"If-None-Match": "*"})
    assert problem(answer)[0] == 412


def test_put_the_answers_own_definition_is_unchanged(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body(exclude=["2026-12-24"], starts_at="2026-04-01T00:00:00Z"))
    read = api.json("GET", PATH)
    changed = api.json("PUT", PATH, read["definition"])
    assert changed["change"] == "unchanged"


def test_put_longer_horizon_needs_policy(api: Api) -> None:
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    answer = api.call("PUT", PATH, a_trigger_body(horizon="2h"), by="author")
    assert problem(answer) == (403, ["grant"])
    assert "policy" in answer.json()["detail"]
    assert [entry.actor for entry in api.audit("privilege_refused")] == ["author"]
    shorter = api.json("PUT", PATH, a_trigger_body(horizon="30m"), by="author")
    assert shorter["trigger"]["horizon_source"] == "chosen by author"


def test_put_leaves_a_horizon_that_policy_set(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body(horizon="6h"))
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    edited = api.json(
        "PUT", PATH, a_trigger_body(zone="Europe/Paris"), by="author", headers={"If-Match": "*"}
    )
    assert edited["trigger"]["definition"]["horizon"] == "6h"
    assert edited["trigger"]["horizon_source"] == "chosen by root"


def test_put_without_a_payload_that_is_there_is_refused(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body(payload={"to": "all"}))
    answer = api.call("PUT", PATH, a_trigger_body(), headers={"If-Match": "*"})
    assert problem(answer) == (422, ["payload"])
    removed = api.json("PUT", PATH, a_trigger_body() | {"payload": None}, headers={"If-Match": "*"})
    assert removed["trigger"]["has_payload"] is False


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"schedule": "61 * * * *"}, "schedule", "61"),
        ({"zone": "Europe/Berln"}, "zone", "did you mean `Europe/Berlin`"),
        ({"target": "shpo"}, "target", "shpo"),
        ({"missed": "fire_twice"}, "missed", "fire_once_now"),
        ({"horizon": "8d"}, "horizon", "at most 7d"),
        ({"cron": "* * * * *"}, "cron", "did you mean `schedule`"),
        ({"smear_s": -1}, "smear_s", "at least 0"),
        ({"paused": True}, "paused", ":pause"),
        ({"resume": "skip"}, "resume", ":resume"),
        ({"exclude": ["2026-02-30"]}, "exclude", "calendar"),
        ({"max_fires": "3"}, "max_fires", "whole number"),
        ({"payload": "x" * 70_000}, "payload", "limit"),
    ],
)
def test_put_wrong_field_is_named_with_its_remedy(
    api: Api, changes: dict[str, Any], field: str, says: str
) -> None:
    answer = api.call("PUT", PATH, a_trigger_body(**changes))
    assert problem(answer) == (422, [field])
    assert says in answer.json()["detail"]


@pytest.mark.parametrize("name", ["Digest", "x" * 129, "-a", "a b"])
def test_put_bad_name_is_422(api: Api, name: str) -> None:
    answer = api.call("PUT", f"/v1/tenants/{TENANT}/triggers/{name}", a_trigger_body())
    assert problem(answer) == (422, ["name"])


def test_put_an_etag_of_a_deleted_namesake_is_412(api: Api) -> None:
    first = api.call("PUT", PATH, a_trigger_body())
    api.json("DELETE", PATH)
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call(
        "PUT",
        PATH,
        a_trigger_body(zone="UTC"),
        headers={"If-Match": first.headers["etag"]},
    )
    assert problem(answer)[0] == 412


def test_put_settles_what_is_due(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body(schedule="* * * * *"))
    api.clock.advance(from_text("2026-03-02T00:02:30Z") - api.now_us)
    changed = api.json(
        "PUT", PATH, a_trigger_body(schedule="*/2 * * * *"), headers={"If-Match": "*"}
    )
    assert changed["settled_rows"] == 2
    assert changed["trigger"]["decided_through"] == "2026-03-02T00:02:00Z"


@pytest.mark.parametrize("key", ["whsec_S3cret0", "pay load"])
def test_unknown_key_that_is_no_word_is_not_repeated(api: Api, key: str) -> None:
    """A slip of the comma can make a key of a secret."""
    for body in ({key: 1}, {"retry": {key: 1}}):
        answer = api.call("PUT", PATH, a_trigger_body(**body))
        assert problem(answer) == (422, ["?" if key in body else "retry.?"])
        assert key not in answer.text
