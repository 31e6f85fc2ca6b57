"""The named SQL: every statement fits the schema, and readers stay on their indexes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase, named_sql

# What a million fires must not make slow, and the index that keeps it quick.
INDEXES = {
    "history_fires": "fire USING INDEX fire_by_instant (tenant_id=? AND scheduled_instant>?",
    "history_fires_troubled": "fire USING INDEX fire_troubled (tenant_id=?",
    "history_fires_of_trigger": "fire USING PRIMARY KEY (tenant_id=? AND trigger_id=? AND sched",
    "history_fires_waiting": "SCAN fire USING COVERING INDEX fire_waiting",
    "history_ranges_over": "fire USING INDEX fire_range (through_instant>?)",
    "history_changed_since": "fire USING INDEX fire_changed (changed_at>?)",
    "history_newest_live_row": "fire USING PRIMARY KEY (tenant_id=? AND trigger_id=? AND sched",
    "history_backlog": "SCAN fire USING COVERING INDEX fire_waiting",
    "history_oldest_undispatched_due": (
        "fire USING COVERING INDEX fire_waiting (partition_id=? AND state=?)"
    ),
    "lane_lease": "lane_message USING INDEX lane_message_head (lane=?)",
    "lane_has_deliverable": "lane_message USING INDEX lane_message_head (lane=?)",
    "lane_publish": "lane_message_queue (lane=? AND tenant_id=? AND trigger_id=?)",
    "lane_promote": "lane_message_queue (lane=? AND tenant_id=? AND trigger_id=?)",
    "outbox_pending": "outbox_unsent",
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "store.db", synchronous="OFF")
    yield database
    database.close()


def plan(database: SqliteDatabase, statement: str) -> list[str]:
    """What SQLite would do, one line a step; any value fits any parameter here."""
    marks = re.findall(r"\?|:[a-z_]+", statement)
    named: defaultdict[str, int] = defaultdict(int)
    with database.read() as connection:
        explain = f"EXPLAIN QUERY PLAN {statement}"
        if "?" in marks:
            rows = connection.execute(explain, [0] * len(marks)).fetchall()
        else:
            rows = connection.execute(explain, named).fetchall()
    return [row[3] for row in rows]


@pytest.mark.parametrize("name", named_sql())
def test_statement_fits_the_schema(database: SqliteDatabase, name: str) -> None:
    assert isinstance(plan(database, named_sql()[name]), list)


@pytest.mark.parametrize(("name", "step"), INDEXES.items())
def test_statement_uses_its_index(database: SqliteDatabase, name: str, step: str) -> None:
    assert step in "\n".join(plan(database, named_sql()[name]))
