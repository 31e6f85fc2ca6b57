"""Triggers and changes of them, as the API shows them."""

from typing import Any

from control_api.answers.clock_change import wall_of
from control_api.answers.expand import Versions
from control_api.answers.fire_rows import newest_fire
from control_api.answers.odd_nights import OddNight, odd_nights
from control_api.call import Call
from control_api.definitions import definition_out
from ports.changes import ChangeResult
from ports.records import FireRecord, TriggerDefinition, TriggerRecord
from scheduling import Recurrence, RuleError
from scheduling.describe import describe
from scheduling.rules import Rules, due_of
from scheduling.versions import recurrence_of
from scheduling.vocabulary import TriggerState
from schemas.api.odd_nights import OddNightOut, OddTimeOut
from schemas.api.triggers import (
    NewestFire,
    TriggerChanged,
    TriggerDetail,
    TriggerOut,
    TriggerShown,
)

NEXT_SHOWN = 3


def trigger_out(trigger: TriggerRecord, versions: Versions, *, now_us: int) -> TriggerOut:
    """The trigger as it stands; the store keeps the definition of every version."""
    key = (trigger.tenant_id, trigger.trigger_id, trigger.version)
    definition = versions.definition(key)
    if definition is None:  # versions never go before their trigger
        raise LookupError(f"trigger {trigger.trigger_id} has no version {trigger.version}")
    rules = versions.rules(key, trigger.name)
    return TriggerOut(
        tenant=trigger.tenant_id,
        name=trigger.name,
        trigger_id=trigger.trigger_id,
        state=trigger.state,
        version=trigger.version,
        revision=trigger.revision,
        definition=definition_out(definition),
        has_payload=definition.has_payload,
        horizon_source=definition.horizon_source,
        says=_says(trigger, definition),
        next_due_at=trigger.next_due_us,
        next=_next(trigger, rules, now_us),
        decided_through=trigger.decided_through_us,
        fired_count=trigger.fired_count,
        pause_note=trigger.pause_note,
        quarantine_error=trigger.quarantine_error,
        created_at=trigger.created_us,
    )


def trigger_shown(call: Call, trigger: TriggerRecord, versions: Versions) -> TriggerShown:
    """The trigger as lists show it, with what was decided last."""
    return TriggerShown(**_shown(call, trigger, versions))


def trigger_detail(call: Call, trigger: TriggerRecord) -> TriggerDetail:
    """The trigger with its odd nights; none of a rule that cannot be read."""
    versions = Versions(call.services.store.registry)
    definition = versions.definition((trigger.tenant_id, trigger.trigger_id, trigger.version))
    recurrence = None if definition is None else _recurrence(trigger, definition)
    nights = [] if recurrence is None else odd_nights(recurrence, call.now_us())
    return TriggerDetail(
        **_shown(call, trigger, versions), odd_nights=[odd_night_out(each) for each in nights]
    )


def odd_night_out(night: OddNight) -> OddNightOut:
    """One night in the words of the API."""
    return OddNightOut(
        date=night.on.isoformat(),
        kind=night.kind,
        changes_at=night.at_us,
        from_local=night.from_local,
        to_local=night.to_local,
        times=[
            OddTimeOut(local=wall_of(time.wall_s), instants=list(time.instants_us))
            for time in night.times
        ],
        count=night.times_count,
        text=night.text,
    )


def changed_out(call: Call, result: ChangeResult) -> TriggerChanged:
    """What a change did, and the trigger as it is now unless it is gone."""
    registry = call.services.store.registry
    found = registry.find_triggers(result.trigger_id or "", tenant_id=result.tenant_id)
    return TriggerChanged(
        change=result.kind,
        tenant=result.tenant_id,
        name=result.subject,
        trigger_id=result.trigger_id or "",
        version=result.version or 0,
        revision=result.revision or 0,
        since=result.from_us,
        settled_rows=result.settled_rows,
        stopped_fires=result.stopped_fires,
        still_waiting=_still_waiting(call, result),
        trigger=trigger_out(found[0], Versions(registry), now_us=call.now_us()) if found else None,
    )


def _shown(call: Call, trigger: TriggerRecord, versions: Versions) -> dict[str, Any]:
    shown = trigger_out(trigger, versions, now_us=call.now_us())
    fire = newest_fire(call.services.store.history, (trigger.tenant_id, trigger.trigger_id))
    return {**dict(shown), "newest_fire": None if fire is None else _newest(fire)}


def _newest(fire: FireRecord) -> NewestFire:
    return NewestFire(
        fire_key=str(fire.key),
        scheduled_instant=fire.key.scheduled_us,
        through_instant=fire.through_us,
        state=fire.state,
        cause=fire.cause,
    )


def _still_waiting(call: Call, result: ChangeResult) -> int:
    """What a change that stops fires has left to the sweep; the others leave nothing."""
    if not result.stopped_fires:
        return 0
    history = call.services.store.history
    return sum(history.backlog(result.tenant_id, trigger_id=result.trigger_id).values())


def _says(trigger: TriggerRecord, definition: TriggerDefinition) -> str:
    recurrence = _recurrence(trigger, definition)
    return "" if recurrence is None else describe(recurrence)


def _recurrence(trigger: TriggerRecord, definition: TriggerDefinition) -> Recurrence | None:
    """None where the schedule cannot be read any more, which is a quarantine."""
    try:
        return recurrence_of(definition, tenant_id=trigger.tenant_id, name=trigger.name)
    except RuleError:
        return None


def _next(trigger: TriggerRecord, rules: Rules | None, now_us: int) -> list[int]:
    """Due times ahead; none while it stands still. The cap on fires is not looked at."""
    if rules is None or trigger.state is not TriggerState.LIVE or trigger.next_due_us is None:
        return []
    found = []
    after_us = max(trigger.decided_through_us, trigger.created_us)
    for _ in range(NEXT_SHOWN):
        instant_us = rules.recurrence.next_after_us(after_us)
        if instant_us is None:
            break
        found.append(due_of(rules, instant_us))
        after_us = instant_us
    return found
