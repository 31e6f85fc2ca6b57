"""Moving a fire on after an attempt: shared by results that arrive and claims that expire.

All functions run inside the caller's transaction.
"""

import sqlite3
from typing import Any, Final

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_slots import free_slot
from adapters.sqlite_versions import VersionFacts
from ports import metrics
from ports.records import FinishResult, LaneMessage
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey, attempt_seed
from scheduling.retry import (
    AttemptResult,
    NextStep,
    RetryPolicy,
    after_attempt,
    retry_end_us,
    untried_wait_us,
)
from scheduling.vocabulary import FireState, HeldReason, Lane, TransportResult

# States without a run behind them: the slot is free again.
_FREES_SLOT: Final = frozenset(
    {FireState.REFUSED, FireState.UNDELIVERED, FireState.SUCCEEDED, FireState.FAILED}
)
_WAITS: Final = frozenset(
    {FireState.DISPATCHING, FireState.HELD, FireState.READY, FireState.QUEUED}
)


def finish_attempt(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    n: int,
    *,
    result: AttemptResult,
    now_us: int,
    claimed_until_us: int | None = None,
) -> FinishResult | None:
    """Record the result and move the fire on; None when there is no such attempt or fire.

    The attempt that the fire waits for decides its next step. A late one, whose claim expired,
    still ends the fire when the target answered for good. An untried one is taken back, as long
    as its claim lasts.
    """
    sql = context.sql
    found = connection.execute(sql["ledger_fire_for_finish"], key).fetchone()
    attempt = connection.execute(sql["slot_last_attempt_result"], (*key, n)).fetchone()
    if found is None or attempt is None:
        return None
    if result.transport_result is TransportResult.UNTRIED:
        if attempt[0] is None:
            return _take_back(
                connection,
                context,
                key,
                n,
                found=found,
                claimed_until_us=claimed_until_us,
                now_us=now_us,
            )
        result = result._replace(transport_result=TransportResult.NOT_SENT)
    recorded = connection.execute(
        sql["ledger_finish_attempt"],
        (
            now_us,
            result.transport_result.value,
            result.http_status,
            result.error and result.error[:200],
            *key,
            n,
        ),
    ).rowcount
    state, next_n, lane, version, due_us, first_us, retry_until_us = found
    state, lane = FireState(state), Lane(lane)
    if not recorded or state not in _WAITS:
        return FinishResult(key, state)
    facts = context.versions.facts(connection, (key.tenant_id, key.trigger_id, version))
    end_us = retry_end_us(result, retry_until_us, lane=lane, missed_policy=facts.missed_policy)
    step = after_attempt(
        result,
        n,
        policy=retry_policy(
            facts, lane, due_us=due_us, first_us=first_us or now_us, retry_until_us=end_us
        ),
        now_us=now_us,
        seed=attempt_seed(key, n),
    )
    is_current = state is FireState.DISPATCHING and next_n == n
    is_final = step.state in (FireState.ACCEPTED, FireState.SUCCEEDED, FireState.REFUSED)
    if not is_current and not is_final:
        return FinishResult(key, state)
    if end_us != retry_until_us:
        connection.execute(sql["ledger_move_retry_end"], (end_us, *key))
    return _move(connection, context, key, step, n=max(n, next_n), now_us=now_us)


def retry_policy(
    facts: VersionFacts, lane: Lane, *, due_us: int, first_us: int, retry_until_us: int | None
) -> RetryPolicy:
    """A fire's bounds: the window counts from its due time, on other lanes from its first try."""
    window_from_us = due_us if lane is Lane.ON_TIME else first_us
    return RetryPolicy(
        facts.attempt_budget,
        window_from_us + facts.retry_window_us,
        retry_until_us,
        facts.response_is_outcome,
    )


def _take_back(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    n: int,
    *,
    found: tuple[Any, ...],
    claimed_until_us: int | None,
    now_us: int,
) -> FinishResult:
    """Undo the claim of an attempt that was not made, and hold the fire for a little while."""
    sql, version, due_us = context.sql, found[3], found[4]
    taken = connection.execute(
        sql["ledger_take_attempt_back"], (*key, n, claimed_until_us)
    ).fetchone()
    if taken is None:
        return FinishResult(key, FireState(found[0]))
    facts = context.versions.facts(connection, (key.tenant_id, key.trigger_id, version))
    run_until_us = taken[0] + facts.run_timeout_us
    connection.execute(sql["slot_unstart_run"], (*key, run_until_us))
    not_before_us = now_us + untried_wait_us(now_us - due_us)
    connection.execute(sql["ledger_put_back"], (not_before_us, now_us, *key))
    if key.sequence == 0:
        connection.execute(sql["due_restore_pending"], key._asdict())
    return FinishResult(key, FireState.HELD)


def _move(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: FireKey,
    step: NextStep,
    *,
    n: int,
    now_us: int,
) -> FinishResult:
    held = step.state is FireState.HELD
    connection.execute(
        context.sql["ledger_move_fire"],
        (
            step.state.value,
            HeldReason.BACKOFF.value if held else None,
            step.not_before_us,
            n + 1 if held else n,
            now_us,
            *key,
        ),
    )
    if not held:
        metrics.count_when_committed("punctual_fires_ended_total", state=step.state.value)
    ready: tuple[LaneMessage, ...] = ()
    if step.state in _FREES_SLOT:
        ready = free_slot(connection, context.sql, key, now_us=now_us)
    return FinishResult(key, step.state, ready)


def seconds_to_us(duration_s: float) -> int:
    """A duration in microseconds."""
    return round(duration_s * SECOND_US)
