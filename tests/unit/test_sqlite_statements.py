"""The named SQL: every statement fits the schema, and readers stay on their indexes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase, named_sql

# What a million fires must not make slow, and the index that keeps it quick.
INDEXES = {
    "audit_entries": "audit_entry USING INTEGER PRIMARY KEY (rowid<?)",
    "audit_entries_of_tenant": "INDEX audit_entry_tenant (tenant_id=? AND audit_id<?)",
    "audit_entries_of_subject": (
        "INDEX audit_entry_subject (tenant_id=? AND subject=? AND audit_id<?)"
    ),
    "registry_tenants": "SEARCH tenant USING INDEX sqlite_autoindex_tenant_1 (tenant_id>?)",
    "registry_tenants_among": "SEARCH tenant USING INDEX sqlite_autoindex_tenant_1 (tenant_id=?)",
    "registry_targets": "SEARCH target USING PRIMARY KEY ((tenant_id,target_id)>(?,?))",
    "registry_targets_of": "SEARCH target USING PRIMARY KEY (tenant_id=? AND target_id>?)",
    "registry_target_shown": "SEARCH target USING PRIMARY KEY (tenant_id=? AND target_id=?)",
    "registry_allowed_hosts": (
        "SEARCH allowed_host USING INDEX allowed_host_name ((host,tenant_id)>(?,?))"
    ),
    "calendar_all": "SEARCH c USING PRIMARY KEY (tenant_id=? AND calendar_id>?)",
    "calendar_one": "SEARCH v USING PRIMARY KEY (tenant_id=? AND calendar_id=? AND revision=?)",
    "principals_tokens": "SEARCH token USING INDEX token_age ((created_at,token_id)<(?,?))",
    "principals_grants": "grant USING PRIMARY KEY ((principal_id,tenant_id,kind)>(?,?,?))",
    "principals_grants_of": "grant USING PRIMARY KEY (principal_id=? AND (tenant_id,kind)>(?,?))",
    "registry_triggers": "t USING INDEX trigger_name (tenant_id=? AND name>? AND name<?)",
    "registry_find_triggers": "t USING INDEX trigger_name (tenant_id=? AND name=?)",
    "registry_find_deleted": "t USING PRIMARY KEY (tenant_id=? AND trigger_id=?)",
    "registry_spans": "trigger_span USING PRIMARY KEY (tenant_id=? AND trigger_id=?)",
    "history_fires": "fire USING INDEX fire_by_instant (tenant_id=? AND scheduled_instant>?",
    "history_fires_troubled": "fire USING INDEX fire_troubled (tenant_id=?",
    "history_fires_of_trigger": "fire USING PRIMARY KEY (tenant_id=? AND trigger_id=? AND sched",
    "history_fires_waiting": "SCAN fire USING COVERING INDEX fire_waiting",
    "history_ranges_over": "fire USING INDEX fire_range (tenant_id=? AND through_instant>?)",
    "history_ranges_over_of_trigger": (
        "fire USING INDEX fire_range_of_trigger (tenant_id=? AND trigger_id=? AND through_inst"
    ),
    "history_changed_since": "fire USING INDEX fire_changed (changed_at>?)",
    "history_newest_live_row": "fire USING PRIMARY KEY (tenant_id=? AND trigger_id=? AND sched",
    "history_fire": "fire USING PRIMARY KEY (tenant_id=? AND trigger_id=? AND scheduled_instant=? ",
    "history_backlog": "SCAN fire USING COVERING INDEX fire_waiting",
    "history_backlog_of_trigger": (
        "f USING COVERING INDEX fire_waiting (partition_id=? AND state=?)"
    ),
    "history_upcoming": "due_index_row USING PRIMARY KEY (tenant_id=?)",
    "history_oldest_undispatched_due": (
        "fire USING COVERING INDEX fire_waiting (partition_id=? AND state=?)"
    ),
    "lane_lease": "lane_message USING INDEX lane_message_head (lane=?)",
    "lane_has_deliverable": "lane_message USING INDEX lane_message_head (lane=?)",
    "lane_publish": "lane_message_queue (lane=? AND tenant_id=? AND trigger_id=?)",
    "lane_promote": "lane_message_queue (lane=? AND tenant_id=? AND trigger_id=?)",
    "outbox_pending": "outbox_unsent",
    "outbox_forget": "SEARCH outbox USING INTEGER PRIMARY KEY (rowid<?)",
    "events_read": "SEARCH event_log USING INTEGER PRIMARY KEY (rowid>?)",
    "events_forget": "SEARCH event_log USING INTEGER PRIMARY KEY (rowid<?)",
    "events_kept": "SEARCH event_log",
    "outbox_relay_stands": "relay_cursor USING PRIMARY KEY (relay_id=?)",
    "slot_buffered_count": "fire USING INDEX fire_buffered (tenant_id=? AND trigger_id=?)",
    "slot_oldest_buffered": "f USING INDEX fire_buffered (tenant_id=? AND trigger_id=?)",
    "stop_waiting_fires": "fire USING INDEX fire_waiting (partition_id=? AND state=?)",
    "repair_kept_come": "f USING INDEX fire_waiting (partition_id=? AND state=? AND not_before<?)",
    "repair_ready_of_partition": "fire USING INDEX fire_waiting (partition_id=? AND state=?)",
    "repair_unpublished_catch_up": "USING COVERING INDEX fire_waiting (partition_id=? AND state=?)",
}
# What an owner repairs: from the leases, with one seek a partition that it holds.
OF_AN_OWNER = {
    "repair_unclaimed": "f USING INDEX fire_waiting (partition_id=? AND state=?)",
    "repair_expired_claims": "f USING INDEX fire_waiting (partition_id=? AND state=? AND not_bef",
    "repair_held_come": "f USING INDEX fire_waiting (partition_id=? AND state=? AND not_before<?)",
    "repair_next_held": "f USING COVERING INDEX fire_waiting (partition_id=? AND state=? AND not_",
    "repair_ended_runs": "s USING INDEX in_flight_run_until (partition_id=? AND run_until<?)",
    "repair_next_run_end": "in_flight_run_until (partition_id=? AND run_until>?)",
    "repair_buffered_without_slot": "f USING INDEX fire_waiting (partition_id=? AND state=? AND ",
    "repair_stopped_waiting": "f USING COVERING INDEX fire_waiting (partition_id=? AND state=?)",
    "repair_gaps": "g USING INDEX gap_partition (partition_id=?)",
}
# What is read a page at a time, and must not be sorted anew for each.
PAGES = {
    "audit_entries",
    "audit_entries_of_tenant",
    "audit_entries_of_subject",
    "calendar_all",
    "principals_grants",
    "principals_grants_of",
    "principals_tokens",
    "registry_allowed_hosts",
    "registry_targets",
    "registry_targets_of",
    "registry_tenants",
    "registry_tenants_among",
    "history_fires",
    "history_fires_troubled",
    "history_fires_of_trigger",
    "registry_triggers",
    "registry_spans",
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


@pytest.mark.parametrize("name", sorted(PAGES))
def test_page_is_read_in_the_order_of_its_index(database: SqliteDatabase, name: str) -> None:
    assert "USE TEMP B-TREE" not in "\n".join(plan(database, named_sql()[name]))


@pytest.mark.parametrize(("name", "step"), OF_AN_OWNER.items())
def test_owners_repair_seeks_once_a_partition(
    database: SqliteDatabase, name: str, step: str
) -> None:
    outer, inner, *_ = plan(database, named_sql()[name])
    assert outer in ("SCAN p", "SEARCH p")
    assert step in inner


def test_owners_repairs_are_all_pinned() -> None:
    of_an_owner = {name for name, text in named_sql().items() if "p.owner_id = ?" in text}
    assert of_an_owner == set(OF_AN_OWNER)


def test_indexes_are_all_used_by_a_statement_or_keep_something_unique(
    database: SqliteDatabase,
) -> None:
    with database.read() as connection:
        indexes = connection.execute(
            "SELECT name FROM sqlite_schema"
            " WHERE type = 'index' AND sql NOT LIKE 'CREATE UNIQUE INDEX%'"
        ).fetchall()
    plans = "\n".join(
        step for statement in named_sql().values() for step in plan(database, statement)
    )
    assert [name for (name,) in indexes if f"INDEX {name}" not in plans] == []
