"""What a shape cannot show: the address, the secret, the target's name, the recurrence."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from control_api.manifests.shapes import Defaults, Report, Section
from control_api.manifests.yaml_tree import echoed
from scheduling import InvalidRecurrence, compile_recurrence, zone_names
from scheduling.calendars import ExclusionCalendar
from scheduling.instants import from_us
from scheduling.probe import probe
from schemas.endpoints import check_endpoint
from schemas.manifest import TargetSpec, TriggerSpec
from schemas.refusals import did_you_mean
from schemas.signing_secrets import check_secret

_KEYS: Final = {
    "zone": "zone",
    "starts_at": "starts_at",
    "ends_at": "ends_at",
    "exclusions": "exclude",
    "calendars": "calendars",
    "gap": "gap",
    "fold": "fold",
}


@dataclass(slots=True)
class TargetCheck:
    """Judges a target's address and secret; no name is resolved here."""

    report: Report
    allow_loopback: bool

    def __call__(self, section: Section, target: TargetSpec) -> None:
        for problem in check_endpoint(target.url, self.allow_loopback):
            self._blame(section, "url", problem)
        refused = check_secret(target.secret) if target.secret is not None else None
        if refused is not None:
            self._blame(section, "secret", f"{refused}, or leave it out to have one made")

    def _blame(self, section: Section, key: str, message: str) -> None:
        place = section.child(key) or section
        self.report.add(place.mark, place.path, message)


@dataclass(slots=True)
class ScheduleCheck:
    """Compiles and tries recurrences, each distinct one once."""

    report: Report
    now_us: int
    _seen: dict[object, InvalidRecurrence | None] = field(default_factory=dict)

    def __call__(
        self,
        section: Section,
        trigger: TriggerSpec,
        *,
        tenant: str,
        defaults: Defaults | None,
        calendars: tuple[ExclusionCalendar, ...] = (),
    ) -> None:
        refused = self._refusal(trigger, (tenant, section.name), calendars)
        if refused is None:
            return
        key = _KEYS.get(refused.field, "schedule")
        self.report.add(*section.blamed(key, defaults), partial(_message, refused, key))

    def _refusal(
        self,
        trigger: TriggerSpec,
        identity: tuple[str, str],
        calendars: tuple[ExclusionCalendar, ...],
    ) -> InvalidRecurrence | None:
        known = (
            trigger.schedule,
            trigger.zone,
            trigger.gap_rule,
            trigger.fold_rule,
            trigger.starts_at_us,
            trigger.ends_at_us,
            trigger.excluded_on,
            calendars,
            identity if any("H" in member.upper() for member in trigger.schedule) else None,
        )
        if known not in self._seen:
            self._seen[known] = _compiled_refusal(trigger, identity, calendars, now_us=self.now_us)
        return self._seen[known]


def unknown_name(kind: str, name: str, names: Collection[str]) -> str:
    """What to say about a target or a calendar that the manifest does not give the tenant."""
    if not names:
        return (
            f"the manifest has no {kind}s for this tenant: write this one under `{kind}s:`, also "
            "where the service has it already"
        )
    close = did_you_mean(name, list(names))
    shown = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
    hint = f"did you mean `{close[0]}`?" if close else f"the tenant's {kind}s are {shown}"
    return f"no {kind} {echoed(name)} in this tenant: {hint}"


def _compiled_refusal(
    trigger: TriggerSpec,
    identity: tuple[str, str],
    calendars: tuple[ExclusionCalendar, ...],
    *,
    now_us: int,
) -> InvalidRecurrence | None:
    """Why the trigger's recurrence cannot be used, or None."""
    expression = trigger.schedule if len(trigger.schedule) > 1 else trigger.schedule[0]
    try:
        recurrence = compile_recurrence(
            expression,
            trigger.zone,
            gap=trigger.gap_rule,
            fold=trigger.fold_rule,
            starts_at=_moment(trigger.starts_at_us),
            ends_at=_moment(trigger.ends_at_us),
            exclusions=trigger.excluded_on,
            calendars=calendars,
            identity=identity,
        )
        probe(expression, trigger.zone, recurrence, now_us)
    except InvalidRecurrence as refused:
        return refused
    return None


def _moment(instant_us: int | None) -> datetime | None:
    return None if instant_us is None else from_us(instant_us)


def _message(refused: InvalidRecurrence, key: str) -> str:
    """The refusal without its field where that is the key itself; a zone gets a suggestion."""
    part = "" if refused.field == key else f"{refused.field}: "
    item = f"{echoed(refused.item)}: " if refused.item else ""
    close = did_you_mean(refused.item, sorted(zone_names())) if key == "zone" else []
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"{part}{item}{refused.reason}{hint}"
