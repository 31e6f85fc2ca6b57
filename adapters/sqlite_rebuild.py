"""Deriving due rows again: the whole index from registry and ledger, or its times after an edit
of the zone data, or one row that fell behind the ledger or had a count given back."""

import sqlite3
from collections.abc import Mapping
from typing import Final, NamedTuple

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
    for *key, partition_id, version, revision, floor_us, fired_floor, span_us in triggers:
        standing = _standing(
            connection, sql, (key[0], key[1]), floor_us=floor_us, fired_floor=fired_floor
        )
        row = DueRow(key[0], key[1], version, span_us, *standing)
        connection.execute(
            sql["rebuild_insert_row"],
            (
                *key,
                partition_id,
                version,
                revision,
                span_us,
                row.decided_through_us,
                _next_due_us(connection, context, row),
                row.pending_catch_up_us,
                row.fired_count,
            ),
        )
    return len(triggers)


def healed(connection: sqlite3.Connection, context: SqliteContext, row: DueRow) -> DueRow:
    """The due row, put right where the ledger is further than its cursor.

    The ledger is the truth: what it holds was decided, whatever the due row says. Costs two seeks
    when there is nothing to put right.
    """
    sql = context.sql
    newest = connection.execute(sql["rebuild_newest_row"], row.key).fetchone()
    gap_us, _ = connection.execute(sql["rebuild_gap_facts"], row.key).fetchone()
    known_us = (us for us in (newest and newest[0], gap_us) if us is not None)
    if max(known_us, default=row.decided_through_us) <= row.decided_through_us:
        return row
    floor_us, fired_floor = connection.execute(sql["rebuild_floors"], row.key).fetchone()
    standing = _standing(connection, sql, row.key, floor_us=floor_us, fired_floor=fired_floor)
    connection.execute(sql["rebuild_heal_row"], (*standing, *row.key))
    return row._replace(
        decided_through_us=standing.decided_through_us,
        pending_catch_up_us=standing.pending_catch_up_us,
        fired_count=standing.fired_count,
    )


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
    if count == 0:
        return
    sql = context.sql
    found = connection.execute(sql["commit_due_row"], key).fetchone()
    if found is None:
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


class _Standing(NamedTuple):
    """Where a trigger's decisions stand, as registry and ledger say."""

    decided_through_us: int
    pending_catch_up_us: int | None
    fired_count: int


def _standing(
    connection: sqlite3.Connection,
    sql: Mapping[str, str],
    key: tuple[str, str],
    *,
    floor_us: int,
    fired_floor: int,
) -> _Standing:
    last_us, fired, pending_us = connection.execute(sql["rebuild_ledger_facts"], key).fetchone()
    gap_us, reserved = connection.execute(sql["rebuild_gap_facts"], key).fetchone()
    cursor_us = max(us for us in (floor_us, last_us, gap_us) if us is not None)
    return _Standing(cursor_us, pending_us, fired_floor + int(fired + reserved))


def _next_due_us(connection: sqlite3.Connection, context: SqliteContext, row: DueRow) -> int | None:
    try:
        view = view_of(connection, context, row)
        nothing = Decision((), (), row.decided_through_us, None)
        return look_ahead(nothing, view).next_due_us
    except (sqlite3.Error, PortError, MemoryError):
        raise
    except Exception:
        return _DUE_AT_ONCE
