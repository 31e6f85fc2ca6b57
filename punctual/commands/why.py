"""`punctual why`: the facts about an instant, gathered from the store, and their one sentence."""

from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.expand import Versions, version_of
from control_api.answers.why import WhyFacts, why
from control_api.answers.zone_times import instant_json, local_text, read_instant
from ports.records import (
    AuditRecord,
    FireRecord,
    GapRecord,
    TriggerDefinition,
    TriggerRecord,
)
from ports.store import Store
from punctual.commands.common import (
    Refusal,
    data_option,
    find_trigger,
    json_option,
    now_us,
    opened,
    qualified_name,
    say_json,
    tenant_option,
)
from punctual.commands.rows import attempt_json, chain_of, fire_json, newest_fire
from scheduling import tzdata_version
from scheduling.rules import Rules, due_of
from scheduling.vocabulary import Cause, TriggerState
from schemas.printable import printable

AUDIT_ENTRIES_SEARCHED_MAX: Final = 5_000  # for who paused it; without, the sentence leaves it out
_ROWS_AT_ONE_INSTANT_MAX: Final = 50
_ACTION_OF_CAUSE: Final = {
    Cause.PAUSED: "trigger_paused",
    Cause.DELETED: "trigger_deleted",
    Cause.QUARANTINED: "quarantine",
}


@click.command(name="why")
@click.argument("trigger")
@click.argument("instant", required=False)
@tenant_option
@data_option
@json_option
def why_command(
    trigger: str, instant: str | None, tenant: str | None, data: Path, as_json: bool
) -> None:
    """Say in one sentence why a trigger fired, or did not, or has not yet.

    INSTANT is as 2026-12-24T17:00:00Z, or a local time of the trigger's zone; without it the
    newest fire and the next instant are told.
    """
    with opened(data) as store:
        found = find_trigger(store.registry, trigger, tenant)
        reader = FactReader(store, found, at_us=now_us())
        answers = _newest_and_next(reader) if instant is None else _about(reader, instant)
    if as_json:
        say_json([answer for _, answer in answers])
        return
    for prefix, answer in answers:
        click.echo(printable(f"{prefix}{answer['sentence']}"))


class FactReader:
    """Gathers the facts about instants of one trigger at one time."""

    def __init__(self, store: Store, trigger: TriggerRecord, *, at_us: int) -> None:
        self.store = store
        self.trigger = trigger
        self.at_us = at_us
        self.key = (trigger.tenant_id, trigger.trigger_id)
        self.versions = Versions(store.registry)
        self.current = (*self.key, trigger.version)

    @property
    def zone(self) -> str:
        definition = self.versions.definition(self.current)
        return "UTC" if definition is None else definition.zone

    def facts(self, instant_us: int) -> WhyFacts:
        """What `why` needs to know of one instant."""
        store, history = self.store, self.store.history
        row = history.covering(*self.key, instant_us=instant_us)
        definition, rules = self._version_at(instant_us, row)
        before_us, is_instant, after_us = _neighbours(rules, instant_us)
        return WhyFacts(
            trigger=self.trigger,
            instant_us=instant_us,
            now_us=self.at_us,
            definition=definition,
            due_us=due_of(rules, instant_us) if rules is not None and is_instant else instant_us,
            is_instant=is_instant,
            before_us=before_us,
            after_us=after_us,
            row=row,
            attempts=() if row is None else tuple(history.attempts(row.key)),
            chain=() if row is None else tuple(chain_of(history, row)),
            others=self._others(instant_us),
            gap=self._gap(instant_us),
            change=self._change(row),
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
        )

    def next_instant(self) -> int | None:
        """The first instant after the cursor that nothing has decided; None where there is none."""
        rules = self.versions.rules(self.current, self.trigger.name)
        if rules is None or self.trigger.state is TriggerState.FINISHED:
            return None
        return rules.recurrence.next_after_us(
            max(self.trigger.decided_through_us, self.trigger.created_us)
        )

    def _version_at(
        self, instant_us: int, row: FireRecord | None
    ) -> tuple[TriggerDefinition | None, Rules | None]:
        """The version of the row, or of the newest row before it, or the current one."""
        key = self.current
        if row is not None:
            key = version_of(row)
        elif instant_us <= self.trigger.decided_through_us:
            tenant_id, trigger_id = self.key
            earlier = self.store.history.fires(
                tenant_id=tenant_id, trigger_id=trigger_id, through_us=instant_us, limit=1
            )
            key = version_of(earlier[0]) if earlier else key
        return self.versions.definition(key), self.versions.rules(key, self.trigger.name)

    def _others(self, instant_us: int) -> tuple[FireRecord, ...]:
        tenant_id, trigger_id = self.key
        rows = self.store.history.fires(
            tenant_id=tenant_id,
            trigger_id=trigger_id,
            from_us=instant_us,
            through_us=instant_us,
            limit=_ROWS_AT_ONE_INSTANT_MAX,
        )
        return tuple(
            row for row in rows if row.key.sequence > 0 and row.key.scheduled_us == instant_us
        )

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

    def _change(self, row: FireRecord | None) -> AuditRecord | None:
        """The newest change that explains the row, or the trigger's standing still."""
        if row is None:
            action = "trigger_paused" if self.trigger.state is TriggerState.PAUSED else None
            latest_us = self.at_us
        else:
            action = None if row.cause is None else _ACTION_OF_CAUSE.get(row.cause)
            latest_us = row.changed_us
        if action is None:
            return None
        subject = (self.trigger.tenant_id, self.trigger.name)
        entries = self.store.audit.entries(limit=AUDIT_ENTRIES_SEARCHED_MAX)
        return next(
            (
                entry
                for entry in entries
                if entry.action == action
                and (entry.tenant_id, entry.subject) == subject
                and entry.at_us <= latest_us
            ),
            None,
        )


