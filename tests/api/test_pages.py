"""Every list comes in pages that join: nothing twice, nothing missing, whatever is added meanwhile.

A list is made of at least 2 x LIMIT + 1 rows, under names that are in order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from control_api.operations.principals import new_token
from ports.changes import AddGrant, AllowHost, Change, CreateToken, PutCalendar, PutTenant
from ports.principals import GrantKind, GrantRecord
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.cursors import forged
from tests.support.definitions import a_target, a_tenant, a_trigger

LIMIT: Final = 3
COUNT: Final = 2 * LIMIT + 1
Place = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A list of the API.

    make:    the change that adds a row of that name
    place:   what tells its rows apart, by the keys of their bodies
    kind:    what its cursors begin with
    parts:   a cursor's other parts, as they may be
    is_newest_first:  so that what is added comes before every cursor
    """

    path: str
    make: Callable[[str], Change]
    place: tuple[str, ...]
    kind: str
    parts: tuple[object, ...]
    params: tuple[tuple[str, str], ...] = ()
    is_newest_first: bool = False

    def read(self, api: Api, **more: Any) -> Any:
        asked: dict[str, Any] = {**dict(self.params), **more}
        return api.json("GET", self.path, **asked)

    def refused(self, api: Api, **more: Any) -> Any:
        asked: dict[str, Any] = {**dict(self.params), **more}
        return problem(api.call("GET", self.path, **asked))

    def places(self, page: Any) -> list[Place]:
        return [tuple(row[key] for key in self.place) for row in page["items"]]


def _token(name: str) -> Change:
    _, token_id, hashed = new_token()
    return CreateToken(principal_id=name, token_id=token_id, token_hash=hashed)


def _grant(name: str) -> Change:
    return AddGrant(grant=GrantRecord(name, GrantKind.READ, TENANT))


def _target(name: str) -> Change:
    put = a_target()
    return replace(put, target=replace(put.target, target_id=name))


LISTS: Final = {
    "tenants": List(
        path="/v1/tenants",
        make=lambda name: PutTenant(tenant=a_tenant(name).tenant),
        place=("tenant",),
        kind="tenants",
        parts=("x",),
    ),
    "targets": List(
        path=f"/v1/tenants/{TENANT}/targets",
        make=_target,
        place=("name",),
        kind=f"targets/{TENANT}",
        parts=("x",),
    ),
    "calendars": List(
        path=f"/v1/tenants/{TENANT}/calendars",
        make=lambda name: PutCalendar(tenant_id=TENANT, calendar_id=name, dates=("2026-12-25",)),
        place=("name",),
        kind=f"calendars/{TENANT}",
        parts=("x",),
    ),
    "tokens": List(
        path="/v1/tokens",
        make=_token,
        place=("token_id",),
        kind="tokens",
        parts=("1767225600000000", "k1"),
        is_newest_first=True,
    ),
    "grants": List(
        path="/v1/grants",
        make=_grant,
        place=("principal", "tenant", "kind"),
        kind="grants",
        parts=("ci", TENANT, "read"),
    ),
    "hosts": List(
        path="/v1/allowed-hosts",
        make=lambda name: AllowHost(tenant_id=None, host=f"{name}.example"),
        place=("host", "tenant"),
        kind="hosts",
        parts=("x.example", ""),
    ),
    "triggers": List(
        path="/v1/triggers",
        make=a_trigger,
        place=("tenant", "name"),
        kind="triggers",
        parts=(TENANT, "x"),
    ),
    "triggers_of_a_name": List(
        path="/v1/triggers",
        make=a_trigger,
        place=("trigger_id",),
        kind="named",
        parts=(TENANT, "t1"),
        params=(("name", "m1"),),
    ),
    "audit": List(
        path="/v1/audit",
        make=lambda name: AllowHost(tenant_id=None, host=f"{name}.example"),
        place=("audit_id",),
        kind="audit",
        parts=("7",),
        is_newest_first=True,
    ),
}
MANY: Final = sorted(LISTS.keys() - {"triggers_of_a_name"})


def walked(api: Api, wanted: List, limit: int = LIMIT) -> Iterator[list[Place]]:
    cursor: dict[str, str] = {}
    while True:
        page = wanted.read(api, limit=limit, **cursor)
        yield wanted.places(page)
        if page["cursor"] is None:
            return
        cursor = {"cursor": page["cursor"]}


def fill(api: Api, wanted: List, names: Iterator[str] | list[str]) -> None:
    for name in names:
        api.clock.advance(1)
        api.apply(wanted.make(name))


@pytest.mark.parametrize("name", MANY)
def test_pages_of_a_list_join(api: Api, name: str) -> None:
    wanted = LISTS[name]
    fill(api, wanted, [f"m{number}" for number in range(COUNT)])
    pages = list(walked(api, wanted))
    found = [place for page in pages for place in page]
    assert [len(page) for page in pages[:-1]] == [LIMIT] * (len(pages) - 1)
    assert found == wanted.places(wanted.read(api, limit=1_000))
    assert len(set(found)) == len(found) >= COUNT


