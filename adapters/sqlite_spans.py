"""A change as it is written and told: the span, the trigger and its due row, audit, outbox.

All functions run inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import read_due_row, view_of
from ports.changes import ChangeKind
from ports.records import AuditRecord
from scheduling.decide import look_ahead
from scheduling.decision import Decision
from scheduling.vocabulary import ResumeRule, SpanKind, TriggerState

_STATES = {
    SpanKind.LIVE: TriggerState.LIVE,
    SpanKind.PAUSED: TriggerState.PAUSED,
    SpanKind.DELETED: TriggerState.DELETED,
}


class TriggerRow(NamedTuple):
    """A trigger's row as the change found it."""

    trigger_id: str
    state: TriggerState
    version: int
    revision: int
    partition_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanChange:
    """The span that a change writes, and how it is told.

    prior: what the audit tells beside state, version and revision, by field name
    new:   what an edit has set these fields to
    """

    change: ChangeKind
    kind: SpanKind
    version: int
    resume_rule: ResumeRule | None = None
    note: str | None = None
    audit_note: str | None = None
    prior: Mapping[str, object] | None = None
    new: Mapping[str, object] | None = None
    reset_fired_count: bool = False


def write_span(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    change: SpanChange,
    revision: int,
    from_us: int,
    next_due_us: int | None,
    actor: str,
) -> None:
    """The span itself, and the trigger and its due row as they are from now on."""
    sql = context.sql
    connection.execute(
        sql["commit_insert_span"],
        (
            *key,
            revision,
            from_us,
            change.kind.value,
            change.version,
            change.resume_rule and change.resume_rule.value,
            change.note,
            actor,
        ),
    )
    deleted = change.kind is SpanKind.DELETED
    connection.execute(
        sql["registry_change_trigger"],
        (
            _STATES[change.kind].value,
            change.version,
            revision,
            change.note if change.kind is SpanKind.PAUSED else None,
            from_us if deleted else None,
            *key,
        ),
    )
    connection.execute(
        sql["registry_change_due_row"],
        (change.version, revision, from_us, next_due_us, *key),
    )


def begin_span(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    change: SpanChange,
) -> int | None:
    """The due row as the new span wants it; returns the next due time."""
    sql = context.sql
    if change.kind is SpanKind.DELETED:
        connection.execute(sql["registry_drop_due_row"], key)
        return None
    if change.reset_fired_count:
        connection.execute(sql["registry_forget_fires"], key)
        connection.execute(sql["registry_reset_fired_count"], key)
    row = read_due_row(connection, context, key)
    view = view_of(connection, context, row)
    ahead = look_ahead(Decision((), (), row.decided_through_us, None), view)
    connection.execute(sql["rebuild_set_next_due"], (ahead.next_due_us, *key))
    if ahead.finished:
        connection.execute(sql["commit_finish_trigger"], key)
    return ahead.next_due_us


def tell_change(
    connection: sqlite3.Connection,
    context: SqliteContext,
    trigger: TriggerRow,
    *,
    key: tuple[str, str],
    name: str,
    change: SpanChange,
    revision: int,
    from_us: int,
    now_us: int,
    actor: str,
) -> None:
    """The audit entry and the outbox event of a change."""
    prior = {
        "state": trigger.state,
        "version": trigger.version,
        "revision": trigger.revision,
        **(change.prior or {}),
    }
    insert_audit(
        connection,
        context.sql,
        AuditRecord(
            now_us,
            actor,
            f"trigger_{change.change.value}",
            key[0],
            name,
            prior_value=json.dumps(prior),
            new_value=json.dumps(change.new) if change.new else None,
            note=change.audit_note,
        ),
    )
    body = {
        "name": name,
        "kind": change.change.value,
        "version": change.version,
        "revision": revision,
        "from_us": from_us,
    }
    connection.execute(
        context.sql["commit_insert_outbox"], (*key, "TriggerChanged", json.dumps(body), now_us)
    )
