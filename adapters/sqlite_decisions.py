"""Reading one trigger as a decision needs it, and writing what was decided.

All functions run inside the caller's transaction.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_slots import slot_for_instant, take_slot
from ports import metrics
from ports.errors import StoreConflict
from ports.records import LaneMessage
from scheduling.decision import DecidedRow, Decision
from scheduling.draft import TriggerView
from scheduling.errors import RuleError
from scheduling.keys import FireKey
from scheduling.resolve import SlotView, resolve
from scheduling.rules import Rules, Span
from scheduling.vocabulary import WAITING, FireState, OverlapPolicy, ResumeRule, SpanKind

_NO_SLOT = SlotView()
_LANE_AND_STATE = itemgetter(5, 6)  # of a row of `fire_values`
# A pause stays undecided under its edits, and under a quarantine that its end brought to light.
_UNSETTLED_UNDER = frozenset({SpanKind.PAUSED, SpanKind.QUARANTINED})


class DueRow(NamedTuple):
    """The locked row that a decision rests on."""

    tenant_id: str
    trigger_id: str
    version: int
    span_from_us: int
    decided_through_us: int
    pending_catch_up_us: int | None
    fired_count: int

    @property
    def key(self) -> tuple[str, str]:
        return (self.tenant_id, self.trigger_id)


def read_due_row(
    connection: sqlite3.Connection, context: SqliteContext, key: tuple[str, str]
) -> DueRow:
    """The due row of a trigger that is known to have one: every undeleted trigger does."""
    return DueRow(*connection.execute(context.sql["commit_due_row"], key).fetchone())


def view_of(
    connection: sqlite3.Connection,
    context: SqliteContext,
    row: DueRow,
    *,
    is_due: bool = False,
    appended: Sequence[Span] = (),
) -> TriggerView:
    """The trigger's unsettled spans, their compiled rules, cursor and counts.

    Every change settles what came before it, so only the newest span, or the newest run of
    paused ones, can hold undecided instants. `is_due` says that the row has a due time, so that
    its newest span is a live one and need not be read. `appended` are spans that the caller is
    about to write. RuleError when a live rule does not compile.
    """
    if is_due:
        spans = [Span(row.span_from_us, SpanKind.LIVE, row.version)]
    else:
        spans = [*_unsettled_spans(connection, context, row), *appended]
    versions = {span.version: _rules(connection, context, row, span) for span in spans}
    pending_us = row.pending_catch_up_us
    if pending_us is not None and not _is_unattempted(connection, context, row.key, pending_us):
        pending_us = None
    return TriggerView(spans, versions, row.decided_through_us, row.fired_count, pending_us)


def resolve_in_store(
    connection: sqlite3.Connection,
    context: SqliteContext,
    decision: Decision,
    *,
    view: TriggerView,
    key: tuple[str, str],
    now_us: int,
) -> tuple[Decision, tuple[LaneMessage, ...]]:
    """Overlap and absorption, with the slot as this transaction sees it.

    Beside it, a buffered fire that got the slot before the decision's own instants.
    """
    policy = _policy_of(decision, view)
    slot = _NO_SLOT
    started: tuple[LaneMessage, ...] = ()
    if policy is not OverlapPolicy.ALLOW:
        slot, started = slot_for_instant(connection, context.sql, key, now_us=now_us)
    return resolve(decision, view, policy=policy, slot=slot), started


def fire_values(
    context: SqliteContext,
    rows: Iterable[DecidedRow],
    *,
    key: tuple[str, str],
    partition_id: int,
    payload_ref: str | None,
    now_us: int,
) -> list[tuple[object, ...]]:
    """The insert parameters of decided rows."""
    tenant_id, trigger_id = key
    tzdata_version = context.tzdata_version
    return [
        (
            tenant_id,
            trigger_id,
            row.scheduled_us,
            partition_id,
            row.version,
            row.lane._value_,
            row.state._value_,
            None if row.cause is None else row.cause._value_,
            row.cause_detail,
            None if row.held_reason is None else row.held_reason._value_,
            row.not_before_us,
            row.due_us,
            now_us,
            now_us,
            row.grace_until_us,
            row.retry_until_us,
            row.coalesced_into_us,
            row.through_us,
            row.instant_count,
            payload_ref,
            tzdata_version,
            now_us,
        )
        for row in rows
    ]


def gap_values(
    decision: Decision, *, key: tuple[str, str], partition_id: int
) -> list[tuple[object, ...]]:
    """The insert parameters of a decision's gaps."""
    return [
        (
            *key,
            gap.after_us,
            gap.through_us,
            partition_id,
            gap.version,
            gap.policy.value,
            gap.detected_us,
            gap.after_us,
            gap.instant_count,
        )
        for gap in decision.gaps
    ]


def insert_all(
    connection: sqlite3.Connection,
    sql: Mapping[str, str],
    fires: Sequence[tuple[object, ...]],
    gaps: Sequence[tuple[object, ...]],
) -> bool:
    """Insert fires and gaps; False when the store held one of them already."""
    count_decided(fires)
    for statement, values in (("commit_insert_fire", fires), ("commit_insert_gap", gaps)):
        if values and connection.executemany(sql[statement], values).rowcount != len(values):
            return False
    return True


def count_decided(fires: Sequence[tuple[object, ...]]) -> None:
    """Count rows of `fire_values`, should they be committed."""
    for (lane, state), amount in Counter(map(_LANE_AND_STATE, fires)).items():
        metrics.count_when_committed("punctual_fires_decided_total", amount, lane=lane, state=state)


