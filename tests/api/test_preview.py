"""POST a preview."""

import json
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

from ports.principals import GrantKind
from punctual.cli import cli
from scheduling import tzdata_version
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.ladder import ReadLadder

PATH = "/v1/preview"
BODY = {"schedule": "30 2 * * *", "zone": "Europe/Berlin"}


class TestPreview(ReadLadder):
    method = "POST"
    path = PATH
    body: ClassVar[dict[str, Any]] = {**BODY, "tenant": TENANT}
    required = ("schedule", "zone")

    def test_unknown_id_is_404(self, api: Api) -> None:
        answer = self.call(api, body={**BODY, "tenant": "nobody"})
        assert problem(answer) == (404, ["tenant"])


def test_preview_needs_a_token_and_no_grant(api: Api) -> None:
    api.principal("nobody")
    assert api.json("POST", PATH, BODY, by="nobody")["says"]
    answer = api.call("POST", PATH, {**BODY, "tenant": TENANT}, by="nobody")
    assert problem(answer) == (404, ["tenant"])


def test_preview_names_the_odd_nights_of_the_year(api: Api) -> None:
    told = api.json("POST", PATH, {**BODY, "count": 2, "from": "2026-03-28T12:00:00Z"})
    # Berlin's clock skips 02:00 to 03:00 on 29 March 2026, and repeats it on 25 October.
    assert told["instants"] == [
        {
            "scheduled_instant": "2026-03-29T01:00:00Z",
            "local": "2026-03-29 03:00:00 +02:00",
            "offset": "+02:00",
            "weekday": "Sun",
            "due_at": "2026-03-29T01:00:00Z",
            "due_latest": "2026-03-29T01:00:00Z",
            "mark": "moved from 02:30, which the clock skips",
        },
        {
            "scheduled_instant": "2026-03-30T00:30:00Z",
            "local": "2026-03-30 02:30:00 +02:00",
            "offset": "+02:00",
            "weekday": "Mon",
            "due_at": "2026-03-30T00:30:00Z",
            "due_latest": "2026-03-30T00:30:00Z",
            "mark": None,
        },
    ]
    nights = [(night["date"], night["kind"]) for night in told["odd_nights"]]
    assert nights == [("2026-03-29", "gap"), ("2026-10-25", "fold"), ("2027-03-28", "gap")]
    assert told["second_opinion"]["agrees"] is True
    assert told["tzdata_version"] == tzdata_version()
    assert told["says"].startswith("At 02:30")


def test_preview_is_what_the_trigger_then_does(api: Api) -> None:
    when = {
        "schedule": ["H 9 * * *", "30 2 * * *"],
        "zone": "Europe/Berlin",
        "gap": "skip",
        "fold": "both",
        "starts_at": "2026-03-03T00:00",
        "ends_at": "2026-12-31T00:00",
        "exclude": ["2026-03-04"],
        "calendars": ["works"],
        "smear_s": 60,
    }
    api.json("PUT", f"/v1/tenants/{TENANT}/calendars/works", {"dates": ["2026-03-05"]})
    named = {**when, "tenant": TENANT, "name": "digest", "count": 3}
    before = api.json("POST", PATH, named)
    path = f"/v1/tenants/{TENANT}/triggers/digest"
    trigger = api.json("PUT", path, a_trigger_body(**when))["trigger"]
    after = api.json("POST", PATH, named)
    # Before there is a trigger nobody knows its id, from which the smear is derived.
    assert [each["due_at"] for each in before["instants"]] == [None, None, None]
    assert [each["due_at"] for each in after["instants"]] == trigger["next"]
    assert after["says"] == trigger["says"]
    for one, other in zip(before["instants"], after["instants"], strict=True):
        assert {**one, "due_at": other["due_at"]} == other
        assert one["scheduled_instant"] <= other["due_at"] <= one["due_latest"]
    days = {each["local"][:10] for each in after["instants"]}
    assert days == {"2026-03-03", "2026-03-06"}


def test_preview_takes_the_tenants_smear(api: Api) -> None:
    api.json("PUT", f"/v1/tenants/{TENANT}", {"smear_s": 30}, headers={"If-Match": "*"})
    told = api.json("POST", PATH, {**BODY, "tenant": TENANT, "count": 1})
    assert told["instants"][0]["due_latest"] == "2026-03-02T01:30:30Z"


