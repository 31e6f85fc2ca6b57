"""PUT a trigger's horizon."""

from typing import Any, ClassVar

import pytest

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
PATH = TRIGGER + "/horizon"


class TestSetHorizon(WriteLadder):
    method = "PUT"
    path = "/v1/tenants/{tenant}/triggers/digest/horizon"
    body: ClassVar[dict[str, Any]] = {"horizon": "6h", "note": "the month's end"}
    kind = GrantKind.POLICY
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing/horizon"
    required = ("horizon",)
    other: ClassVar[dict[str, Any]] = {"horizon": "7h"}
    action = "trigger_edited"
    revised = "/v1/tenants/{tenant}/triggers/digest"
    event = "TriggerChanged"

    def prepare(self, api: Api) -> None:
        api.json("PUT", TRIGGER, a_trigger_body(payload={"to": "all"}))


def test_horizon_is_a_new_version_that_keeps_the_payload(api: Api) -> None:
    put = api.call("PUT", TRIGGER, a_trigger_body(payload={"to": "all"}))
    answer = api.call("PUT", PATH, {"horizon": "6h"}, headers={"If-Match": put.headers["etag"]})
    changed = answer.json()
    assert (changed["version"], changed["revision"]) == (2, 2)
    assert changed["trigger"]["has_payload"] is True
    assert changed["trigger"]["definition"]["horizon"] == "6h"
    assert changed["trigger"]["horizon_source"] == "chosen by root"
    assert answer.headers["etag"] == f'"{changed["trigger_id"]}.2"'


def test_horizon_null_is_the_default_again(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    api.json("PUT", PATH, {"horizon": "6h"})
    trigger = api.json("PUT", PATH, {"horizon": None})["trigger"]
    assert (trigger["definition"]["horizon"], trigger["horizon_source"]) == ("1h", "default")


def test_horizon_whoever_edits_the_trigger_cannot_extend_it(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    api.principal("author", GrantKind.AUTHOR, GrantKind.OPERATOR, tenant=TENANT)
    answer = api.call("PUT", PATH, {"horizon": "61m"}, by="author")
    assert problem(answer) == (403, ["grant"])
    assert api.json("GET", TRIGGER)["definition"]["horizon"] == "1h"
    (entry,) = api.audit("privilege_refused")
    assert (entry.actor, entry.tenant_id, entry.note) == (
        "author",
        TENANT,
        f"needs policy on tenant {TENANT}",
    )


@pytest.mark.parametrize("horizon", ["8d", "0s", "1", 3600, "", "1 hour", "9999d", "-1h"])
def test_horizon_out_of_bounds_is_422(api: Api, horizon: Any) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    assert problem(api.call("PUT", PATH, {"horizon": horizon})) == (422, ["horizon"])