def write_side_effects(
    connection: sqlite3.Connection,
    context: SqliteContext,
    decision: Decision,
    *,
    view: TriggerView,
    key: tuple[str, str],
    partition_id: int,
    now_us: int,
) -> None:
    """The rarer parts of a decision: absorption, the slot, the end of a schedule."""
    sql = context.sql
    if decision.absorbed_us is not None:
        connection.execute(
            sql["commit_absorb_fire"],
            (decision.absorbed_into_us, now_us, *key, decision.absorbed_us),
        )
        # It may have been released, and with it have taken the slot.
        connection.execute(sql["slot_free"], (*key, decision.absorbed_us, 0))
    take_slots(
        connection, context, decision, view=view, key=key, partition_id=partition_id, now_us=now_us
    )
    if decision.finished:
        connection.execute(sql["commit_finish_trigger"], key)


def take_slots(
    connection: sqlite3.Connection,
    context: SqliteContext,
    decision: Decision,
    *,
    view: TriggerView,
    key: tuple[str, str],
    partition_id: int,
    now_us: int,
) -> None:
    """Give the slot to the decision's ready fire, where its version forbids overlap."""
    if _policy_of(decision, view) is OverlapPolicy.ALLOW:
        return
    for row in decision.rows:
        if row.state is FireState.READY:
            fire_key = FireKey(*key, row.scheduled_us)
            take_slot(connection, context.sql, fire_key, partition_id=partition_id, now_us=now_us)


def write_decision(
    connection: sqlite3.Connection,
    context: SqliteContext,
    decision: Decision,
    *,
    view: TriggerView,
    key: tuple[str, str],
    partition_id: int,
    now_us: int,
) -> list[LaneMessage]:
    """One trigger's decision, written on its own; what is ready comes back, to be published.

    StoreConflict when the ledger held one of the rows already.
    """
    sql = context.sql
    fires = [
        value
        for version in sorted({row.version for row in decision.rows})
        for value in fire_values(
            context,
            (row for row in decision.rows if row.version == version),
            key=key,
            partition_id=partition_id,
            payload_ref=context.versions.facts(connection, (*key, version)).payload_ref,
            now_us=now_us,
        )
    ]
    gaps = gap_values(decision, key=key, partition_id=partition_id)
    if not insert_all(connection, sql, fires, gaps):
        raise StoreConflict(f"{key[0]}/{key[1]}: the ledger holds a row that was just decided")
    write_side_effects(
        connection,
        context,
        decision,
        view=view,
        key=key,
        partition_id=partition_id,
        now_us=now_us,
    )
    connection.execute(
        sql["commit_move_due_row"],
        (
            decision.cursor_us,
            decision.next_due_us,
            decision.pending_us,
            decision.fired_delta,
            *key,
        ),
    )
    return ready_messages(decision, key)


def ready_messages(decision: Decision, key: tuple[str, str]) -> list[LaneMessage]:
    """The messages of a decision's ready fires, oldest first."""
    return [
        LaneMessage(FireKey(*key, row.scheduled_us), row.lane, 1)
        for row in decision.rows
        if row.state is FireState.READY
    ]


def _policy_of(decision: Decision, view: TriggerView) -> OverlapPolicy:
    """The policy of the version whose instants became ready, as every later step reads it.

    Ready rows of one decision have one version: an edit settles the old one's, and begins after.
    """
    for row in decision.rows:
        if row.state is FireState.READY:
            return view.versions[row.version].overlap_policy
    return OverlapPolicy.ALLOW


class _Broken:
    """Stands for a rule that does not compile any more, where nothing live rests on it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def next_after_us(self, instant_us: int, /) -> int | None:
        raise self._error

    def previous_before_us(self, instant_us: int, /) -> int | None:
        raise self._error

    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]:
        raise self._error

    def count_between_us(self, after_us: int, through_us: int, /) -> int:
        raise self._error


def _rules(
    connection: sqlite3.Connection, context: SqliteContext, row: DueRow, span: Span
) -> Rules:
    try:
        return context.versions.rules(connection, (*row.key, span.version))
    except RuleError as error:
        if span.kind is SpanKind.LIVE:
            raise
        facts = context.versions.facts(connection, (*row.key, span.version))
        return Rules(
            tenant_id=row.tenant_id,
            trigger_id=row.trigger_id,
            version=span.version,
            recurrence=_Broken(error),
            missed_policy=facts.missed_policy,
            overlap_policy=facts.overlap_policy,
            horizon_us=facts.horizon_us,
            horizon_source=facts.horizon_source,
        )


def _unsettled_spans(
    connection: sqlite3.Connection, context: SqliteContext, row: DueRow
) -> list[Span]:
    spans: list[Span] = []
    for from_us, kind, version, resume_rule in connection.execute(
        context.sql["commit_spans_newest_first"], row.key
    ):
        if spans and not (kind == SpanKind.PAUSED and spans[-1].kind in _UNSETTLED_UNDER):
            break
        rule = None if resume_rule is None else ResumeRule(resume_rule)
        spans.append(Span(from_us, SpanKind(kind), version, rule))
    spans.reverse()
    return spans


def _is_unattempted(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    instant_us: int,
) -> bool:
    found = connection.execute(context.sql["commit_pending_fire"], (*key, instant_us)).fetchone()
    return found is not None and found[0] in WAITING and found[1] == 1
