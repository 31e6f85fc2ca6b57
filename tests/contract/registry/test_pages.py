"""The lists of the registry, a page at a time: in order, after a place, and no more than asked."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from ports.changes import AllowHost, Change, DeleteCalendar, PutCalendar, PutTenant
from ports.registry import RegistryPort
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TARGET, TENANT, a_tenant, put_target

OTHERS: Final = ("aaa", "bbb", "yyy", "zzz")
HOSTS: Final = (
    ("a.example", None),
    ("a.example", TENANT),
    ("a.example", "zzz"),
    ("b.example", None),
)

List = Callable[[RegistryPort, Any, int | None], list[Any]]


def _tenants(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    return [each.tenant_id for each in registry.tenants(after=after or "", limit=limit)]


def _among(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    among = {"zzz", "bbb", "aaa", "nobody", TENANT}
    found = registry.tenants(among=among, after=after or "", limit=limit)
    return [each.tenant_id for each in found]


def _targets(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    found = registry.targets(after=after or ("", ""), limit=limit)
    return [(each.tenant_id, each.target_id) for each in found]


def _targets_of_one(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    found = registry.targets(TENANT, after=after or ("", ""), limit=limit)
    return [(each.tenant_id, each.target_id) for each in found]


def _calendars(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    found = registry.calendars(TENANT, after=after or "", limit=limit)
    return [each.calendar_id for each in found]


def _hosts(registry: RegistryPort, after: Any, limit: int | None) -> list[Any]:
    found = registry.allowed_hosts(after=after or ("", ""), limit=limit)
    return [(each.host, each.tenant_id or "") for each in found]


LISTS: Final[dict[str, tuple[List, list[Any]]]] = {
    "tenants": (_tenants, ["aaa", TENANT, "bbb", "yyy", "zzz"]),
    "tenants_among": (_among, ["aaa", TENANT, "bbb", "zzz"]),
    "targets": (
        _targets,
        [("aaa", "x"), *((TENANT, name) for name in ("a", "b", TARGET)), ("zzz", "x")],
    ),
    "targets_of_one": (_targets_of_one, [(TENANT, name) for name in ("a", "b", TARGET)]),
    "calendars": (_calendars, ["a", "b", "c"]),
    "hosts": (_hosts, [(host, tenant or "") for host, tenant in HOSTS]),
}


@pytest.fixture
def full(crank: HandCrank) -> RegistryPort:
    changes: list[Change] = [PutTenant(tenant=a_tenant(name)) for name in reversed(OTHERS)]
    changes += [put_target("zzz", target_id="x"), put_target("aaa", target_id="x")]
    changes += [put_target(TENANT, target_id=name) for name in ("b", "a")]
    changes += [PutCalendar(tenant_id=TENANT, calendar_id=name) for name in ("c", "a", "b")]
    changes.append(PutCalendar(tenant_id="zzz", calendar_id="aa"))
    changes += [AllowHost(tenant_id=tenant, host=host) for host, tenant in reversed(HOSTS)]
    crank.apply(*changes)
    return crank.store.registry


@pytest.mark.parametrize("name", LISTS)
def test_list_without_bounds_is_whole(full: RegistryPort, name: str) -> None:
    read, wanted = LISTS[name]
    assert read(full, None, None) == wanted


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
@pytest.mark.parametrize("name", LISTS)
def test_pages_of_a_list_join(full: RegistryPort, name: str, limit: int) -> None:
    read, wanted = LISTS[name]
    found: list[Any] = []
    while page := read(full, found[-1] if found else None, limit):
        assert len(page) <= limit
        found += page
    assert found == wanted


def test_targets_of_one_tenant_after_a_place_in_another(full: RegistryPort) -> None:
    mine = full.targets(TENANT)
    assert full.targets(TENANT, after=("aaa", "zz")) == mine
    assert full.targets(TENANT, after=("zzz", "")) == []


def test_one_target_or_calendar_is_found_by_its_name(full: RegistryPort) -> None:
    target = full.target(TENANT, "a")
    assert target is not None
    assert target == full.targets(TENANT)[0]
    assert target.secret is None
    assert full.target(TENANT, "x") is None
    assert full.calendar(TENANT, "b") == full.calendars(TENANT)[1]
    assert full.calendar(TENANT, "aa") is None


def test_revision_of_a_calendar_stays_when_it_is_deleted(crank: HandCrank) -> None:
    registry = crank.store.registry
    crank.apply(PutCalendar(tenant_id=TENANT, calendar_id="c", dates=("2026-12-25",)))
    first = registry.calendar(TENANT, "c")
    assert first is not None
    crank.apply(PutCalendar(tenant_id=TENANT, calendar_id="c", dates=("2026-12-26",)))
    crank.apply(DeleteCalendar(tenant_id=TENANT, calendar_id="c"))
    assert registry.calendar(TENANT, "c") is None
    assert registry.calendar(TENANT, "c", revision=1) == first
    assert registry.calendar(TENANT, "c", revision=3) is None
