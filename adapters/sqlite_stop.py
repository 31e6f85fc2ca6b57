"""Stopping what waits: a paused or deleted trigger's fires and unplanned gaps.

All functions run inside the caller's transaction.
"""

import sqlite3

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import fire_values
from adapters.sqlite_rebuild import give_back
from adapters.sqlite_slots import end_retries, free_slot
from ports.errors import PortError
from ports.records import LaneMessage
from scheduling.decision import DecidedRow
from scheduling.keys import FireKey
from scheduling.rules import due_of
from scheduling.vocabulary import Cause, FireState, Lane


def stop_waiting(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    partition_id: int,
    cause: Cause,
    limit: int,
    now_us: int,
) -> int:
    """Stop up to `limit` waiting fires and all unplanned gaps; returns the fires stopped.

    Manual runs and backfills are acts of their own: only a deletion stops them too.
    """
    all_sequences = cause is Cause.DELETED
    waiting = connection.execute(
        context.sql["stop_waiting_fires"], (*key, partition_id, all_sequences, limit)
    ).fetchall()
    returned = 0
    for instant_us, sequence, next_n in waiting:
        returned += stop_fire(
            connection,
            context,
            FireKey(*key, instant_us, sequence),
            next_n=next_n,
            cause=cause,
            now_us=now_us,
        )
    returned += stop_gaps(
        connection, context, key, partition_id=partition_id, cause=cause, now_us=now_us
    )
    give_back(connection, context, key, count=returned)
    return len(waiting)


def stop_fire(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    *,
    next_n: int,
    cause: Cause,
    now_us: int,
    detail: str | None = None,
) -> int:
    """Stop one waiting fire; returns how many places under the cap it gives back.

    One that was never attempted is not dispatched, with the cause; one that waits for a retry
    ends as its last try left it, since it may have run. A slot that it leaves free is handed on
    by the partition's owner, which publishes what starts.
    """
    returned = 0
    if next_n > 1:
        ended = end_retries(
            connection, context.sql, key, next_n=next_n, now_us=now_us, detail=detail
        )
    else:
        ended = FireState.NOT_DISPATCHED
        end_undispatched(connection, context, key, cause=cause, now_us=now_us, detail=detail)
        returned = 1 if key.sequence == 0 else 0
    if ended is not FireState.UNKNOWN:
        connection.execute(context.sql["slot_free"], key)
    return returned


def end_undispatched(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    *,
    cause: Cause,
    now_us: int,
    detail: str | None = None,
    into_us: int | None = None,
) -> None:
    """A committed fire that will not go: the cause stands on its row."""
    connection.execute(
        context.sql["fire_end"],
        (FireState.NOT_DISPATCHED.value, cause.value, detail, into_us, now_us, *key),
    )
    if key.sequence == 0:
        connection.execute(
            context.sql["due_clear_pending"], (key.tenant_id, key.trigger_id, key.scheduled_us)
        )


def drop_claimed(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    *,
    cause: Cause,
    now_us: int,
    detail: str | None = None,
    into_us: int | None = None,
) -> None:
    """End one undispatched fire, free its slot and give its place under the cap back."""
    end_undispatched(
        connection, context, key, cause=cause, now_us=now_us, detail=detail, into_us=into_us
    )
    free_slot(connection, context.sql, key, now_us=now_us)
    if key.sequence == 0:
        give_back(connection, context, (key.tenant_id, key.trigger_id), count=1)


def stop_retries(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    *,
    next_n: int,
    now_us: int,
    detail: str | None = None,
) -> tuple[LaneMessage, ...]:
    """End a fire that waits for another try, and free its slot unless its last may have arrived."""
    ended = end_retries(connection, context.sql, key, next_n=next_n, now_us=now_us, detail=detail)
    if ended is FireState.UNKNOWN:
        return ()
    return free_slot(connection, context.sql, key, now_us=now_us)


def stop_gaps(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    partition_id: int,
    cause: Cause,
    now_us: int,
) -> int:
    """The unplanned remainder of each gap becomes one range row."""
    remaining = 0
    for gap in connection.execute(context.sql["stop_gaps"], key).fetchall():
        after_us, through_us, version, planned_us, instant_count, planned_count = gap
        count = instant_count - planned_count
        remaining += count
        first_us, due_us = _first_after(
            connection, context, (*key, version), after_us=planned_us, through_us=through_us
        )
        row = DecidedRow(
            first_us,
            due_us,
            version,
            FireState.NOT_DISPATCHED,
            Lane.CATCH_UP,
            cause=cause,
            through_us=through_us,
            instant_count=count,
        )
        connection.executemany(
            context.sql["commit_insert_fire"],
            fire_values(
                context,
                [row],
                key=key,
                partition_id=partition_id,
                payload_ref=None,
                now_us=now_us,
            ),
        )
        connection.execute(context.sql["gap_delete"], (*key, after_us))
    return remaining


def _first_after(
    connection: sqlite3.Connection,
    context: SqliteContext,
    version_key: tuple[str, str, int],
    *,
    after_us: int,
    through_us: int,
) -> tuple[int, int]:
    """The first instant of a remainder and its due time; its end where the rule is broken."""
    try:
        rules = context.versions.rules(connection, version_key)
        first_us = rules.recurrence.next_after_us(after_us)
        due_us = None if first_us is None else due_of(rules, first_us)
    except (sqlite3.Error, PortError, MemoryError):
        raise
    except Exception:
        return through_us, through_us
    if first_us is None or due_us is None or first_us > through_us:
        return through_us, through_us
    return first_us, due_us
