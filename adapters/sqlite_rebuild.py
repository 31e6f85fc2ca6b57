"""Deriving due rows again: the whole index from registry and ledger, or its times after an edit
of the zone data, or one row after a count was given back."""

import sqlite3
from typing import Final

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import DueRow, view_of
from ports.errors import PortError
from ports.records import AuditRecord
from scheduling.decide import look_ahead
from scheduling.decision import Decision

# A rule that cannot be evaluated is due at once: the decider will quarantine it, visibly.
_DUE_AT_ONCE: Final = 0


def rebuild_due_index(connection: sqlite3.Connection, context: SqliteContext) -> int:
    """Drop every due row and derive it again; returns how many there are."""
    sql = context.sql
    connection.execute(sql["rebuild_drop_rows"])
    triggers = connection.execute(sql["rebuild_triggers"]).fetchall()
    for tenant_id, trigger_id, partition_id, version, revision, floor_us, span_us in triggers:
        key = (tenant_id, trigger_id)
        last_us, fired, pending_us = connection.execute(sql["rebuild_ledger_facts"], key).fetchone()
        gap_us, reserved = connection.execute(sql["rebuild_gap_facts"], key).fetchone()
        cursor_us = max(us for us in (floor_us, last_us, gap_us) if us is not None)
        fired_count = int(fired + reserved)
        row = DueRow(*key, version, span_us, cursor_us, pending_us, fired_count)
        next_due_us = _next_due_us(connection, context, row)
        connection.execute(
            sql["rebuild_insert_row"],
            (
                *key,
                partition_id,
                version,
                revision,
                span_us,
                cursor_us,
                next_due_us,
                pending_us,
                fired_count,
            ),
        )
    return len(triggers)


def adopt_tzdata(
    connection: sqlite3.Connection, context: SqliteContext, *, now_us: int, actor: str
) -> tuple[int, int]:
    """Pin the installed zone data; returns (triggers, how many of their due times moved)."""
    sql = context.sql
    pinned = connection.execute(sql["commit_pin"]).fetchone()[0]
    moved = 0
    rows = connection.execute(sql["rebuild_due_rows"]).fetchall()
    for *values, due_us in rows:
        row = DueRow(*values)
        next_due_us = _next_due_us(connection, context, row)
        if next_due_us != due_us:
            moved += 1
            connection.execute(sql["rebuild_set_next_due"], (next_due_us, *row.key))
    connection.execute(sql["rebuild_pin"], (context.tzdata_version, now_us))
    insert_audit(
        connection,
        sql,
        AuditRecord(
            now_us,
            actor,
            "tzdata_adopt",
            None,
            context.tzdata_version,
            prior_value=pinned,
            note=f"{moved} of {len(rows)} triggers moved",
        ),
    )
    return len(rows), moved


def give_back(
    connection: sqlite3.Connection, context: SqliteContext, key: tuple[str, str], *, count: int
) -> None:
    """Fires that will not happen give their places under `max_fires` back."""
    sql = context.sql
    found = connection.execute(sql["commit_due_row"], key).fetchone()
    if found is None or count == 0:
        return
    row = DueRow(*found)
    row = row._replace(fired_count=row.fired_count - count)
    facts = context.versions.facts(connection, (*key, row.version))
    connection.execute(sql["due_give_back"], (count, *key))
    if facts.max_fires is None:
        return
    next_due_us = _next_due_us(connection, context, row)
    connection.execute(sql["rebuild_set_next_due"], (next_due_us, *key))
    if next_due_us is not None:
        connection.execute(sql["commit_unfinish_trigger"], key)


def _next_due_us(connection: sqlite3.Connection, context: SqliteContext, row: DueRow) -> int | None:
    try:
        view = view_of(connection, context, row)
        nothing = Decision((), (), row.decided_through_us, None)
        return look_ahead(nothing, view).next_due_us
    except (sqlite3.Error, PortError):
        raise
    except Exception:
        return _DUE_AT_ONCE