def test_preview_of_what_is_over_has_no_instants(api: Api) -> None:
    told = api.json("POST", PATH, {"schedule": "at 2020-01-01T00:00", "zone": "UTC"})
    assert told["instants"] == []


def test_preview_changes_nothing(api: Api) -> None:
    before = (len(api.audit()), len(api.outbox()))
    api.json("POST", PATH, {**BODY, "tenant": TENANT, "name": "digest"})
    assert (len(api.audit()), len(api.outbox())) == before
    assert api.json("GET", "/v1/triggers")["items"] == []


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"schedule": "61 * * * *"}, "schedule", "61"),
        ({"schedule": "H 9 * * *"}, "schedule", "give `tenant` and `name`"),
        ({"schedule": []}, "schedule", "expression"),
        ({"schedule": ["* * * * *"] * 21}, "schedule", "20"),
        ({"schedule": "*" * 300}, "schedule", "256"),
        ({"schedule": "\x00"}, "schedule", ""),
        ({"zone": "Europe/Berln"}, "zone", "did you mean `Europe/Berlin`"),
        ({"zone": ""}, "zone", "text"),
        ({"zone": "../../etc/passwd"}, "zone", ""),
        ({"gap": "jump"}, "gap", "shift_forward"),
        ({"count": 0}, "count", "at least 1"),
        ({"count": 1_001}, "count", "at most 1,000"),
        ({"smear_s": 3_601}, "smear_s", "at most 3,600"),
        ({"from": "yesterday"}, "from", "instant"),
        ({"name": "digest"}, "tenant", "tenant"),
        ({"name": "Digest", "tenant": TENANT}, "name", "lower-case"),
        ({"calendars": ["works"]}, "tenant", "tenant"),
        ({"calendars": ["works"], "tenant": TENANT}, "calendars", "works"),
        ({"exclude": ["2026-02-30"]}, "exclude", "calendar"),
        ({"cron": "* * * * *"}, "cron", "did you mean `schedule`"),
        ({"zone": None}, "zone", "text"),
    ],
)
def test_preview_wrong_field_is_named_with_its_remedy(
    api: Api, changes: dict[str, Any], field: str, says: str
) -> None:
    answer = api.call("POST", PATH, {**BODY, **changes})
    assert problem(answer) == (422, [field])
    assert says in answer.json()["detail"]


@pytest.mark.parametrize("key", ["schedule", "zone"])
def test_preview_missing_field_is_named(api: Api, key: str) -> None:
    body = {name: value for name, value in BODY.items() if name != key}
    assert problem(api.call("POST", PATH, body)) == (422, [key])


def test_preview_calendars_of_another_tenant_are_not_told(api: Api) -> None:
    api.principal("reader", GrantKind.READ, tenant=TENANT)
    api.json("PUT", f"/v1/tenants/{OTHER}/calendars/theirs", {"dates": ["2026-05-01"]})
    body = {**BODY, "tenant": OTHER, "calendars": ["theirs"]}
    assert problem(api.call("POST", PATH, body, by="reader")) == (404, ["tenant"])


@pytest.mark.parametrize(
    ("schedule", "options"),
    [
        pytest.param("30 2 * * *", ("--gap", "skip", "--fold", "both"), id="rules"),
        pytest.param("every 15m", (), id="interval"),
        pytest.param("H H * * *", ("--name", f"{TENANT}/digest"), id="hashed"),
    ],
)
def test_preview_without_a_server_prints_what_the_api_answers(
    api: Api, schedule: str, options: tuple[str, ...]
) -> None:
    given = dict(zip(options[::2], options[1::2], strict=True))
    tenant, _, name = given.get("--name", "").partition("/")
    body = {
        "schedule": schedule,
        "zone": "Europe/Berlin",
        "gap": given.get("--gap"),
        "fold": given.get("--fold"),
        "tenant": tenant or None,
        "name": name or None,
        "count": 40,
    }
    told = api.json("POST", PATH, {key: value for key, value in body.items() if value is not None})
    arguments = ["preview", schedule, "--zone", "Europe/Berlin", "--count", "40", "--json"]
    done = CliRunner().invoke(cli, [*arguments, *options], obj=api.clock)
    assert json.loads(done.stdout) == told
