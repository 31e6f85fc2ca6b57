"""The in-flight slot of a trigger under an overlap policy, and fires that wait for it.

All functions run inside the caller's transaction.
"""

import sqlite3
from collections.abc import Mapping

from ports import metrics
from ports.records import LaneMessage
from scheduling.keys import FireKey
from scheduling.resolve import SlotView
from scheduling.retry import exhausted_state
from scheduling.vocabulary import WAITING, FireState, Lane, TransportResult

Sql = Mapping[str, str]


def read_slot(
    connection: sqlite3.Connection, sql: Sql, key: tuple[str, str], *, now_us: int
) -> SlotView:
    """The slot as it is now; a run past its timeout gives it up."""
    buffered = connection.execute(sql["slot_buffered_count"], key).fetchone()[0]
    row = connection.execute(sql["slot_read"], key).fetchone()
    if row is None:
        return SlotView(False, buffered)
    instant_us, sequence, run_until_us = row[:3]
    if run_until_us is not None and run_until_us <= now_us:
        connection.execute(sql["slot_free"], FireKey(*key, instant_us, sequence))
        return SlotView(False, buffered)
    return SlotView(True, buffered)


def slot_for_instant(
    connection: sqlite3.Connection, sql: Sql, key: tuple[str, str], *, now_us: int
) -> tuple[SlotView, tuple[LaneMessage, ...]]:
    """The slot as a new on-time instant finds it, and a buffered fire that it went to.

    A run of the schedule that is only waiting for a retry ends first: unknown and still holding
    the slot when its last try may have arrived, else undelivered and free. A free slot goes to
    the oldest buffered fire before any newer instant.
    """
    _end_waiting_run(connection, sql, key, now_us=now_us)
    slot = read_slot(connection, sql, key, now_us=now_us)
    if slot.taken or not slot.buffered:
        return slot, ()
    started = next_buffered(connection, sql, key, now_us=now_us)
    return SlotView(bool(started), slot.buffered - len(started)), started


def take_slot(
    connection: sqlite3.Connection, sql: Sql, key: FireKey, *, partition_id: int, now_us: int
) -> bool:
    """Take the trigger's slot for a fire that becomes ready; False when it is taken."""
    cursor = connection.execute(
        sql["slot_take"],
        (key.tenant_id, key.trigger_id, partition_id, key.scheduled_us, key.sequence, now_us),
    )
    return cursor.rowcount == 1


def holds_slot(connection: sqlite3.Connection, sql: Sql, key: FireKey) -> bool:
    """Whether this fire has its trigger's slot."""
    row = connection.execute(sql["slot_read"], (key.tenant_id, key.trigger_id)).fetchone()
    return row is not None and row[:2] == (key.scheduled_us, key.sequence)


def free_slot(
    connection: sqlite3.Connection, sql: Sql, key: FireKey, *, now_us: int
) -> tuple[LaneMessage, ...]:
    """Free the slot if this fire holds it, and hand it to the oldest buffered fire."""
    if connection.execute(sql["slot_free"], key).rowcount == 0:
        return ()
    return next_buffered(connection, sql, (key.tenant_id, key.trigger_id), now_us=now_us)


def next_buffered(
    connection: sqlite3.Connection, sql: Sql, key: tuple[str, str], *, now_us: int
) -> tuple[LaneMessage, ...]:
    """Make the oldest buffered fire ready and give it the free slot."""
    row = connection.execute(sql["slot_oldest_buffered"], key).fetchone()
    if row is None:
        return ()
    instant_us, sequence, partition_id, next_due_us = row
    fire_key = FireKey(*key, instant_us, sequence)
    if not take_slot(connection, sql, fire_key, partition_id=partition_id, now_us=now_us):
        return ()
    connection.execute(sql["slot_start_buffered"], (next_due_us, now_us, now_us, *fire_key))
    return (LaneMessage(fire_key, Lane.ON_TIME, 1),)


def _end_waiting_run(
    connection: sqlite3.Connection, sql: Sql, key: tuple[str, str], *, now_us: int
) -> None:
    """End what only waits for a retry in the slot."""
    row = connection.execute(sql["slot_read"], key).fetchone()
    if row is None:
        return
    instant_us, sequence, _, state, next_n, lane = row
    waits_for_retry = state in WAITING and next_n > 1
    if not waits_for_retry or lane != Lane.ON_TIME or sequence != 0:
        return
    fire_key = FireKey(*key, instant_us, sequence)
    ended = end_retries(connection, sql, fire_key, next_n=next_n, now_us=now_us)
    if ended is FireState.UNDELIVERED:
        connection.execute(sql["slot_free"], fire_key)


def end_retries(
    connection: sqlite3.Connection,
    sql: Sql,
    key: FireKey,
    *,
    next_n: int,
    now_us: int,
    detail: str | None = None,
) -> FireState:
    """End a fire that waits for another try; what its last try may have done decides how.

    `detail` says why there is none, where that is not the fire's own doing.
    A slot that it took again for a try that was never made has no end of its own: it is freed.
    """
    row = connection.execute(sql["slot_last_attempt_result"], (*key, next_n - 1)).fetchone()
    ambiguous = row is None or row[0] in (None, TransportResult.AMBIGUOUS)
    state = exhausted_state(is_ambiguous=ambiguous)
    connection.execute(sql["fire_end"], (state.value, None, detail, None, now_us, *key))
    connection.execute(sql["slot_free_unstarted"], key)
    metrics.count_when_committed("punctual_fires_ended_total", state=state.value)
    return state
