"""The sweep's repairs, one function a kind. All run inside the caller's transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from adapters.sqlite_attempts import finish_attempt
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_slots import (
    free_slot,
    holds_slot,
    next_buffered,
    slot_for_instant,
    take_slot,
)
from adapters.sqlite_stop import drop_claimed, stop_retries, stop_waiting
from ports.records import LaneMessage
from scheduling.decision import DecidedRow
from scheduling.keys import FireKey
from scheduling.limits import SWEEP_AGE_US, SWEEP_ROWS_MAX
from scheduling.overlap import resolve_overlap
from scheduling.retry import CLAIM_EXPIRED
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    Lane,
    OverlapPolicy,
)


def unclaimed(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> list[LaneMessage]:
    """Rows published long ago, or never, that nobody claimed: publish again."""
    rows = connection.execute(
        context.sql["repair_unclaimed"], (owner_id, now_us - SWEEP_AGE_US, SWEEP_ROWS_MAX)
    ).fetchall()
    return [LaneMessage(FireKey(*row[:4]), Lane(row[4]), row[5]) for row in rows]


def expired_claims(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> list[LaneMessage]:
    """A claim whose time is over is an ambiguous try that counts."""
    ready: list[LaneMessage] = []
    rows = connection.execute(
        context.sql["repair_expired_claims"], (now_us, owner_id, SWEEP_ROWS_MAX)
    ).fetchall()
    for *key, n in rows:
        result = finish_attempt(
            connection, context, FireKey(*key), n, result=CLAIM_EXPIRED, now_us=now_us
        )
        if result is not None:
            ready += result.ready
    return ready


def held_come(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> list[LaneMessage]:
    """Held rows whose `not_before` has come: ready on the on-time lane, else back to the rate."""
    rows = connection.execute(
        context.sql["repair_held_come"], (now_us, owner_id, SWEEP_ROWS_MAX)
    ).fetchall()
    return _let_go(connection, context, rows, now_us=now_us)


def kept_come(
    connection: sqlite3.Connection,
    context: SqliteContext,
    partition_id: int,
    *,
    now_us: int,
    limit: int,
) -> tuple[int, list[LaneMessage]]:
    """Smeared fires that an edit kept, and whose time has come: they go before newer instants.

    How many of them were moved on, and what is to be published.
    """
    rows = connection.execute(
        context.sql["repair_kept_come"], (partition_id, now_us, limit)
    ).fetchall()
    return len(rows), _let_go(connection, context, rows, now_us=now_us)


def _let_go(
    connection: sqlite3.Connection,
    context: SqliteContext,
    rows: Sequence[tuple[Any, ...]],
    *,
    now_us: int,
) -> list[LaneMessage]:
    ready: list[LaneMessage] = []
    for row in rows:
        key = FireKey(*row[:4])
        lane, n, reason, retry_until_us, partition_id, version, next_due_us = row[4:]
        if reason in (HeldReason.BACKOFF, HeldReason.NO_RESOURCES) and lane == Lane.ON_TIME:
            if n > 1 and retry_until_us is not None and now_us >= retry_until_us:
                ready += stop_retries(connection, context, key, next_n=n, now_us=now_us)
                continue
            next_due_us = retry_until_us
        elif lane != Lane.ON_TIME:
            connection.execute(context.sql["repair_hold_for_lane"], (now_us, *key))
            continue
        elif key.sequence != 0:
            next_due_us = None  # a manual run met the slot when it was accepted
        else:
            may_start, started = _may_start(
                connection, context, key, version=version, partition_id=partition_id, now_us=now_us
            )
            ready += started
            if not may_start:
                continue
        connection.execute(context.sql["fire_make_ready"], (next_due_us, now_us, *key))
        ready.append(LaneMessage(key, Lane.ON_TIME, n))
    return ready


def ended_runs(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> list[LaneMessage]:
    """A run that said nothing until its timeout does not hold its slot for ever."""
    ready: list[LaneMessage] = []
    rows = connection.execute(
        context.sql["repair_ended_runs"], (now_us, owner_id, SWEEP_ROWS_MAX)
    ).fetchall()
    for row in rows:
        ready += free_slot(connection, context.sql, FireKey(*row), now_us=now_us)
    return ready


def buffered_without_slot(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> list[LaneMessage]:
    """Buffered fires whose slot is free, whatever freed it."""
    ready: list[LaneMessage] = []
    rows = connection.execute(
        context.sql["repair_buffered_without_slot"], (owner_id, SWEEP_ROWS_MAX)
    ).fetchall()
    for tenant_id, trigger_id in rows:
        ready += next_buffered(connection, context.sql, (tenant_id, trigger_id), now_us=now_us)
    return ready


def stopped_waiting(
    connection: sqlite3.Connection, context: SqliteContext, owner_id: str, *, now_us: int
) -> int:
    """What still waits of paused and deleted triggers, in batches."""
    left = SWEEP_ROWS_MAX
    rows = connection.execute(
        context.sql["repair_stopped_waiting"], (owner_id, SWEEP_ROWS_MAX)
    ).fetchall()
    for tenant_id, trigger_id, partition_id, state in rows:
        if left <= 0:
            break
        left -= stop_waiting(
            connection,
            context,
            (tenant_id, trigger_id),
            partition_id=partition_id,
            cause=Cause(state),
            limit=left,
            now_us=now_us,
        )
    return SWEEP_ROWS_MAX - left


def _may_start(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    *,
    version: int,
    partition_id: int,
    now_us: int,
) -> tuple[bool, tuple[LaneMessage, ...]]:
    """A smeared fire that an edit kept meets the overlap policy when its time comes.

    Beside the verdict, a buffered fire that got the slot before it.
    """
    trigger_key = (key.tenant_id, key.trigger_id)
    facts = context.versions.facts(connection, (*trigger_key, version))
    if facts.overlap_policy is OverlapPolicy.ALLOW or holds_slot(connection, context.sql, key):
        return True, ()
    slot, started = slot_for_instant(connection, context.sql, trigger_key, now_us=now_us)
    candidate = DecidedRow(key.scheduled_us, now_us, version, FireState.READY)
    (resolved,) = resolve_overlap(
        facts.overlap_policy, (candidate,), slot_taken=slot.taken, buffered=slot.buffered
    )
    if resolved.state is FireState.READY:
        take_slot(connection, context.sql, key, partition_id=partition_id, now_us=now_us)
        return True, started
    if resolved.state is FireState.HELD:
        connection.execute(context.sql["repair_hold_for_overlap"], (now_us, *key))
    else:
        drop_claimed(connection, context, key, cause=Cause.OVERLAP, now_us=now_us)
    return False, started
