"""Reads a manifest: all of its problems at once, each with its line, or the records to apply."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeVar

from control_api.manifests.checks import ScheduleCheck, TargetCheck, unknown_name
from control_api.manifests.problems import ManifestErrors, Mark, Problem
from control_api.manifests.shapes import (
    Defaults,
    Report,
    Section,
    expect_mapping,
    known_values,
    refuse_unknown,
    validated,
)
from control_api.manifests.yaml_tree import Node
from scheduling.calendars import ExclusionCalendar
from scheduling.limits import NAME_CHARS_MAX
from schemas.manifest import (
    CalendarSpec,
    Manifest,
    QuotaSpec,
    TargetSpec,
    TenantSpec,
    TriggerSpec,
)
from schemas.manifest_fields import name_problem
from schemas.refusals import keys_of

_QUOTA_KEYS: Final = keys_of(QuotaSpec)
_TENANT_KEYS: Final = _QUOTA_KEYS | {"calendars", "targets", "defaults", "triggers"}
_OWN_KEYS: Final = frozenset({"schedule", "payload", "paused", "pause_note"})
_DEFAULT_KEYS: Final = keys_of(TriggerSpec) - _OWN_KEYS
_TARGET_FILLERS: Final = {"url": "https://example.com/"}
_TRIGGER_FILLERS: Final = {"schedule": "@yearly", "zone": "UTC", "target": "missing"}

Spec = TypeVar("Spec")


def read_manifest(
    root: Node,
    problems: Iterable[Problem] = (),
    *,
    name: str,
    now_us: int,
    allow_loopback: bool,
    takes: Callable[[str, str], bool] = lambda tenant, trigger: True,
) -> Manifest:
    """The manifest of a tree, whose reader has found these problems; `name` is the file's.

    Every recurrence is compiled and asked for its next instant after `now_us`; of triggers that
    are not wanted it is not, since that takes a millisecond each. Secrets that lie
    elsewhere are not looked for: `control_api.manifests.secrets` does that, where the file is.
    Raises ManifestErrors with all problems; nothing is half read.
    """
    report = Report(list(problems))
    reader = _Reader(
        report=report,
        check_target=TargetCheck(report, allow_loopback),
        check_schedule=ScheduleCheck(report, now_us),
        takes=takes,
    )
    tenants = reader.tenants(Section(root, "", "", Mark(1, 1)))
    if report.problems:
        raise ManifestErrors(name, report.problems, report.left_out)
    return Manifest(tenants=tenants, name=name)


def check_root(root: Section, *, report: Report) -> bool:
    """Whether it is a mapping with `tenants` in it; what else stands there is refused."""
    if not expect_mapping(root, report=report):
        return False
    refuse_unknown(root, frozenset({"tenants"}), report=report)
    if root.child("tenants") is None:
        report.add(root.mark, "tenants", "missing: start the file with `tenants:`")
        return False
    return True


@dataclass(slots=True)
class _Reader:
    """Walks the tree; a part with a problem yields nothing and the walk goes on."""

    report: Report
    check_target: TargetCheck
    check_schedule: ScheduleCheck
    takes: Callable[[str, str], bool]

    def tenants(self, root: Section) -> dict[str, TenantSpec]:
        if not check_root(root, report=self.report):
            return {}
        return self._members(root, "tenants", self._tenant)

    def _tenant(self, tenant: Section) -> TenantSpec | None:
        if not expect_mapping(tenant, report=self.report):
            return None
        refuse_unknown(tenant, _TENANT_KEYS, report=self.report)
        quotas = validated(QuotaSpec, tenant.keeping(_QUOTA_KEYS), report=self.report)
        targets = self._members(tenant, "targets", self._target)
        defaults = self._defaults(tenant)
        calendars = self._members(tenant, "calendars", self._calendar)
        around = _Around(
            tenant,
            defaults,
            _keys_under(tenant, "targets"),
            _keys_under(tenant, "calendars"),
            {name: _excluded(name, spec) for name, spec in calendars.items()},
        )
        triggers = self._members(tenant, "triggers", partial(self._trigger, around))
        if quotas is None:
            return None
        return TenantSpec(
            **quotas.model_dump(), calendars=calendars, targets=targets, triggers=triggers
        )

    def _calendar(self, section: Section) -> CalendarSpec | None:
        return validated(CalendarSpec, section, report=self.report)

    def _target(self, section: Section) -> TargetSpec | None:
        target = validated(TargetSpec, section, report=self.report, fillers=_TARGET_FILLERS)
        if target is not None:
            self.check_target(section, target)
        return target

    def _trigger(self, around: "_Around", section: Section) -> TriggerSpec | None:
        defaults = around.defaults
        trigger = validated(
            TriggerSpec, section, report=self.report, defaults=defaults, fillers=_TRIGGER_FILLERS
        )
        if trigger is None:
            return None
        if trigger.target not in around.target_names:
            text = partial(unknown_name, "target", trigger.target, around.target_names)
            self.report.add(*section.blamed("target", defaults), text)
        for name in trigger.calendars:
            if name not in around.calendar_names:
                text = partial(unknown_name, "calendar", name, around.calendar_names)
                self.report.add(*section.blamed("calendars", defaults), text)
        if self.takes(around.tenant.name, section.name):
            used = [around.excluded[name] for name in trigger.calendars if name in around.excluded]
            self.check_schedule(
                section,
                trigger,
                tenant=around.tenant.name,
                defaults=defaults,
                calendars=tuple(used),
            )
        return trigger

    def _defaults(self, tenant: Section) -> Defaults | None:
        section = tenant.child("defaults")
        if section is None or not expect_mapping(section, report=self.report):
            return None
        refuse_unknown(section, _DEFAULT_KEYS, report=self.report)
        kept = section.keeping(_DEFAULT_KEYS)
        values, _ = known_values(TriggerSpec, kept, report=self.report)
        return Defaults(kept, values)

    def _members(
        self, parent: Section, key: str, read: Callable[[Section], Spec | None]
    ) -> dict[str, Spec]:
        """Every named member under a key that could be read; no key, no members."""
        section = parent.child(key)
        if section is None or not expect_mapping(section, report=self.report):
            return {}
        members: dict[str, Spec] = {}
        for name in section.node.keys:
            member = section.child(name)
            if member is None:
                continue
            problem = name_problem(name)
            if problem is not None:
                self.report.add(member.mark, member.path, problem)
                if len(name) > NAME_CHARS_MAX:
                    continue  # each of its fields would repeat it
            record = read(member)
            if record is not None:
                members[name] = record
        return members


class _Around(NamedTuple):
    """What a trigger's section rests on in its tenant; names also of members with a mistake."""

    tenant: Section
    defaults: Defaults | None
    target_names: Mapping[str, object]
    calendar_names: Mapping[str, object]
    excluded: Mapping[str, ExclusionCalendar]


def _excluded(name: str, spec: CalendarSpec) -> ExclusionCalendar:
    """A calendar that no store has seen yet."""
    return ExclusionCalendar(name, 0, spec.all_dates())


def _keys_under(section: Section, key: str) -> Mapping[str, object]:
    """The names as written, so that a target with a mistake is not also called unknown."""
    child = section.child(key)
    return child.node.keys if child else {}
