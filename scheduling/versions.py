"""From the facts of one immutable version to its compiled recurrence and its rules."""

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from scheduling.calendars import ExclusionCalendar
from scheduling.compiler import compile_recurrence
from scheduling.instants import from_us
from scheduling.recurrence import Recurrence
from scheduling.rules import Rules
from scheduling.vocabulary import FoldRule, GapRule, MissedPolicy, OverlapPolicy
from scheduling.wall_clock import ClockSource, wall_clock


class VersionFactsLike(Protocol):
    """What the rules need of a version, as a definition or a store's row has it."""

    @property
    def recurrence(self) -> tuple[str, ...]: ...
    @property
    def zone(self) -> str: ...
    @property
    def gap_rule(self) -> GapRule: ...
    @property
    def fold_rule(self) -> FoldRule: ...
    @property
    def starts_us(self) -> int | None: ...
    @property
    def ends_us(self) -> int | None: ...
    @property
    def exclusions(self) -> tuple[str, ...]: ...
    @property
    def exclusion_calendars(self) -> Sequence[ExclusionCalendar]: ...
    @property
    def missed_policy(self) -> MissedPolicy: ...
    @property
    def overlap_policy(self) -> OverlapPolicy: ...
    @property
    def horizon_us(self) -> int: ...
    @property
    def horizon_source(self) -> str: ...
    @property
    def smear_us(self) -> int: ...
    @property
    def max_fires(self) -> int | None: ...


def recurrence_of(
    facts: VersionFactsLike, *, tenant_id: str, name: str, clocks: ClockSource = wall_clock
) -> Recurrence:
    """A version's recurrence, its calendars excluded; `name` is the trigger's, which `H` needs.

    InvalidRecurrence where it does not compile any more.
    """
    texts = facts.recurrence
    return compile_recurrence(
        texts[0] if len(texts) == 1 else texts,
        facts.zone,
        gap=facts.gap_rule,
        fold=facts.fold_rule,
        starts_at=None if facts.starts_us is None else from_us(facts.starts_us),
        ends_at=None if facts.ends_us is None else from_us(facts.ends_us),
        exclusions=[date.fromisoformat(text) for text in facts.exclusions],
        calendars=facts.exclusion_calendars,
        identity=(tenant_id, name),
        clocks=clocks,
    )


def rules_of(facts: VersionFactsLike, key: tuple[str, str, int], *, name: str) -> Rules:
    """The rules of version (tenant, trigger, number). InvalidRecurrence as above."""
    tenant_id, trigger_id, version = key
    return Rules(
        tenant_id=tenant_id,
        trigger_id=trigger_id,
        version=version,
        recurrence=recurrence_of(facts, tenant_id=tenant_id, name=name),
        missed_policy=facts.missed_policy,
        overlap_policy=facts.overlap_policy,
        horizon_us=facts.horizon_us,
        horizon_source=facts.horizon_source,
        smear_us=facts.smear_us,
        max_fires=facts.max_fires,
    )
