"""Rows put into a SQLite store by plain SQL, for suites about reading them."""

import sqlite3
from typing import Final

from ports.outbox import OutboxEvent
from ports.records import AttemptRecord, FireRecord, GapRecord
from scheduling.keys import FireKey, partition_of

_FIRE: Final = """
INSERT INTO fire (
  tenant_id, trigger_id, scheduled_instant, sequence, partition_id, version, origin, lane, state,
  non_dispatch_cause, cause_detail, held_reason, not_before, due_at, decided_at, committed_at,
  queued_at, first_dispatched_at, next_attempt_n, coalesced_into, through_instant,
  instant_count, tzdata_version, changed_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TENANT: Final = """
INSERT INTO tenant (
  tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s,
  created_at
) VALUES (?, 100, 100, 100, 10, 0, 0) ON CONFLICT DO NOTHING
"""
_TRIGGER: Final = """
INSERT INTO trigger (
  tenant_id, trigger_id, name, state, current_version, revision, partition_id,
  decided_floor_at, created_at
) VALUES (?, ?, ?, 'live', 1, 1, ?, 0, 0)
"""
_DUE_ROW: Final = """
INSERT INTO due_index_row (
  tenant_id, trigger_id, partition_id, version, revision, span_from_at, decided_through,
  next_due_at
) VALUES (?, ?, ?, 1, 1, 0, 0, ?)
"""
_ATTEMPT: Final = """
INSERT INTO attempt (
  tenant_id, trigger_id, scheduled_instant, sequence, n, dispatched_at, claimed_until,
  finished_at, transport_result, http_status, error
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_GAP: Final = """
INSERT INTO gap (
  tenant_id, trigger_id, version, after_instant, through_instant, detected_at, planned_through,
  instant_count, planned_count, partition_id, policy
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'fire_all')
"""
_EVENT: Final = """
INSERT INTO outbox (outbox_id, tenant_id, trigger_id, event, body, created_at)
VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_trigger(
    connection: sqlite3.Connection,
    tenant_id: str,
    *,
    trigger_id: str,
    name: str,
    next_due_us: int | None = None,
) -> None:
    """A live trigger with its tenant and its due row."""
    partition_id = partition_of(trigger_id)
    connection.execute(_TENANT, (tenant_id,))
    connection.execute(_TRIGGER, (tenant_id, trigger_id, name, partition_id))
    connection.execute(_DUE_ROW, (tenant_id, trigger_id, partition_id, next_due_us))


def insert_fire(connection: sqlite3.Connection, fire: FireRecord) -> None:
    """The row that a reader sees as this record; the trigger gives the name."""
    connection.execute(
        _FIRE,
        (
            *fire.key,
            partition_of(fire.key.trigger_id),
            fire.version,
            fire.origin,
            fire.lane,
            fire.state,
            fire.cause,
            fire.cause_detail,
            fire.held_reason,
            fire.not_before_us,
            fire.due_us,
            fire.decided_us,
            fire.committed_us,
            fire.queued_us,
            fire.first_dispatched_us,
            fire.next_attempt_n,
            fire.coalesced_into_us,
            fire.through_us,
            fire.instant_count,
            fire.tzdata_version,
            fire.changed_us,
        ),
    )


def insert_attempt(connection: sqlite3.Connection, key: FireKey, attempt: AttemptRecord) -> None:
    connection.execute(
        _ATTEMPT,
        (
            *key,
            attempt.n,
            attempt.dispatched_us,
            attempt.claimed_until_us,
            attempt.finished_us,
            attempt.transport_result,
            attempt.http_status,
            attempt.error,
        ),
    )


def insert_gap(connection: sqlite3.Connection, gap: GapRecord) -> None:
    connection.execute(
        _GAP,
        (
            gap.tenant_id,
            gap.trigger_id,
            gap.version,
            gap.after_us,
            gap.through_us,
            gap.detected_us,
            gap.planned_through_us,
            gap.instant_count,
            gap.planned_count,
            partition_of(gap.trigger_id),
        ),
    )


def insert_event(connection: sqlite3.Connection, event: OutboxEvent) -> None:
    connection.execute(_EVENT, tuple(event))
