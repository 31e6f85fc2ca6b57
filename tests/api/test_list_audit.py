"""GET the audit."""

from typing import Any, ClassVar

import pytest

from ports.changes import AddGrant
from ports.principals import GrantKind, GrantRecord
from scheduling.instants import SECOND_US
from scheduling.limits import QUOTA_TRIGGERS_DEFAULT
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.cursors import forged
from tests.support.ladder import ReadLadder

PATH = "/v1/audit"
TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"


class TestListAudit(ReadLadder):
    path = PATH
    kind = GrantKind.AUDITOR
    is_platform_wide = True
    is_of_the_caller = True


class TestListAuditOfATenant(ReadLadder):
    path = PATH
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}
    kind = GrantKind.AUDITOR
    unknown_params: ClassVar[dict[str, Any]] = {"tenant": "nobody"}


@pytest.fixture
def busy(api: Api) -> Api:
    """Four acts, a second apart."""
    acts: list[tuple[str, str, Any]] = [
        ("PUT", TRIGGER, a_trigger_body()),
        ("POST", TRIGGER + ":pause", {"note": "holidays"}),
        ("PUT", f"/v1/tenants/{OTHER}/quota", {"quota_triggers": 3}),
        ("POST", TRIGGER + ":resume", None),
    ]
    for act in acts:
        api.json(*act)
        api.clock.advance(SECOND_US)
    return api


@pytest.mark.parametrize(
    ("params", "actions"),
    [
        (
            {"actor": "root"},
            [
                *("trigger_resumed", "tenant_put", "trigger_paused", "trigger_created"),
                "token_created",
            ],
        ),
        ({"actor": "root", "tenant": OTHER}, ["tenant_put"]),
        ({"subject": "digest"}, ["trigger_resumed", "trigger_paused", "trigger_created"]),
        ({"action": ["trigger_paused", "trigger_resumed"]}, ["trigger_resumed", "trigger_paused"]),
        ({"actor": "root", "since": "2026-03-02T00:00:02Z"}, ["trigger_resumed", "tenant_put"]),
        (
            {"actor": "root", "through": "2026-03-02T00:00:01Z"},
            ["trigger_paused", "trigger_created", "token_created"],
        ),
        ({"actor": "root", "limit": 1}, ["trigger_resumed"]),
        ({"actor": "nobody"}, []),
    ],
)
def test_audit_gives_what_meets_every_condition(
    busy: Api, params: dict[str, Any], actions: list[str]
) -> None:
    page = busy.json("GET", PATH, **params)
    assert [each["action"] for each in page["items"]] == actions


def test_audit_entry_tells_who_did_what_when(busy: Api) -> None:
    (entry,) = busy.json("GET", PATH, action="trigger_paused")["items"]
    del entry["audit_id"]
    assert entry == {
        "at": "2026-03-02T00:00:01Z",
        "actor": "root",
        "action": "trigger_paused",
        "tenant": TENANT,
        "subject": "digest",
        "prior_value": entry["prior_value"],
        "changes": [],
        "note": "holidays",
    }


def test_audit_pages_join(busy: Api) -> None:
    whole = busy.json("GET", PATH, limit=1_000)["items"]
    found: list[Any] = []
    params: dict[str, Any] = {}
    while True:
        page = busy.json("GET", PATH, limit=3, **params)
        found += page["items"]
        if page["cursor"] is None:
            break
        params = {"cursor": page["cursor"]}
    assert found == whole


@pytest.mark.parametrize(
    "cursor",
    [forged("1"), *(forged("audit", *parts) for parts in ("12", "x", "²", (7,), ("9" * 22,), ()))],
)
def test_audit_cursor_that_is_not_ours_is_400(api: Api, cursor: str) -> None:
    assert problem(api.call("GET", PATH, cursor=cursor)) == (400, ["cursor"])


@pytest.mark.parametrize("since", ["yesterday", "2026-03-02", "2026-03-02T00:00:00", "9" * 400])
def test_audit_bad_instant_is_422(api: Api, since: str) -> None:
    assert problem(api.call("GET", PATH, since=since)) == (422, ["since"])


def test_audit_of_a_quota_or_a_horizon_tells_each_field_before_and_after(busy: Api) -> None:
    (entry,) = busy.json("GET", PATH, action="tenant_put", actor="root")["items"]
    assert entry["changes"] == [
        {"field": "quota_triggers", "prior": QUOTA_TRIGGERS_DEFAULT, "new": 3}
    ]
    busy.json("PUT", TRIGGER + "/horizon", {"horizon": "2d", "note": "ticket 7"})
    (entry,) = busy.json("GET", PATH, action="trigger_edited")["items"]
    assert entry["changes"] == [
        {"field": "catchup_horizon_s", "prior": 3_600, "new": 172_800},
        {"field": "horizon_source", "prior": "default", "new": "chosen by root"},
    ]
    assert entry["note"] == "ticket 7"


def test_audit_that_names_no_tenant_is_of_the_auditors_only_one(busy: Api) -> None:
    busy.principal("auditor", GrantKind.AUDITOR, tenant=OTHER)
    busy.apply(AddGrant(grant=GrantRecord("auditor", GrantKind.READ, TENANT)))
    mine = busy.json("GET", PATH, by="auditor")
    assert mine == busy.json("GET", PATH, by="auditor", tenant=OTHER)
    assert {each["tenant"] for each in mine["items"]} == {OTHER}


def test_audit_for_a_reader_of_one_tenant_says_what_is_missing_there(busy: Api) -> None:
    busy.principal("reader", GrantKind.READ, tenant=TENANT)
    answer = busy.call("GET", PATH, by="reader")
    assert problem(answer) == (403, ["grant"])
    assert f"needs the grant auditor on tenant {TENANT}" in answer.json()["detail"]
