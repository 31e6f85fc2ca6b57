"""Fires as readers see them: what became of one in a few words, and its JSON."""

from typing import Any, Final

from control_api.answers.zone_times import instant_json, local_text, span_text
from ports.history import HistoryPort
from ports.records import AttemptRecord, FireRecord
from scheduling.vocabulary import FireState

CHAIN_LINKS_MAX: Final = 50  # longer than any chain of coalescing decisions
_STYLES: Final = {
    FireState.ACCEPTED: "green",
    FireState.SUCCEEDED: "green",
    FireState.FAILED: "red",
    FireState.REFUSED: "red",
    FireState.UNKNOWN: "red",
    FireState.UNDELIVERED: "red",
    FireState.HELD: "yellow",
}


def state_style(state: FireState) -> str:
    """The colour of a state on a terminal."""
    return _STYLES.get(state, "")


def attempt_count(row: FireRecord) -> int:
    """How many attempts were claimed: a row that waits names the one after them."""
    if row.first_dispatched_us is None:
        return 0
    waits = row.state in (FireState.HELD, FireState.READY, FireState.QUEUED)
    return row.next_attempt_n - 1 if waits else row.next_attempt_n


def lateness_us(row: FireRecord) -> int | None:
    """First dispatch less due time; None before the first dispatch."""
    return None if row.first_dispatched_us is None else row.first_dispatched_us - row.due_us


def lateness_text(row: FireRecord) -> str:
    late_us = lateness_us(row)
    return "" if late_us is None else span_text(late_us)


def chain_of(history: HistoryPort, row: FireRecord) -> list[FireRecord]:
    """The fires that a row was coalesced into, one after the other; the last one is what ran."""
    chain: list[FireRecord] = []
    seen = {row.key}
    while row.coalesced_into_us is not None and len(chain) < CHAIN_LINKS_MAX:
        found = history.covering(
            row.key.tenant_id, row.key.trigger_id, instant_us=row.coalesced_into_us
        )
        if found is None or found.key in seen:
            break
        seen.add(found.key)
        chain.append(found)
        row = found
    return chain


def cause_text(row: FireRecord, chain: list[FireRecord], zone: str) -> str:
    """`overlap`, `held: lane_rate until ...`, `coalesced into ... (accepted)`, or nothing."""
    if row.state is FireState.HELD and row.held_reason is not None:
        until = row.not_before_us
        return row.held_reason + ("" if until is None else f" until {local_text(zone, until)}")
    if row.cause is None:
        return ""
    if row.coalesced_into_us is not None:
        last_us = chain[-1].key.scheduled_us if chain else row.coalesced_into_us
        became = f" ({_fate(chain[-1])})" if chain else ""
        return f"coalesced into {local_text(zone, last_us)}{became}"
    return row.cause + (f": {row.cause_detail}" if row.cause_detail else "")


def range_text(row: FireRecord, zone: str) -> str:
    """`59 instants ... through ...`, or nothing for a row of one instant."""
    if row.through_us is None or row.instant_count == 1:
        return ""
    count = f"{row.instant_count:,} instants"
    if row.instant_count == 0:
        count = "a span without instants"
    return f"{count} through {local_text(zone, row.through_us)}"


def fire_json(row: FireRecord, zone: str, chain: list[FireRecord] | None = None) -> dict[str, Any]:
    """A row in the words of the API; durations in milliseconds."""
    late_us = lateness_us(row)
    became = chain[-1] if chain else None
    return {
        "fire_key": str(row.key),
        "tenant": row.key.tenant_id,
        "trigger": row.trigger_name,
        "trigger_id": row.key.trigger_id,
        "version": row.version,
        "scheduled_instant": instant_json(row.key.scheduled_us),
        "scheduled_local": local_text(zone, row.key.scheduled_us),
        "zone": zone,
        "sequence": row.key.sequence,
        "origin": row.origin.value,
        "lane": row.lane.value,
        "state": row.state.value,
        "cause": row.cause and row.cause.value,
        "cause_detail": row.cause_detail,
        "coalesced_into": instant_json(row.coalesced_into_us),
        "became": became and {"fire_key": str(became.key), "state": became.state.value},
        "held_reason": row.held_reason and row.held_reason.value,
        "not_before": instant_json(row.not_before_us),
        "due_at": instant_json(row.due_us),
        "decided_at": instant_json(row.decided_us),
        "first_dispatched_at": instant_json(row.first_dispatched_us),
        "lateness_ms": None if late_us is None else late_us / 1_000,
        "attempts": attempt_count(row),
        "through_instant": instant_json(row.through_us),
        "instant_count": row.instant_count,
        "tzdata_version": row.tzdata_version,
        "changed_at": instant_json(row.changed_us),
    }


def attempt_json(attempt: AttemptRecord) -> dict[str, Any]:
    """One attempt in the words of the API."""
    return {
        "n": attempt.n,
        "dispatched_at": instant_json(attempt.dispatched_us),
        "claimed_until": instant_json(attempt.claimed_until_us),
        "finished_at": instant_json(attempt.finished_us),
        "transport_result": attempt.transport_result,
        "http_status": attempt.http_status,
        "error": attempt.error,
    }


def newest_fire(history: HistoryPort, key: tuple[str, str]) -> FireRecord | None:
    """A trigger's newest row, whatever became of it."""
    tenant_id, trigger_id = key
    rows = history.fires(tenant_id=tenant_id, trigger_id=trigger_id, limit=1)
    return rows[0] if rows else None


def _fate(row: FireRecord) -> str:
    return row.cause.value if row.cause is not None else row.state.value
