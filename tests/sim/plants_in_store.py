"""Faults planted in a store's file, for the checker that has to find each."""

import sqlite3
from pathlib import Path

# One statement on the store's file each; `is_single` and `is_ranged` stand for one row, see VIEWS.
PLANTED_ROWS = {
    "calendars": {
        "nobody follows": "UPDATE calendar SET revision = revision + 1",
        "a calendar in use is deleted": "DELETE FROM calendar",
    },
    "cancels": {
        "a cancel is not told": "UPDATE fire SET non_dispatch_cause = 'paused'"
        " WHERE non_dispatch_cause = 'cancelled'",
        "nobody cancelled it": "UPDATE fire SET non_dispatch_cause = 'cancelled' WHERE is_ranged",
    },
    "coverage": {
        "a fire is lost": "DELETE FROM fire WHERE is_single",
        "a range is lost": "DELETE FROM fire WHERE is_ranged",
        "a range miscounts": "UPDATE fire SET instant_count = instant_count + 1 WHERE is_ranged",
        "a range is too short": "UPDATE fire SET through_instant = scheduled_instant"
        " WHERE is_ranged",
        "an instant is made up": "UPDATE fire SET scheduled_instant = scheduled_instant + 1000000"
        " WHERE is_single",
        "the newest are never decided": "DELETE FROM fire WHERE trigger_id = (SELECT trigger_id"
        " FROM trigger WHERE state = 'live' LIMIT 1)",
    },
    "decided_once": {
        "a row inside a range": "UPDATE fire SET scheduled_instant = (SELECT through_instant"
        " FROM ranged WHERE ranged.trigger_id = fire.trigger_id) WHERE is_single",
    },
    "early": {
        "a fire is due before its smear": "UPDATE fire SET due_at = due_at - 1 WHERE is_single",
    },
    "events": {
        "a change is not sent": "UPDATE outbox SET sent_at = NULL WHERE outbox_id = 1",
        "a change is not in the log": "DELETE FROM event_log WHERE event = 'TriggerChanged'",
        "an end is not in the log": "DELETE FROM event_log WHERE body LIKE '%succeeded%'",
        "changes are in the opposite order": "UPDATE event_log SET event_offset = -event_offset"
        " WHERE event = 'TriggerChanged'",
        "an old state is told last": "UPDATE event_log SET event_offset = event_offset + 1000000"
        " WHERE body LIKE '%dispatching%'",
    },
    "fire_cap": {
        "one fire was allowed": "UPDATE trigger_version SET max_fires = 1",
        "one too many is counted": "UPDATE due_index_row SET fired_count = fired_count + 1",
    },
    "held_ends": {
        "a fire is left": "UPDATE fire SET state = 'queued' WHERE is_single",
        "a gap is left": "INSERT INTO gap SELECT tenant_id, trigger_id, 0, 0, partition_id,"
        " version, 'fire_all', 0, 0, 1, 0 FROM fire LIMIT 1",
        "a slot is left": "INSERT OR REPLACE INTO in_flight SELECT tenant_id, trigger_id,"
        " partition_id, scheduled_instant, sequence, 0, NULL FROM fire WHERE state = 'succeeded'"
        " LIMIT 1",
    },
    "manual_runs": {
        "a run is lost": "DELETE FROM fire WHERE origin = 'manual'",
        "a run is never tried": "UPDATE fire SET first_dispatched_at = NULL"
        " WHERE origin = 'manual' AND non_dispatch_cause IS NULL",
        "a pause stopped it": "UPDATE fire SET non_dispatch_cause = 'paused'"
        " WHERE origin = 'manual'",
        "a run is for catch-up": "UPDATE fire SET lane = 'catch_up' WHERE origin = 'manual'",
        "nobody asked for it": "UPDATE fire SET sequence = 1, origin = 'manual' WHERE is_single",
        "a number is left out": "UPDATE tenant SET next_sequence = next_sequence + 1",
        "an instant went into a run": "UPDATE fire SET coalesced_into = coalesced_into + 1"
        " WHERE coalesced_into IS NOT NULL",
    },
    "receipts": {
        "a received fire is not committed": "DELETE FROM fire WHERE state = 'succeeded'",
        "an attempt has no row": "DELETE FROM attempt WHERE n = 1",
        "an unsent fire is accepted": "UPDATE fire SET state = 'accepted'"
        " WHERE state = 'not_dispatched' AND through_instant IS NULL",
        "a sent fire is not dispatched": "UPDATE fire SET state = 'not_dispatched'"
        " WHERE state = 'succeeded'",
        "another version went out": "UPDATE fire SET version = version + 1"
        " WHERE state = 'succeeded'",
    },
    "retries": {
        "a number is left out": "UPDATE attempt SET n = 9 WHERE n = 2",
        "the budget is passed": "UPDATE trigger_version SET attempt_budget = 0",
        "the window is passed": "UPDATE attempt SET dispatched_at = dispatched_at + 9000000000"
        " WHERE n = 2",
    },
    "told": {
        "an entry too many": "INSERT INTO audit_entry (tenant_id, actor, action, subject, at)"
        " VALUES ('acme', 'person', 'trigger_paused', 'bill', 0)",
        "an event is lost": "DELETE FROM outbox WHERE outbox_id = (SELECT max(outbox_id)"
        " FROM outbox)",
        "an event too many": "INSERT INTO outbox (tenant_id, trigger_id, event, body, created_at)"
        " SELECT tenant_id, trigger_id, event, body, created_at FROM outbox LIMIT 1",
        "events are in the opposite order": "UPDATE outbox SET outbox_id = -outbox_id",
    },
    "tries": {
        "a try is lost": "DELETE FROM attempt WHERE n = 1",
        "a try is made up": "UPDATE attempt SET n = 19 WHERE n = 2",
        "a first try is forgotten": "UPDATE fire SET first_dispatched_at = NULL"
        " WHERE state = 'succeeded'",
    },
    "due_index": {
        "a row is lost": "DELETE FROM due_index_row",
        "a count is off": "UPDATE due_index_row SET fired_count = fired_count + 1",
        "a cursor is behind": "UPDATE due_index_row SET decided_through = decided_through - 1",
        "a due time is off": "UPDATE due_index_row SET next_due_at = next_due_at + 1",
        "a revision is off": "UPDATE due_index_row SET revision = revision + 1",
    },
}
# One fire that succeeded and one range of several instants, both of one trigger.
VIEWS = """
CREATE TEMP VIEW ranged AS SELECT trigger_id, scheduled_instant AS first, through_instant FROM fire
  WHERE sequence = 0 AND through_instant > scheduled_instant AND trigger_id IN (
    SELECT trigger_id FROM fire WHERE state = 'succeeded') ORDER BY trigger_id LIMIT 1;
CREATE TEMP VIEW single AS SELECT fire.trigger_id, scheduled_instant AS first FROM fire, ranged
  WHERE sequence = 0 AND state = 'succeeded' AND fire.trigger_id = ranged.trigger_id LIMIT 1;
"""


def plant_in_copy(source: Path, path: Path, sql: str) -> None:
    """A copy of a world's file with one fault in it."""
    _copy(source, path)
    _plant(path, sql)


def _copy(source: Path, path: Path) -> None:
    origin, copy = sqlite3.connect(source), sqlite3.connect(path)
    origin.backup(copy)
    origin.close()
    copy.close()


def _plant(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(VIEWS)
        for view in ("single", "ranged"):
            found = f"(trigger_id, scheduled_instant) = (SELECT trigger_id, first FROM {view})"
            sql = sql.replace(f"is_{view}", found)
        assert connection.execute(sql).rowcount > 0
    finally:
        connection.close()
