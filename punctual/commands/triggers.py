"""`punctual triggers`: what there is, where each stands, and when it is due next."""

from pathlib import Path
from typing import Any

import click

from control_api.answers.expand import Versions
from control_api.answers.fire_rows import newest_fire
from control_api.answers.zone_times import instant_json, local_text, span_text, wall_text
from ports.records import FireRecord, TriggerDefinition, TriggerRecord
from ports.store import Store
from punctual.commands.common import (
    all_triggers,
    check_tenant,
    data_option,
    hint,
    json_option,
    now_us,
    opened,
    qualified_name,
    say_json,
    tenant_option,
)
from punctual.commands.tables import Cell, Column, print_table
from scheduling.vocabulary import TriggerState

_STYLES = {TriggerState.QUARANTINED: "red", TriggerState.PAUSED: "yellow"}
_COLUMNS = (
    Column("trigger"),
    Column("state"),
    Column("schedule", flexible=15),
    Column("zone", droppable=2),
    Column("next", flexible=26),
    Column("last fire", flexible=20, droppable=1),
    Column("note", flexible=16),
)


@click.command()
@tenant_option
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="At most so many rows.",
)
@data_option
@json_option
def triggers(tenant: str | None, limit: int, data: Path, as_json: bool) -> None:
    """List triggers: state, schedule, next due time, newest fire, and why one stands still.

    Times are local to each trigger's zone.
    """
    with opened(data) as store:
        check_tenant(store.registry, tenant)
        found = all_triggers(store.registry, tenant, limit=limit)
        versions = Versions(store.registry)
        lines = [_line(store, versions, trigger) for trigger in found]
    if as_json:
        say_json([_json(*line) for line in lines])
        return
    if not lines:
        whose = "No triggers yet" if tenant is None else f"{tenant} has no triggers yet"
        hint(f"{whose}: add some with `punctual up --manifest FILE`.")
        return
    at_us = now_us()
    notes = any(_note(trigger) for trigger, _, _ in lines)
    columns = _COLUMNS if notes else _COLUMNS[:-1]
    print_table(columns, [_cells(*line, at_us=at_us)[: len(columns)] for line in lines])
    if len(lines) == limit:
        hint(f"(the first {limit}; more with --limit)")


Line = tuple[TriggerRecord, TriggerDefinition | None, FireRecord | None]


def _line(store: Store, versions: Versions, trigger: TriggerRecord) -> Line:
    key = (trigger.tenant_id, trigger.trigger_id)
    definition = versions.definition((*key, trigger.version))
    return trigger, definition, newest_fire(store.history, key)


def _cells(
    trigger: TriggerRecord,
    definition: TriggerDefinition | None,
    fire: FireRecord | None,
    *,
    at_us: int,
) -> list[str | Cell]:
    zone = "UTC" if definition is None else definition.zone
    return [
        qualified_name(trigger),
        Cell(trigger.state.value, _STYLES.get(trigger.state, "")),
        "" if definition is None else "; ".join(definition.recurrence),
        zone,
        _next_text(trigger, zone, at_us),
        _last_text(fire, zone),
        _note(trigger),
    ]


def _next_text(trigger: TriggerRecord, zone: str, at_us: int) -> str:
    due_us = trigger.next_due_us
    if due_us is None:
        return ""
    relative = f"in {span_text(due_us - at_us)}"
    if due_us < at_us:
        relative = f"{span_text(at_us - due_us)} ago, undecided"
    return f"{local_text(zone, due_us)} ({relative})"


def _last_text(fire: FireRecord | None, zone: str) -> str:
    if fire is None:
        return ""
    fate = fire.cause or fire.state
    at_us = fire.key.scheduled_us if fire.through_us is None else fire.through_us
    return f"{wall_text(zone, at_us)} {fate}"


def _note(trigger: TriggerRecord) -> str:
    return trigger.quarantine_error or trigger.pause_note or ""


def _json(
    trigger: TriggerRecord, definition: TriggerDefinition | None, fire: FireRecord | None
) -> dict[str, Any]:
    return {
        "tenant": trigger.tenant_id,
        "trigger": trigger.name,
        "trigger_id": trigger.trigger_id,
        "state": trigger.state.value,
        "version": trigger.version,
        "revision": trigger.revision,
        "schedule": [] if definition is None else list(definition.recurrence),
        "zone": None if definition is None else definition.zone,
        "target": None if definition is None else definition.target_id,
        "missed_policy": None if definition is None else definition.missed_policy.value,
        "overlap_policy": None if definition is None else definition.overlap_policy.value,
        "next_due_at": instant_json(trigger.next_due_us),
        "decided_through": instant_json(trigger.decided_through_us),
        "fired_count": trigger.fired_count,
        "last_fire": fire
        and {
            "fire_key": str(fire.key),
            "scheduled_instant": instant_json(fire.key.scheduled_us),
            "through_instant": instant_json(fire.through_us),
            "state": fire.state.value,
            "cause": fire.cause and fire.cause.value,
        },
        "pause_note": trigger.pause_note,
        "quarantine_error": trigger.quarantine_error,
        "created_at": instant_json(trigger.created_us),
    }