@pytest.mark.parametrize("name", MANY)
def test_pages_stay_as_they_are_while_rows_are_added(api: Api, name: str) -> None:
    """Before each page a row is added before what was read, and one behind all of it."""
    wanted = LISTS[name]
    fill(api, wanted, [f"m{number}" for number in range(COUNT)])
    before = wanted.places(wanted.read(api, limit=1_000))
    found: list[Place] = []
    for number, page in enumerate(walked(api, wanted)):
        found += page
        fill(api, wanted, [f"a{number}", f"z{number}"])
        assert number < 2 * COUNT
        if number >= COUNT:
            break
    assert len(set(found)) == len(found)
    assert [place for place in found if place in before] == before
    if not wanted.is_newest_first:
        assert len(found) > len(before), "what came behind the cursor is told too"


@pytest.mark.parametrize("name", MANY)
def test_list_without_a_limit_is_a_page_of_a_hundred(api: Api, name: str) -> None:
    wanted = LISTS[name]
    names = [f"m{number:03}" for number in range(101)]
    api.apply(*map(wanted.make, names))
    page = wanted.read(api)
    assert len(page["items"]) == 100
    assert page["cursor"] is not None


@pytest.mark.parametrize("name", LISTS)
def test_cursor_that_nobody_was_given_is_400(api: Api, name: str) -> None:
    wanted = LISTS[name]
    first, *rest = wanted.parts
    cursors = [
        *("", "x", "%%%", "ü", "e30", forged()),
        forged(*wanted.parts),
        forged("other", *wanted.parts),
        forged(wanted.kind, *rest),
        forged(wanted.kind, *wanted.parts, ""),
        forged(wanted.kind, 7, *rest),
        forged(wanted.kind, None, *rest),
        forged(wanted.kind, "\ud800", *rest),
        forged(7, first, *rest),
    ]
    for cursor in cursors:
        assert wanted.refused(api, cursor=cursor) == (400, ["cursor"]), cursor
    assert wanted.read(api, cursor=forged(wanted.kind, *wanted.parts))["cursor"] is None


@pytest.mark.parametrize("name", LISTS)
def test_cursor_of_another_list_is_400(api: Api, name: str) -> None:
    wanted = LISTS[name]
    for other in LISTS.values():
        if other is not wanted:
            cursor = forged(other.kind, *other.parts)
            assert wanted.refused(api, cursor=cursor) == (400, ["cursor"]), other.kind


@pytest.mark.parametrize("kind", ["targets", "calendars"])
def test_cursor_of_another_tenant_is_400(api: Api, kind: str) -> None:
    cursor = forged(f"{kind}/{OTHER}", "x")
    assert LISTS[kind].refused(api, cursor=cursor) == (400, ["cursor"])


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("tokens", ("now", "k1")),
        ("tokens", ("9" * 30, "k1")),
        ("tokens", ("-1", "k1")),
        ("grants", ("ci", "", "king")),
        ("audit", ("9" * 30,)),
    ],
)
def test_cursor_of_no_place_is_400(api: Api, name: str, parts: tuple[str, ...]) -> None:
    wanted = LISTS[name]
    assert wanted.refused(api, cursor=forged(wanted.kind, *parts)) == (400, ["cursor"])


def test_cursor_of_another_principals_grants_is_400(api: Api) -> None:
    cursor = forged("grants", "amy", "", "read")
    answer = api.call("GET", "/v1/grants", principal="bob", cursor=cursor)
    assert problem(answer) == (400, ["cursor"])


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "many", "1.5", "9" * 30])
@pytest.mark.parametrize("name", LISTS)
def test_limit_out_of_its_bounds_is_422(api: Api, name: str, limit: str) -> None:
    assert LISTS[name].refused(api, limit=limit) == (422, ["limit"])


def test_pages_of_tenants_are_full_of_what_the_caller_may_read(api: Api) -> None:
    names = [f"m{number:02}" for number in range(30)]
    api.apply(*(PutTenant(tenant=a_tenant(name).tenant) for name in names))
    mine = names[::4]
    api.principal("reader")
    api.apply(*(AddGrant(grant=GrantRecord("reader", GrantKind.READ, name)) for name in mine))
    pages: list[list[str]] = []
    cursor = None
    while not pages or cursor is not None:
        params: dict[str, Any] = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = api.json("GET", "/v1/tenants", by="reader", **params)
        pages.append([each["tenant"] for each in page["items"]])
        cursor = page["cursor"]
    assert [len(page) for page in pages] == [3, 3, 2]
    assert [name for page in pages for name in page] == mine


def test_forged_cursor_among_tenants_shows_nothing_of_others(api: Api) -> None:
    api.principal("reader", GrantKind.READ, tenant=OTHER)
    cursor = forged("tenants", TENANT[:-1])
    found = api.json("GET", "/v1/tenants", by="reader", cursor=cursor)["items"]
    assert [each["tenant"] for each in found] == [OTHER]
