"""Gathers what `why` needs to know of instants of one trigger, from the store's readers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from control_api.answers.expand import Versions, rules_of, version_of
from control_api.answers.fire_rows import chain_of
from control_api.answers.why_facts import Edit, WhyFacts
from ports.records import (
    AuditRecord,
    FireRecord,
    GapRecord,
    SpanRecord,
    TriggerDefinition,
    TriggerRecord,
)
from ports.store import Store
from scheduling import tzdata_version
from scheduling.rules import Rules, due_of
from scheduling.vocabulary import Cause, SpanKind, TriggerState

EDITS_SEARCHED_MAX: Final = 20  # each of them compiles a schedule
_ROWS_AT_ONE_INSTANT_MAX: Final = 50
_KIND_OF_CAUSE: Final = {
    Cause.PAUSED: SpanKind.PAUSED,
    Cause.DELETED: SpanKind.DELETED,
    Cause.QUARANTINED: SpanKind.QUARANTINED,
}
_KIND_OF_STATE: Final = {
    TriggerState.PAUSED: SpanKind.PAUSED,
    TriggerState.DELETED: SpanKind.DELETED,
}
_ACTION_OF_KIND: Final = {
    SpanKind.PAUSED: "trigger_paused",
    SpanKind.DELETED: "trigger_deleted",
    SpanKind.QUARANTINED: "quarantine",
}


class _Near(NamedTuple):
    """The instants beside one, and whether it is an instant itself."""

    before_us: int | None
    is_instant: bool
    after_us: int | None


class FactReader:
    """Gathers the facts about instants of one trigger at one time."""

    def __init__(self, store: Store, trigger: TriggerRecord, *, at_us: int) -> None:
        self.store = store
        self.trigger = trigger
        self.at_us = at_us
        self.key = (trigger.tenant_id, trigger.trigger_id)
        self.versions = Versions(store.registry)
        self.current = (*self.key, trigger.version)
        self.spans = store.registry.spans(*self.key)

    @property
    def zone(self) -> str:
        definition = self.versions.definition(self.current)
        return "UTC" if definition is None else definition.zone

    def facts(self, instant_us: int) -> WhyFacts:
        """What `why` needs to know of one instant."""
        store, history = self.store, self.store.history
        row = history.covering(*self.key, instant_us=instant_us)
        version = self._version_at(instant_us, row)
        definition, rules = self._definition(version), self._rules(version)
        near = _neighbours(rules, instant_us)
        if row is None and instant_us < self.trigger.created_us:
            # What lies beside it there was never due: the first that was is worth telling.
            near = near._replace(after_us=_neighbours(rules, self.trigger.created_us).after_us)
        others = self._others(instant_us)
        if row is None and not near.is_instant and others:
            row, *others = others
            definition = self.versions.definition(version_of(row))
        return WhyFacts(
            trigger=self.trigger,
            instant_us=instant_us,
            now_us=self.at_us,
            definition=definition,
            due_us=due_of(rules, instant_us) if rules and near.is_instant else instant_us,
            is_instant=near.is_instant,
            before_us=near.before_us,
            after_us=near.after_us,
            row=row,
            attempts=() if row is None else tuple(history.attempts(row.key)),
            chain=() if row is None else tuple(chain_of(history, row)),
            others=tuple(others),
            gap=self._gap(instant_us),
            change=self._change(instant_us, row),
            lease=next(
                (
                    lease
                    for lease in store.leases.leases()
                    if lease.partition_id == self.trigger.partition_id
                ),
                None,
            ),
            pinned_tzdata=store.due_index.pinned_tzdata(),
            installed_tzdata=tzdata_version(),
            is_excluded=not near.is_instant and self._is_excluded(version, instant_us),
            edit=None if row or near.is_instant else self._edit(instant_us),
            is_over_limit=self._is_over_limit(rules, instant_us),
            run=None if row is None or row.key.sequence == 0 else self._run(row),
        )

    def next_instant(self) -> int | None:
        """The first instant after the cursor that nothing has decided; None where there is none."""
        rules = self._rules(self.trigger.version)
        if rules is None or self.trigger.state in (TriggerState.FINISHED, TriggerState.DELETED):
            return None
        return _neighbours(
            rules, max(self.trigger.decided_through_us, self.trigger.created_us)
        ).after_us

    def _definition(self, version: int) -> TriggerDefinition | None:
        return self.versions.definition((*self.key, version))

    def _rules(self, version: int) -> Rules | None:
        return self.versions.rules((*self.key, version), self.trigger.name)

    def _version_at(self, instant_us: int, row: FireRecord | None) -> int:
        """The version of the row, or of the span that covers the instant."""
        if row is not None:
            return row.version
        return self.spans[self._covering(instant_us)].version if self.spans else self.current[2]

    def _covering(self, instant_us: int) -> int:
        """The place of the span that covers an instant: spans begin after their `from_us`."""
        found = 0
        for place, span in enumerate(self.spans):
            if span.from_us < instant_us:
                found = place
        return found

    def _edit(self, instant_us: int) -> Edit | None:
        """The edit that took the instant away; else the one that brought it too late."""
        at = self._covering(instant_us)
        backward = pairwise(reversed(self.spans[: at + 1]))
        for newer, older in _edits(backward):
            if self._has(older.version, instant_us):
                return Edit(newer.version, newer.from_us, newer.actor, took_it_away=True)
        for _, newer in _edits(pairwise(self.spans[at:])):
            if self._has(newer.version, instant_us):
                return Edit(newer.version, newer.from_us, newer.actor, took_it_away=False)
        return None

    def _has(self, version: int, instant_us: int) -> bool:
        rules = self._rules(version)
        return rules is not None and _neighbours(rules, instant_us).is_instant

    def _is_excluded(self, version: int, instant_us: int) -> bool:
        definition = self._definition(version)
        if definition is None or not (definition.exclusions or definition.calendars):
            return False
        free = replace(definition, exclusions=(), calendars=())
        rules = rules_of(free, (*self.key, version), name=self.trigger.name)
        return rules is not None and _neighbours(rules, instant_us).is_instant

    def _is_over_limit(self, rules: Rules | None, instant_us: int) -> bool:
        """Counts every instant ahead as a fire, as the decision will unless more is missed."""
        cursor_us = self.trigger.decided_through_us
        if rules is None or rules.max_fires is None or instant_us <= cursor_us:
            return False
        ahead = rules.recurrence.count_between_us(cursor_us, instant_us)
        return self.trigger.fired_count + ahead > rules.max_fires

    def _others(self, instant_us: int) -> list[FireRecord]:
        tenant_id, trigger_id = self.key
        rows = self.store.history.fires(
            tenant_id=tenant_id,
            trigger_id=trigger_id,
            through_us=instant_us,  # backwards from there, so that no range rows are looked for
            limit=_ROWS_AT_ONE_INSTANT_MAX,
        )
        return [row for row in rows if row.key.sequence > 0 and row.key.scheduled_us == instant_us]

    def _gap(self, instant_us: int) -> GapRecord | None:
        return next(
            (
                gap
                for gap in self.store.history.gaps(self.trigger.tenant_id)
                if gap.trigger_id == self.trigger.trigger_id
                and max(gap.after_us, gap.planned_through_us) < instant_us <= gap.through_us
            ),
            None,
        )

    def _change(self, instant_us: int, row: FireRecord | None) -> AuditRecord | None:
        """The newest change that explains the row, or the trigger's standing still."""
        if row is None:
            kind = _KIND_OF_STATE.get(self.trigger.state)
            latest_us = self.at_us
        else:
            kind = None if row.cause is None else _KIND_OF_CAUSE.get(row.cause)
            latest_us = row.changed_us
        if kind is None:
            return None
        return self._entry(_ACTION_OF_KIND[kind], self._end_of(kind, instant_us) or latest_us)

    def _end_of(self, kind: SpanKind, instant_us: int) -> int | None:
        """The last microsecond of the pause or its like that covers the instant, if it is over.

        An edit inside a pause begins another span of it.
        """
        at = self._covering(instant_us)
        if not self.spans or self.spans[at].kind is not kind:
            return None
        later = (span for span in self.spans[at + 1 :] if span.kind is not kind)
        ended_by = next(later, None)
        return None if ended_by is None else ended_by.from_us - 1

    def _run(self, row: FireRecord) -> AuditRecord | None:
        return self._entry("trigger_run", row.key.scheduled_us, row.key.scheduled_us)

    def _entry(
        self, action: str, latest_us: int, earliest_us: int | None = None
    ) -> AuditRecord | None:
        """The newest entry of that action about the trigger's name."""
        entries = self.store.audit.entries(
            tenant_id=self.trigger.tenant_id,
            subject=self.trigger.name,
            actions=(action,),
            from_us=earliest_us,
            through_us=latest_us,
            limit=1,
        )
        return entries[0] if entries else None


def _edits(
    pairs: Iterator[tuple[SpanRecord, SpanRecord]],
) -> Iterator[Sequence[SpanRecord]]:
    """The neighbours among spans that differ in their version, the first few."""
    edits = (pair for pair in pairs if pair[0].version != pair[1].version)
    return (pair for pair, _ in zip(edits, range(EDITS_SEARCHED_MAX), strict=False))


def _neighbours(rules: Rules | None, instant_us: int) -> _Near:
    """What lies beside an instant; without a rule that can be evaluated, it may be one."""
    if rules is None:
        return _Near(None, True, None)
    recurrence = rules.recurrence
    try:
        is_instant = recurrence.previous_before_us(instant_us + 1) == instant_us
        before_us = recurrence.previous_before_us(instant_us)
        return _Near(before_us, is_instant, recurrence.next_after_us(instant_us))
    except Exception:
        # Whatever fails here has put the trigger into quarantine: that is what has to be told.
        return _Near(None, True, None)
