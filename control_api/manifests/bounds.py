"""What the manifests of one request may hold: counted before anything is made of them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from control_api.manifests.selection import Selection
from control_api.problems import ApiProblem, FieldProblem
from scheduling.calendars import search_us_of
from scheduling.errors import InvalidRecurrence
from scheduling.limits import (
    APPLY_CALENDAR_SEARCH_MS_MAX,
    APPLY_CALENDARS_MAX,
    APPLY_SUBJECTS_MAX,
    APPLY_VALUES_MAX,
    CALENDAR_RULES_MAX,
    CALENDAR_SEARCH_US_MAX,
)
from schemas.api.apply import ManifestIn

_KINDS: Final = ("calendars", "targets", "triggers")
_IN_PARTS: Final = "apply them in parts, with `only` (--only) or from smaller files"
_IN_FILES: Final = "apply them in parts, from smaller files"


class _Tenant(NamedTuple):
    """What a manifest says of a tenant, its members by kind; nothing is sure of their shape."""

    tenant_id: str
    tree: dict[str, Any]
    members: dict[str, dict[str, Any]]


def check_bounds(
    manifests: Sequence[ManifestIn], selection: Selection, *, changes_max: int
) -> None:
    """ApiProblem for more than one request may take, of memory, of time, or of changes."""
    tenants = list(_tenants(manifests))
    taken = named = calendars = values = 0
    for each in tenants:
        names = [name for members in each.members.values() for name in members]
        named += 1 + len(names)
        taken += selection.takes_whole(each.tenant_id)
        calendars += len(each.members["calendars"])
        common = _values_in(each.tree.get("defaults"))
        values += _values_in(each.tree) + common * len(each.members["triggers"])
    _check(named, APPLY_SUBJECTS_MAX, "name {} tenants, calendars, targets and triggers", _IN_FILES)
    _check(calendars, APPLY_CALENDARS_MAX, "have {} calendars", _IN_FILES)
    search_us = sum(map(_search_us, _calendars(tenants)))
    what = "have calendar rules that take {} ms to expand"
    remedy = f"use a coarser FREQ, or {_IN_FILES}"
    _check(search_us // 1_000, APPLY_CALENDAR_SEARCH_MS_MAX, what, remedy)
    what = "come to {} values, with the defaults counted for each trigger"
    _check(values, APPLY_VALUES_MAX, what, f"exclude dates by calendars, or {_IN_FILES}")
    for each in tenants:
        for members in each.members.values():
            taken += sum(selection.takes(each.tenant_id, name) for name in members)
    check_changes(taken, changes_max)


def check_changes(count: int, changes_max: int) -> None:
    """Every other writer waits for the transaction: one author must not hold them all up."""
    what = f"make {{}} changes, and one transaction takes at most {changes_max:,}"
    if count > changes_max:
        raise _refused(f"they {what.format(f'{count:,}')}: {_IN_PARTS}")


def _check(count: int, maximum: int, what: str, remedy: str) -> None:
    if count > maximum:
        raise _refused(f"they {what.format(f'{count:,}')}; at most {maximum:,}: {remedy}")


def _refused(detail: str) -> ApiProblem:
    fields = [FieldProblem("manifests", detail)]
    return ApiProblem(422, "invalid", f"manifests: {detail}", fields=fields)


def _tenants(manifests: Sequence[ManifestIn]) -> Iterator[_Tenant]:
    for manifest in manifests:
        for tenant_id, tree in _mapping(manifest.tenants).items():
            members = {kind: _mapping(_mapping(tree).get(kind)) for kind in _KINDS}
            yield _Tenant(tenant_id, _mapping(tree), members)


def _calendars(tenants: Sequence[_Tenant]) -> Iterator[object]:
    return (each for tenant in tenants for each in tenant.members["calendars"].values())


def _search_us(calendar: object) -> int:
    """As far as it can be told; what is no rule costs nothing, and is refused where it is read."""
    rules = _mapping(calendar).get("rules")
    texts = rules[:CALENDAR_RULES_MAX] if isinstance(rules, list) else [rules]
    found_us = 0
    for text in texts:
        if isinstance(text, str):
            with suppress(InvalidRecurrence):
                found_us += min(search_us_of(text), CALENDAR_SEARCH_US_MAX)
    return found_us


def _values_in(tree: object) -> int:
    if isinstance(tree, dict):
        return 1 + sum(map(_values_in, tree.values()))
    return 1 + sum(map(_values_in, tree)) if isinstance(tree, list) else 1


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
