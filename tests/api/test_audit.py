"""Every change and every privileged act leaves exactly one entry of the audit; reads leave none."""

from typing import Final

import pytest

from control_api.grants_reference import NEEDS, Route
from ports.records import AuditRecord
from tests.support.api import ALL, OTHER, TENANT, Api, problem
from tests.support.every_route import EXAMPLES, prepared, send, served_routes

ROUTES: Final = sorted(route for route in served_routes() if NEEDS[route].scope != "open")
ACTS: Final = [route for route in ROUTES if EXAMPLES[route].action is not None]
READS: Final = [route for route in ROUTES if EXAMPLES[route].action is None]
# What an act of people changes: an entry of it belongs to that tenant, others to the platform.
OF_NO_TENANT: Final = frozenset({"token_created", "token_revoked"})


def name_of(route: Route) -> str:
    return " ".join(route)


def entries_after(api: Api, route: Route, *, by: str) -> list[AuditRecord]:
    """What the example's request left, newest last."""
    ready = prepared(api, route)
    before = len(api.audit())
    answer = send(api, route, ready, by=by)
    assert answer.is_success, answer.text
    return api.audit()[before:]


@pytest.mark.parametrize("route", ACTS, ids=name_of)
def test_act_leaves_one_entry_with_who_what_and_what_was_before(route: Route, api: Api) -> None:
    api.principal("doer", *ALL)
    example = EXAMPLES[route]
    (entry,) = entries_after(api, route, by="doer")
    assert (entry.actor, entry.action, entry.at_us) == ("doer", example.action, api.now_us)
    assert entry.tenant_id == (None if entry.action in OF_NO_TENANT else TENANT)
    assert entry.subject is not None
    assert entry.subject == (example.subject or entry.subject)
    if example.prior is None:
        assert entry.prior_value is None
    else:
        assert entry.prior_value is not None
        assert example.prior in entry.prior_value


@pytest.mark.parametrize("route", READS, ids=name_of)
def test_read_leaves_no_entry(route: Route, api: Api) -> None:
    api.principal("reader", *ALL)
    assert entries_after(api, route, by="reader") == []


def test_every_changing_route_is_an_act() -> None:
    """But for previews, outcomes, which the ledger keeps, and a check of a host that needs none."""
    silent = {path.rpartition("/")[2] for method, path in READS if method != "GET"}
    assert silent == {"outcomes", "preview", "{target}:verify"}


def test_refused_change_leaves_no_entry(api: Api) -> None:
    before = len(api.audit())
    path = f"/v1/tenants/{TENANT}/targets/shop"
    answer = api.call("DELETE", path, headers={"If-Match": '"c0.9"'})
    assert problem(answer)[0] == 412
    assert len(api.audit()) == before


def test_stranger_with_a_name_that_is_none_is_audited_without_it(api: Api) -> None:
    """What a stranger writes into a path must not stand in the audit, at any length."""
    api.principal("stranger", *ALL, tenant=OTHER)
    text = "whsec_" + "S3cret" * 100
    assert problem(api.call("GET", f"/v1/tenants/{text}", by="stranger"))[0] == 404
    (entry,) = api.audit("privilege_refused")
    assert (entry.tenant_id, entry.note) == (None, "needs read on what is no tenant")


def test_refusals_without_end_are_stopped(api: Api) -> None:
    """Each leaves an entry, so that they must not become a flood."""
    api.principal("prober", *ALL, tenant=OTHER)
    told = [
        api.call("GET", f"/v1/tenants/guess-{number}", by="prober").status_code
        for number in range(65)
    ]
    assert (told[0], told[59], told[60:]) == (404, 404, [429] * 5)
    assert len(api.audit("privilege_refused")) == 60
