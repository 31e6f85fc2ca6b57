"""The change transaction's work on one trigger: settle, version, span, due row, audit, outbox.

All functions run inside the caller's transaction.
"""

import sqlite3
from functools import partial

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import (
    DueRow,
    read_due_row,
    resolve_in_store,
    take_slots,
    view_of,
    write_decision,
)
from adapters.sqlite_rebuild import healed
from adapters.sqlite_spans import SpanChange, TriggerRow, begin_span, tell_change, write_span
from adapters.sqlite_stop import stop_waiting
from ports.changes import ChangeResult
from ports.errors import PortError
from scheduling.decide import settle
from scheduling.decision import Decision
from scheduling.draft import TriggerView
from scheduling.keys import partition_of
from scheduling.limits import SWEEP_ROWS_MAX
from scheduling.rules import Span
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    SpanKind,
    TriggerState,
)

_STOPPED_BY = {SpanKind.PAUSED: Cause.PAUSED, SpanKind.DELETED: Cause.DELETED}


def change_span(
    connection: sqlite3.Connection,
    context: SqliteContext,
    trigger: TriggerRow,
    *,
    tenant_id: str,
    name: str,
    change: SpanChange,
    now_us: int,
    actor: str,
) -> ChangeResult:
    """Settle the trigger up to now, then let the new span begin."""
    key = (tenant_id, trigger.trigger_id)
    stop = partial(_stop, connection, context, key, trigger.partition_id)
    if trigger.state is TriggerState.PAUSED and change.kind is SpanKind.LIVE:
        # What a pause stops goes in batches: a resume must not let the rest of it go.
        while stop(cause=Cause.PAUSED, now_us=now_us) == SWEEP_ROWS_MAX:
            pass
    row = healed(connection, context, read_due_row(connection, context, key))
    from_us = max(now_us, row.decided_through_us, row.span_from_us)
    revision = trigger.revision + 1
    span = Span(from_us, change.kind, change.version, change.resume_rule)
    view, decision, revision = _settled(
        connection, context, row, span=span, revision=revision, now_us=now_us, actor=actor
    )
    partition_id = trigger.partition_id
    _write_settled(
        connection, context, decision, view=view, key=key, partition_id=partition_id, now_us=now_us
    )
    write_span(
        connection,
        context,
        key,
        change=change,
        revision=revision,
        from_us=from_us,
        next_due_us=decision.next_due_us,
        actor=actor,
    )
    cause = _STOPPED_BY.get(change.kind)
    stopped = 0
    if cause is not None:
        stopped = stop(cause=cause, now_us=now_us)
    next_due_us = begin_span(connection, context, key, change=change)
    tell_change(
        connection,
        context,
        trigger,
        key=key,
        name=name,
        change=change,
        revision=revision,
        from_us=from_us,
        now_us=now_us,
        actor=actor,
    )
    return ChangeResult(
        kind=change.change,
        subject=name,
        tenant_id=tenant_id,
        trigger_id=trigger.trigger_id,
        version=change.version,
        revision=revision,
        from_us=from_us,
        next_due_us=next_due_us,
        settled_rows=len(decision.rows) + len(decision.gaps),
        stopped_fires=stopped,
    )


def _write_settled(
    connection: sqlite3.Connection,
    context: SqliteContext,
    decision: Decision,
    *,
    view: TriggerView,
    key: tuple[str, str],
    partition_id: int,
    now_us: int,
) -> None:
    """What was settled: its ready fire is left to the owner, but has its slot already."""
    write_decision(
        connection,
        context,
        _left_to_the_owner(decision),
        view=view,
        key=key,
        partition_id=partition_id,
        now_us=now_us,
    )
    take_slots(
        connection, context, decision, view=view, key=key, partition_id=partition_id, now_us=now_us
    )


def _stop(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    partition_id: int,
    *,
    cause: Cause,
    now_us: int,
) -> int:
    """The first batch of what waits; the sweep takes the others."""
    return stop_waiting(
        connection,
        context,
        key,
        partition_id=partition_id,
        cause=cause,
        limit=SWEEP_ROWS_MAX,
        now_us=now_us,
    )


def _settled(
    connection: sqlite3.Connection,
    context: SqliteContext,
    row: DueRow,
    *,
    span: Span,
    revision: int,
    now_us: int,
    actor: str,
) -> tuple[TriggerView, Decision, int]:
    """The decision about everything before the span; a rule that raises is quarantined first."""
    stopped_by = _STOPPED_BY.get(span.kind)
    try:
        view = view_of(connection, context, row, appended=(span,))
        decision = settle(view, span.from_us, stopped_by=stopped_by)
    except (sqlite3.Error, PortError, MemoryError):
        raise
    except Exception as error:
        _quarantine(
            connection, context, row, span=span, revision=revision, error=error, actor=actor
        )
        view = view_of(connection, context, row, appended=(span,))
        decision = settle(view, span.from_us, stopped_by=stopped_by)
        revision += 1
    decision = _never_early(decision, now_us)
    if connection.execute(
        context.sql["change_kept_come"], (partition_of(row.trigger_id), now_us, *row.key)
    ).fetchone():
        # An earlier change left an older fire: they meet the slot in their order, at the owner's.
        return view, _left_to_the_owner(decision), revision
    # A buffered fire that starts here is published by the sweep.
    decision, _ = resolve_in_store(
        connection, context, decision, view=view, key=row.key, now_us=now_us
    )
    return view, decision, revision


def _quarantine(
    connection: sqlite3.Connection,
    context: SqliteContext,
    row: DueRow,
    *,
    span: Span,
    revision: int,
    error: Exception,
    actor: str,
) -> None:
    """The span whose rule cannot be evaluated; what was paused stays paused until its end."""
    newest = connection.execute(context.sql["commit_spans_newest_first"], row.key).fetchone()
    from_us = max(row.decided_through_us, row.span_from_us)
    if newest[1] == SpanKind.PAUSED:
        from_us = span.from_us
    connection.execute(
        context.sql["commit_insert_span"],
        (
            *row.key,
            revision,
            from_us,
            SpanKind.QUARANTINED.value,
            row.version,
            None,
            f"{type(error).__name__}: {error}"[:500],
            actor,
        ),
    )


def _never_early(decision: Decision, now_us: int) -> Decision:
    """After a step back `from_at` lies ahead of the clock: what it settles waits till due.

    Gaps are then planned with that clock as their `now`, to the same end.
    """
    return decision._replace(
        rows=tuple(
            fire._replace(
                state=FireState.HELD, held_reason=HeldReason.DUE_LATER, not_before_us=fire.due_us
            )
            if fire.state in (FireState.READY, FireState.HELD) and fire.due_us > now_us
            else fire
            for fire in decision.rows
        ),
        gaps=tuple(gap._replace(detected_us=min(gap.detected_us, now_us)) for gap in decision.gaps),
    )


def _left_to_the_owner(decision: Decision) -> Decision:
    """What a change finds due waits for the partition's owner, which publishes in order.

    The owner's next commit or sweep lets it go before any newer instant; a row that were ready
    now could be overtaken, since nobody knows yet that it has to be published. Its slot is kept.
    """
    return decision._replace(
        rows=tuple(
            fire._replace(
                state=FireState.HELD,
                held_reason=HeldReason.DUE_LATER,
                not_before_us=fire.due_us,
                retry_until_us=None,
            )
            if fire.state is FireState.READY
            else fire
            for fire in decision.rows
        )
    )
