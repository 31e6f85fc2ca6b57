"""Range rows as the instants they stand for, by the recurrence of their own version, bounded."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from ports.records import FireRecord, TriggerDefinition
from ports.registry import RegistryPort
from scheduling import Recurrence, RuleError, compile_recurrence
from scheduling.instants import SECOND_US, from_us
from scheduling.rules import Rules, due_of
from scheduling.wall_clock import ClockSource, wall_clock

VersionKey = tuple[str, str, int]


class Versions:
    """The versions that rows name, read and compiled once each; they never change.

    None where the store has no such version, or its rule cannot be compiled any more.
    """

    def __init__(self, registry: RegistryPort) -> None:
        self._registry = registry
        self._definitions: dict[VersionKey, TriggerDefinition | None] = {}
        self._rules: dict[VersionKey, Rules | None] = {}

    def definition(self, key: VersionKey) -> TriggerDefinition | None:
        if key not in self._definitions:
            tenant_id, trigger_id, version = key
            found = self._registry.definition(tenant_id, trigger_id, version=version)
            self._definitions[key] = found
        return self._definitions[key]

    def rules(self, key: VersionKey, name: str) -> Rules | None:
        """`name` is the trigger's, which `H` is derived from."""
        if key not in self._rules:
            definition = self.definition(key)
            self._rules[key] = None if definition is None else rules_of(definition, key, name=name)
        return self._rules[key]

    def zone_of(self, row: FireRecord) -> str:
        definition = self.definition(version_of(row))
        return "UTC" if definition is None else definition.zone


def version_of(row: FireRecord) -> VersionKey:
    """The version that a row was decided by."""
    return (row.key.tenant_id, row.key.trigger_id, row.version)


def recurrence_of(
    definition: TriggerDefinition,
    *,
    tenant_id: str,
    name: str,
    clocks: ClockSource = wall_clock,
) -> Recurrence:
    """A definition's recurrence; InvalidRecurrence where it does not compile any more."""
    texts = definition.recurrence
    return compile_recurrence(
        texts[0] if len(texts) == 1 else texts,
        definition.zone,
        gap=definition.gap_rule,
        fold=definition.fold_rule,
        starts_at=None if definition.starts_us is None else from_us(definition.starts_us),
        ends_at=None if definition.ends_us is None else from_us(definition.ends_us),
        exclusions=[date.fromisoformat(text) for text in definition.exclusions],
        identity=(tenant_id, name),
        clocks=clocks,
    )


def rules_of(definition: TriggerDefinition, key: VersionKey, *, name: str) -> Rules | None:
    """What is needed to tell a version's instants and their due times."""
    tenant_id, trigger_id, version = key
    try:
        recurrence = recurrence_of(definition, tenant_id=tenant_id, name=name)
    except RuleError:
        return None
    return Rules(
        tenant_id=tenant_id,
        trigger_id=trigger_id,
        version=version,
        recurrence=recurrence,
        missed_policy=definition.missed_policy,
        overlap_policy=definition.overlap_policy,
        horizon_us=definition.catchup_horizon_s * SECOND_US,
        horizon_source=definition.horizon_source,
        smear_us=definition.smear_s * SECOND_US,
        max_fires=definition.max_fires,
    )


def expand(
    row: FireRecord, rules: Rules | None, *, limit: int, from_us: int | None, through_us: int | None
) -> Iterator[FireRecord]:
    """A range row's instants inside a window as rows of their own, newest first, at most `limit`.

    Any other row, and a range whose rule is gone, comes back as it is.
    """
    if row.through_us is None or row.instant_count <= 1 or rules is None:
        yield row
        return
    first_us = row.key.scheduled_us if from_us is None else max(from_us, row.key.scheduled_us)
    last_us = row.through_us if through_us is None else min(through_us, row.through_us)
    instant_us = rules.recurrence.previous_before_us(last_us + 1)
    while instant_us is not None and instant_us >= first_us and limit > 0:
        yield replace(
            row,
            key=row.key._replace(scheduled_us=instant_us),
            due_us=due_of(rules, instant_us),
            through_us=None,
            instant_count=1,
        )
        limit -= 1
        instant_us = rules.recurrence.previous_before_us(instant_us)
