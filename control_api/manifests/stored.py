"""What the store has of a tenant that manifests name: what a plan rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ports.records import CalendarRecord, TargetRecord, TenantRecord, TriggerRecord
from ports.registry import RegistryPort
from scheduling.limits import PAGE_ROWS_MAX

_LISTED_FROM: Final = 1_000  # names; fewer are looked up one by one, in whatever big a tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTenant:
    """`triggers` holds those that were asked for, or all."""

    record: TenantRecord | None
    calendars: Mapping[str, CalendarRecord]
    targets: Mapping[str, TargetRecord]
    triggers: Mapping[str, TriggerRecord]


def read_tenant(
    registry: RegistryPort, tenant_id: str, names: Mapping[str, object], *, whole: bool
) -> StoredTenant:
    """The tenant with its triggers of these names, or with all of them where `whole`."""
    records = registry.tenants(tenant_id)
    if not records:
        return StoredTenant(record=None, calendars={}, targets={}, triggers={})
    if whole or len(names) >= _LISTED_FROM:
        found = {each.name: each for each in _all_triggers(registry, tenant_id)}
    else:
        found = dict(_named_triggers(registry, tenant_id, names))
    return StoredTenant(
        record=records[0],
        calendars={each.calendar_id: each for each in registry.calendars(tenant_id)},
        targets={each.target_id: each for each in registry.targets(tenant_id)},
        triggers=found,
    )


def _all_triggers(registry: RegistryPort, tenant_id: str) -> Iterator[TriggerRecord]:
    after: tuple[str, str] | None = None
    while True:
        page = registry.triggers(tenant_id, after=after, limit=PAGE_ROWS_MAX)
        yield from page
        if len(page) < PAGE_ROWS_MAX:
            return
        after = (tenant_id, page[-1].name)


def _named_triggers(
    registry: RegistryPort, tenant_id: str, names: Mapping[str, object]
) -> Iterator[tuple[str, TriggerRecord]]:
    for name in names:
        for trigger in registry.find_triggers(name, tenant_id=tenant_id):
            if trigger.name == name:
                yield name, trigger
