"""Range rows as the instants they stand for, by the recurrence of their own version, bounded."""

from collections.abc import Iterator
from dataclasses import replace

from ports.records import FireRecord, TriggerDefinition
from ports.registry import RegistryPort
from scheduling import RuleError, versions
from scheduling.rules import Rules, due_of

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


def rules_of(definition: TriggerDefinition, key: VersionKey, *, name: str) -> Rules | None:
    """What is needed to tell a version's instants and their due times."""
    try:
        return versions.rules_of(definition, key, name=name)
    except RuleError:
        return None


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