Told = tuple[str, dict[str, Any]]


def _about(reader: FactReader, instant: str) -> list[Told]:
    """The answers about what a person wrote: two where the local time comes twice."""
    try:
        reading = read_instant(instant, reader.zone, field="instant")
    except ValueError as error:
        raise Refusal(str(error)) from None
    prefixes = [""]
    if reading.skipped:
        prefixes = [f"The clock in {reader.zone} skips {instant}; the first instant after it: "]
    elif len(reading.instants_us) > 1:
        names = ("First pass: ", "Second pass: ")
        prefixes = [names[min(at, 1)] for at in range(len(reading.instants_us))]
    return [
        (prefix, _answer(reader, instant_us))
        for prefix, instant_us in zip(prefixes, reading.instants_us, strict=True)
    ]


def _newest_and_next(reader: FactReader) -> list[Told]:
    told: list[Told] = []
    newest = newest_fire(reader.store.history, reader.key)
    if newest is not None:
        instant_us = newest.key.scheduled_us if newest.through_us is None else newest.through_us
        told.append(("Newest: ", _answer(reader, instant_us)))
    next_us = reader.next_instant()
    if next_us is not None:
        told.append(("Next: ", _answer(reader, next_us)))
    elif reader.trigger.state is TriggerState.QUARANTINED:
        # Its rule names no instant any more: what holds now holds for all that are ahead.
        told.append(("Now: ", _answer(reader, reader.at_us)))
    elif newest is None or reader.trigger.state is TriggerState.FINISHED:
        name = qualified_name(reader.trigger)
        sentence = f"{name} has no instant left: its schedule has ended, or it has fired its limit."
        told.append(("Next: ", {"answer": "not_due", "sentence": sentence}))
    return told


def _answer(reader: FactReader, instant_us: int) -> dict[str, Any]:
    facts = reader.facts(instant_us)
    answer = why(facts)
    return {
        "answer": answer.kind,
        "sentence": answer.sentence,
        "trigger": facts.subject,
        "instant": instant_json(instant_us),
        "instant_local": local_text(facts.zone, instant_us),
        "fire": facts.row and fire_json(facts.row, facts.zone, list(facts.chain)),
        "attempts": [attempt_json(attempt) for attempt in facts.attempts],
    }


def _neighbours(rules: Rules | None, instant_us: int) -> tuple[int | None, bool, int | None]:
    """The instants before and after, and whether this is one itself; without a rule, it may be."""
    if rules is None:
        return None, True, None
    recurrence = rules.recurrence
    is_instant = recurrence.previous_before_us(instant_us + 1) == instant_us
    before_us = recurrence.previous_before_us(instant_us)
    return before_us, is_instant, recurrence.next_after_us(instant_us)
