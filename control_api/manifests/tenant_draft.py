"""What manifests ask of one tenant, beside what the store has of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Final

from control_api.call import Call
from control_api.manifests.hosts import Hosts, Wanted
from control_api.manifests.items import Held, Item, Phase, Step, Subject
from control_api.manifests.selection import Selection
from control_api.manifests.stored import read_tenant
from control_api.manifests.target_items import target_deletion, target_item
from control_api.manifests.trigger_items import (
    CalendarsAfter,
    trigger_deletion,
    trigger_item,
)
from control_api.operations.tenants import new_tenant
from control_api.problems import FieldProblem
from ports.changes import DeleteCalendar, PutCalendar, PutTenant
from ports.principals import GrantKind
from ports.records import CalendarRecord, TenantRecord, TriggerDefinition
from scheduling.calendars import ExclusionCalendar
from schemas.api.apply import FieldChange
from schemas.manifest import CalendarSpec, TenantSpec, TriggerSpec
from schemas.origins import origin_of

_QUOTAS: Final = ("quota_triggers", "quota_dispatch_per_s", "quota_inflight", "catchup_rate_pct")


class TenantDraft:
    """Reads the store once; then tells, item by item, what would make it as the manifests say."""

    def __init__(
        self, call: Call, tenant_id: str, spec: TenantSpec, *, selection: Selection, prune: bool
    ) -> None:
        self._call = call
        self._tenant_id = tenant_id
        self._spec = spec
        self._selection = selection
        self._prune = prune
        registry = call.services.store.registry
        self._stored = stored = read_tenant(registry, tenant_id, spec.triggers, whole=prune)
        self._triggers = {name: each for name, each in spec.triggers.items() if self._takes(name)}
        self._users = _users(self._triggers)
        self._targets = {
            name: each
            for name, each in spec.targets.items()
            if self._takes(name) or (name in self._users and name not in stored.targets)
        }
        needed = {name for each in self._triggers.values() for name in each.calendars}
        self._calendars = {
            name: each
            for name, each in spec.calendars.items()
            if self._takes(name) or (name in needed and name not in stored.calendars)
        }
        self._current = {
            name: self._definition(name) for name in stored.triggers if name in self._triggers
        }

    @cached_property
    def wanted_targets(self) -> dict[str, Wanted]:
        """By name. A trigger that comes to a target needs it, as does one whose target moves."""
        return {
            name: Wanted(
                self._tenant_id,
                name,
                spec.url,
                self._stored.targets.get(name),
                self._is_needed(name, spec.url),
            )
            for name, spec in self._targets.items()
        }

    def unproven(self, hosts: Hosts) -> Iterator[FieldProblem]:
        """Targets that nothing may be sent to although a trigger is to use them."""
        for name, wanted in self.wanted_targets.items():
            owner = hosts.owner(wanted)
            if wanted.is_needed and not owner.is_usable:
                path = Subject("target", self._tenant_id, name).path
                yield FieldProblem(f"{path}.url", owner.remedy(self._tenant_id, wanted.url))

    def items(self, hosts: Hosts) -> Iterator[Item]:
        """Everything, in the order in which it is told. ApiProblem where a grant is missing."""
        tenant, item = self._tenant_item()
        if item is not None:
            yield item
        calendars = {name: self._calendar_item(name) for name in self._calendars}
        yield from calendars.values()
        owners = {name: hosts.owner(each) for name, each in self.wanted_targets.items()}
        allowed = {owner.host for owner in owners.values() if owner.host is not None}
        if allowed:
            self._call.require(GrantKind.OPERATOR, self._tenant_id, act="allow a host")
        registry = self._call.services.store.registry
        for name, spec in self._targets.items():
            wanted = self.wanted_targets[name]
            yield target_item(registry, wanted, spec, owner=owners[name], allowed=allowed)
        after = self._calendars_after(calendars)
        for name, trigger in self._triggers.items():
            yield trigger_item(
                self._call,
                Subject("trigger", self._tenant_id, name),
                trigger,
                stored=self._stored.triggers.get(name),
                current=self._current.get(name),
                smear_s=tenant.smear_s,
                after=after,
            )
        if self._prune:
            yield from self._deletions(allowed)

    def held(self) -> Iterator[Held]:
        """What the triggers take their dates and their smear from, where it is not selected."""
        stored, triggers = self._stored, self._triggers.values()
        used = {name for each in triggers for name in each.calendars}
        for name, calendar in stored.calendars.items():
            if name in used and name not in self._calendars:
                yield PutCalendar(
                    tenant_id=self._tenant_id,
                    calendar_id=name,
                    rules=calendar.rules,
                    dates=calendar.own_dates,
                    expected_revision=calendar.revision,
                )
        is_told = self._selection.takes_whole(self._tenant_id)
        if stored.record and not is_told and any(each.smear_s is None for each in triggers):
            yield PutTenant(tenant=stored.record, expected_revision=stored.record.revision)

    def _deletions(self, allowed: set[str]) -> Iterator[Item]:
        for name, trigger in self._stored.triggers.items():
            if name not in self._spec.triggers and self._takes(name):
                yield trigger_deletion(trigger, self._definition(name))
        for name, target in self._stored.targets.items():
            if name not in self._spec.targets and self._takes(name):
                yield target_deletion(target, allowed=allowed)
        for name, calendar in self._stored.calendars.items():
            if name not in self._spec.calendars and self._takes(name):
                yield _calendar_deletion(calendar)

    def _tenant_item(self) -> tuple[TenantRecord, Item | None]:
        """The tenant as it will be; no item where only some of it is selected and it exists."""
        stored = self._stored.record
        smear_s = self._call.services.settings.smear_s_default
        before = stored or new_tenant(self._tenant_id, smear_s=smear_s)
        if stored is not None and not self._selection.takes_whole(self._tenant_id):
            return before, None
        given = self._spec.model_dump(include={*_QUOTAS, "smear_s"}, exclude_none=True)
        wanted = replace(before, **given)
        changed = [key for key in given if getattr(before, key) != given[key]]
        self._check_grants(changed)
        fields = tuple(
            FieldChange(
                field=key,
                before=None if stored is None else getattr(before, key),
                after=getattr(wanted, key),
            )
            for key in changed
        )
        revision = 0 if stored is None else stored.revision
        put = PutTenant(tenant=wanted, expected_revision=revision)
        subject = Subject("tenant", self._tenant_id, self._tenant_id)
        steps = (Step(Phase.TENANT, put),)
        return wanted, Item(subject=subject, revision=revision, steps=steps, fields=fields)

    def _check_grants(self, changed: list[str]) -> None:
        if self._stored.record is None:
            self._call.require(GrantKind.OPERATOR, None, act="create a tenant")
        elif "smear_s" in changed:
            self._call.require(GrantKind.OPERATOR, None, act="set a tenant's default smear")
        if any(key in _QUOTAS for key in changed):
            self._call.require(GrantKind.POLICY, self._tenant_id, act="set a quota")

    def _calendar_item(self, name: str) -> Item:
        spec, stored = self._calendars[name], self._stored.calendars.get(name)
        dates = tuple(day.isoformat() for day in spec.dates)
        revision = 0 if stored is None else stored.revision
        put = PutCalendar(
            tenant_id=self._tenant_id,
            calendar_id=name,
            rules=spec.rules,
            dates=dates,
            expected_revision=revision,
        )
        before = None if stored is None else (stored.rules, stored.own_dates)
        return Item(
            subject=Subject("calendar", self._tenant_id, name),
            revision=revision,
            steps=(Step(Phase.CALENDAR, put),),
            fields=tuple(_calendar_fields(before, spec.rules, dates)),
        )

    def _calendars_after(self, items: dict[str, Item]) -> CalendarsAfter:
        return CalendarsAfter(
            calendars={
                **{name: _as_stored(each) for name, each in self._stored.calendars.items()},
                **{name: _as_given(name, each) for name, each in self._calendars.items()},
            },
            edited={
                name: item.revision for name, item in items.items() if item.revision and item.fields
            },
        )

    def _takes(self, name: str) -> bool:
        return self._selection.takes(self._tenant_id, name)

    def _definition(self, name: str) -> TriggerDefinition | None:
        trigger = self._stored.triggers[name]
        registry = self._call.services.store.registry
        return registry.definition(self._tenant_id, trigger.trigger_id, version=trigger.version)

    def _is_needed(self, name: str, url: str) -> bool:
        users = self._users.get(name, ())
        stored = self._stored.targets.get(name)
        if stored is not None and origin_of(stored.endpoint) != origin_of(url) and users:
            return True
        current = (self._current.get(trigger) for trigger in users)
        return any(each is None or each.target_id != name for each in current)


def _users(triggers: Mapping[str, TriggerSpec]) -> dict[str, list[str]]:
    """The names of the triggers of each target."""
    found: dict[str, list[str]] = {}
    for name, spec in triggers.items():
        found.setdefault(spec.target, []).append(name)
    return found


def _calendar_fields(
    before: tuple[tuple[str, ...], tuple[str, ...]] | None,
    rules: tuple[str, ...],
    dates: tuple[str, ...],
) -> Iterator[FieldChange]:
    old_rules, old_dates = before or ((), ())
    if old_rules != rules:
        yield FieldChange(field="rules", before=list(old_rules), after=list(rules))
    if old_dates != dates:
        yield FieldChange(field="dates", before=list(old_dates), after=list(dates))


def _calendar_deletion(stored: CalendarRecord) -> Item:
    delete = DeleteCalendar(
        tenant_id=stored.tenant_id,
        calendar_id=stored.calendar_id,
        expected_revision=stored.revision,
    )
    return Item(
        subject=Subject("calendar", stored.tenant_id, stored.calendar_id),
        revision=stored.revision,
        steps=(Step(Phase.REST_GOES, delete),),
    )


def _as_stored(calendar: CalendarRecord) -> ExclusionCalendar:
    dates = tuple(date.fromisoformat(text) for text in calendar.dates)
    return ExclusionCalendar(calendar.calendar_id, calendar.revision, dates)


def _as_given(name: str, spec: CalendarSpec) -> ExclusionCalendar:
    return ExclusionCalendar(name, 0, spec.all_dates())
