"""The events as they are published: ids that are derived, and bodies that never hold a payload."""

import json
from typing import Final

from ports.events import Event
from ports.outbox import OutboxEvent
from ports.records import FireRecord
from scheduling.instants import to_text
from scheduling.vocabulary import WAITING, FireState

_GOES_ON: Final = WAITING | {FireState.DISPATCHING}


def trigger_changed(waiting: OutboxEvent) -> Event:
    """An outbox row as its change wrote it."""
    return Event(
        # An id alone would come again for another change after a restore of the store.
        f"{waiting.event}~{waiting.outbox_id}~{waiting.created_us}",
        waiting.event,
        waiting.tenant_id,
        waiting.trigger_id,
        waiting.body,
        waiting.created_us,
    )


def fire_state_changed(row: FireRecord) -> Event:
    """A ledger row as it was found.

    `attempt` is the one under way, the next, or at an end the last; 0 where there was none.
    """
    reason = row.held_reason.value if row.held_reason is not None else ""
    body = {
        "fire_key": str(row.key),
        "trigger": row.trigger_name,
        "version": row.version,
        "origin": row.origin.value,
        "lane": row.lane.value,
        "state": row.state.value,
        "cause": row.cause and row.cause.value,
        "held_reason": row.held_reason and row.held_reason.value,
        "attempt": row.next_attempt_n if row.state in _GOES_ON else row.attempts,
        "scheduled_instant": to_text(row.key.scheduled_us),
        "through_instant": _text(row.through_us),
        "instant_count": row.instant_count,
        "coalesced_into": _text(row.coalesced_into_us),
        "due_at": to_text(row.due_us),
        "not_before": _text(row.not_before_us),
        "changed_at": to_text(row.changed_us),
    }
    return Event(
        f"{row.key}~{row.next_attempt_n}~{row.state.value}{reason and '.' + reason}"
        f"~{row.changed_us}",
        "FireStateChanged",
        row.key.tenant_id,
        row.key.trigger_id,
        json.dumps(body),
        row.changed_us,
    )


def _text(instant_us: int | None) -> str | None:
    return None if instant_us is None else to_text(instant_us)
