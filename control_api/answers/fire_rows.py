"""Fires as readers see them: the ledger's rows in the words of the API, and what they led to."""

from collections.abc import Sequence
from typing import Final

from control_api.answers.zone_times import local_text
from ports.history import HistoryPort
from ports.records import AttemptRecord, FireRecord
from schemas.api.fires import AttemptOut, FireLink, FireOut
from schemas.printable import printable

CHAIN_LINKS_MAX: Final = 50  # longer than any chain of coalescing decisions


def told_cause(row: FireRecord) -> str | None:
    """What the work said of its failure, on one line, control characters as escapes."""
    return None if row.outcome_cause is None else printable(row.outcome_cause)


def lateness_us(row: FireRecord) -> int | None:
    """First dispatch less due time; None before the first dispatch."""
    return None if row.first_dispatched_us is None else row.first_dispatched_us - row.due_us


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


def newest_fire(history: HistoryPort, key: tuple[str, str]) -> FireRecord | None:
    """A trigger's newest row, whatever became of it."""
    tenant_id, trigger_id = key
    rows = history.fires(tenant_id=tenant_id, trigger_id=trigger_id, limit=1)
    return rows[0] if rows else None


def fire_out(row: FireRecord, zone: str, chain: Sequence[FireRecord]) -> FireOut:
    """A row in the words of the API; `chain` is that of its coalescing."""
    late_us = lateness_us(row)
    return FireOut(
        fire_key=str(row.key),
        tenant=row.key.tenant_id,
        trigger=row.trigger_name,
        trigger_id=row.key.trigger_id,
        version=row.version,
        scheduled_instant=row.key.scheduled_us,
        scheduled_local=local_text(zone, row.key.scheduled_us),
        zone=zone,
        sequence=row.key.sequence,
        origin=row.origin,
        lane=row.lane,
        state=row.state,
        cause=row.cause,
        cause_detail=row.cause_detail,
        outcome_cause=told_cause(row),
        coalesced_into=row.coalesced_into_us,
        became=_link(chain[-1]) if chain else None,
        held_reason=row.held_reason,
        not_before=row.not_before_us,
        due_at=row.due_us,
        decided_at=row.decided_us,
        first_dispatched_at=row.first_dispatched_us,
        lateness_ms=None if late_us is None else late_us / 1_000,
        attempts=row.attempts,
        through_instant=row.through_us,
        instant_count=row.instant_count,
        tzdata_version=row.tzdata_version,
        changed_at=row.changed_us,
    )


def attempt_out(attempt: AttemptRecord) -> AttemptOut:
    """One attempt in the words of the API."""
    return AttemptOut(
        n=attempt.n,
        dispatched_at=attempt.dispatched_us,
        claimed_until=attempt.claimed_until_us,
        finished_at=attempt.finished_us,
        transport_result=attempt.transport_result,
        http_status=attempt.http_status,
        error=attempt.error,
    )


def _link(row: FireRecord) -> FireLink:
    return FireLink(
        fire_key=str(row.key),
        scheduled_instant=row.key.scheduled_us,
        state=row.state,
        cause=row.cause,
    )
