"""Who may do what: every route with every single grant, against the table that docs/grants.md is.

A grant is held on the request's tenant, on another one, or on the platform.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

import pytest
from starlette.testclient import TestClient

from control_api.app import create_app
from control_api.grants_reference import NEEDS, Need, Route, grants_reference
from control_api.health import Health
from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.every_route import EXAMPLES, Prepared, prepared, send, served_routes
from tests.support.repository import text_of

SERVED: Final = sorted(served_routes())
GUARDED: Final = [route for route in SERVED if NEEDS[route].kinds]
NAMED: Final = [route for route in GUARDED if EXAMPLES[route].is_named_in_query]
OPEN: Final = [route for route in SERVED if NEEDS[route].scope == "open"]
HELD_ON: Final = (TENANT, OTHER, None)

Install = Callable[[], Api]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Makes installations, because a request that went through has changed its own."""
    made: list[Api] = []

    def make() -> Api:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Api(folder))
        return made[-1]

    yield make
    for each in made:
        each.close()


def is_enough(need: Need, kind: GrantKind, held_on: str | None, *, is_named: bool) -> bool:
    """As the page says it; every grant includes `read`."""
    is_any_enough = need.scope == "listed" and not is_named
    is_platform_needed = need.scope == "platform" or not (is_named or is_any_enough)
    is_in_scope = held_on is None if is_platform_needed else held_on in (None, TENANT)
    is_in_scope = is_in_scope or is_any_enough
    return is_in_scope and (kind in need.kinds or GrantKind.READ in need.kinds)


def name_of(route: Route) -> str:
    return " ".join(route)


def content(api: Api) -> dict[str, list[object]]:
    """Every row of the store, but for the audit's."""
    with closing(sqlite3.connect(api.folder / "store.db")) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names
            if name not in ("audit_entry", "sqlite_sequence")
        }


def test_every_route_stands_in_the_table_with_an_example() -> None:
    missing = "add it to control_api/grants_reference.py and to tests/support/every_route.py"
    assert set(SERVED) <= set(NEEDS), missing
    assert set(SERVED) <= set(EXAMPLES), missing
    assert set(NEEDS) == set(SERVED), "a route of the table is not served"


def test_grants_page_is_the_table() -> None:
    remedy = "run: python -m control_api.grants_reference > docs/grants.md"
    assert text_of(PurePosixPath("docs/grants.md")) == grants_reference() + "\n", remedy


@pytest.mark.parametrize("route", GUARDED, ids=name_of)
def test_route_takes_exactly_the_grants_of_the_table(route: Route, install: Install) -> None:
    need = NEEDS[route]
    refusing = install()
    ready = prepared(refusing, route)
    for kind in GrantKind:
        for held_on in HELD_ON:
            who = f"{kind}-{held_on}"
            if is_enough(need, kind, held_on, is_named=True):
                allowing = install() if route[0] != "GET" else refusing
                allowing.principal(who, kind, tenant=held_on)
                mine = prepared(allowing, route) if allowing is not refusing else ready
                answer = send(allowing, route, mine, by=who)
                assert answer.is_success, f"{who}: {answer.text}"
            else:
                refusing.principal(who, kind, tenant=held_on)
                check_refused(refusing, route, ready, who=who)


@pytest.mark.parametrize("route", NAMED, ids=name_of)
def test_route_that_names_no_tenant_takes_the_grants_of_the_table(
    route: Route, install: Install
) -> None:
    need = NEEDS[route]
    refusing = install()
    ready = prepared(refusing, route)
    for kind in GrantKind:
        for held_on in HELD_ON:
            who = f"{kind}-{held_on}"
            is_allowed = is_enough(need, kind, held_on, is_named=False)
            api = install() if is_allowed else refusing
            api.principal(who, kind, tenant=held_on)
            if is_allowed:
                answer = send(api, route, prepared(api, route), by=who, is_named=False)
                assert answer.is_success, f"{who}: {answer.text}"
            else:
                check_refused(api, route, ready, who=who, is_named=False)


def check_refused(
    api: Api, route: Route, ready: Prepared, *, who: str, is_named: bool = True
) -> None:
    """403, or 404 to whom the tenant is none of his business; audited, and nothing is changed."""
    before, entries = content(api), len(api.audit())
    answer = send(api, route, ready, by=who, is_named=is_named)
    status, fields = problem(answer)
    is_stranger = who.endswith(f"-{OTHER}") and status == 404
    assert is_stranger or (status, fields) == (403, ["grant"]), f"{who}: {answer.text}"
    (entry,) = api.audit()[entries:]
    assert (entry.action, entry.actor) == ("privilege_refused", who)
    assert content(api) == before


@pytest.mark.parametrize("route", GUARDED, ids=name_of)
def test_route_refuses_whoever_holds_nothing(route: Route, install: Install) -> None:
    api = install()
    ready = prepared(api, route)
    api.principal("nobody")
    before = content(api)
    assert problem(send(api, route, ready, by="nobody"))[0] in (403, 404)
    assert problem(send(api, route, ready, by=None)) == (401, [])
    assert content(api) == before


@pytest.mark.parametrize("route", OPEN, ids=name_of)
def test_open_route_needs_no_token(route: Route, install: Install) -> None:
    api = install()
    health = Health(api.services)
    with TestClient(create_app(api.services, health=health)) as client:
        assert client.request(*route).status_code in (200, 503)  # nobody decides here: not ready
    health.close()


@pytest.mark.parametrize(
    "route", [route for route in GUARDED if NEEDS[route].scope in ("tenant", "named")], ids=name_of
)
def test_forbidden_tenant_and_unknown_one_look_alike(route: Route, install: Install) -> None:
    api = install()
    api.principal("stranger", *GrantKind, tenant=OTHER)
    ready = prepared(api, route)
    texts = []
    for tenant in (TENANT, "nosuch"):
        answer = send(api, route, ready, by="stranger", tenant=tenant)
        assert problem(answer)[0] == 404, answer.text
        texts.append((answer.text.replace(tenant, "T"), sorted(answer.headers)))
    assert texts[0] == texts[1]
    refused = api.audit("privilege_refused")
    assert [entry.actor for entry in refused] == ["stranger", "stranger"]
