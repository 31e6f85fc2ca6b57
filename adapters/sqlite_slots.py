"""The in-flight slot of a trigger under an overlap policy, and fires that wait for it.

All functions run inside the caller's transaction.
"""

import sqlite3
from collections.abc import Mapping

from ports.records import LaneMessage
from scheduling.keys import FireKey
from scheduling.resolve import SlotView
from scheduling.retry import exhausted_state
from scheduling.vocabulary import FireState, Lane, TransportResult

Sql = Mapping[str, str]


def read_slot(
    connection: sqlite3.Connection, sql: Sql, key: tuple[str, str], *, now_us: int, truncate: bool
) -> SlotView:
    """The slot as the next on-time instant finds it.

    With `truncate`, a run that is only waiting for a retry ends first: unknown and still
    holding the slot when its last try may have arrived, else undelivered and free.
    """
    buffered = connection.execute(sql["slot_buffered_count"], key).fetchone()[0]
    row = connection.execute(sql["slot_read"], key).fetchone()
    if row is None:
        return SlotView(False, buffered)
    instant_us, sequence, run_until_us, state, next_n, lane = row
    fire_key = FireKey(*key, instant_us, sequence)
    if run_until_us is not None and run_until_us <= now_us:
        connection.execute(sql["slot_free"], fire_key)
        return SlotView(False, buffered)
    waits_for_retry = state in (FireState.HELD, FireState.READY, FireState.QUEUED) and next_n > 1
    if truncate and waits_for_retry and lane == Lane.ON_TIME:
        ended = end_retries(connection, sql, fire_key, next_n=next_n, now_us=now_us)
        if ended is FireState.UNDELIVERED:
            connection.execute(sql["slot_free"], fire_key)
            return SlotView(False, buffered)
    return SlotView(True, buffered)


def take_slot(
    connection: sqlite3.Connection, sql: Sql, key: FireKey, *, partition_id: int, now_us: int
) -> bool:
    """Take the trigger's slot for a fire that becomes ready; False when it is taken."""
    cursor = connection.execute(
        sql["slot_take"],
        (key.tenant_id, key.trigger_id, partition_id, key.scheduled_us, key.sequence, now_us),
    )
    return cursor.rowcount == 1


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
    connection.execute(sql["fire_make_ready"], (next_due_us, now_us, *fire_key))
    return (LaneMessage(fire_key, Lane.ON_TIME, 1),)


def end_retries(
    connection: sqlite3.Connection, sql: Sql, key: FireKey, *, next_n: int, now_us: int
) -> FireState:
    """End a fire that waits for another try; what its last try may have done decides how."""
    row = connection.execute(sql["slot_last_attempt_result"], (*key, next_n - 1)).fetchone()
    ambiguous = row is None or row[0] in (None, TransportResult.AMBIGUOUS)
    state = exhausted_state(is_ambiguous=ambiguous)
    connection.execute(sql["fire_end"], (state.value, None, None, None, now_us, *key))
    return state
