"""Triggers and changes of them, as the API shows them."""

from control_api.answers.expand import Versions
from control_api.call import Call
from control_api.definitions import definition_out
from ports.changes import ChangeResult
from ports.records import TriggerDefinition, TriggerRecord
from scheduling import RuleError
from scheduling.describe import describe
from scheduling.rules import Rules, due_of
from scheduling.versions import recurrence_of
from scheduling.vocabulary import TriggerState
from schemas.api.triggers import TriggerChanged, TriggerOut

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


def _still_waiting(call: Call, result: ChangeResult) -> int:
    """What a change that stops fires has left to the sweep; the others leave nothing."""
    if not result.stopped_fires:
        return 0
    history = call.services.store.history
    return sum(history.backlog(result.tenant_id, trigger_id=result.trigger_id).values())


def _says(trigger: TriggerRecord, definition: TriggerDefinition) -> str:
    """The schedule in words; empty where it cannot be read any more, which is a quarantine."""
    try:
        return describe(recurrence_of(definition, tenant_id=trigger.tenant_id, name=trigger.name))
    except RuleError:
        return ""


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
