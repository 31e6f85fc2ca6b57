"""Every state that a fire ever had, in the order of the commits: kept by the store's own file."""

import sqlite3
from pathlib import Path
from typing import Final

JOURNAL: Final = """
CREATE TABLE sim_journal (
  entry_id INTEGER PRIMARY KEY AUTOINCREMENT, tenant_id TEXT, trigger_id TEXT,
  scheduled_instant INTEGER, sequence INTEGER, state TEXT, changed_at INTEGER);
CREATE TRIGGER sim_fire_added AFTER INSERT ON fire BEGIN
  INSERT INTO sim_journal VALUES (NULL, NEW.tenant_id, NEW.trigger_id, NEW.scheduled_instant,
    NEW.sequence, NEW.state, NEW.changed_at); END;
CREATE TRIGGER sim_fire_changed AFTER UPDATE OF state ON fire BEGIN
  INSERT INTO sim_journal VALUES (NULL, NEW.tenant_id, NEW.trigger_id, NEW.scheduled_instant,
    NEW.sequence, NEW.state, NEW.changed_at); END;
"""


def keep_a_journal(path: Path) -> None:
    """Add the table `sim_journal` to a store's file, and what fills it."""
    connection = sqlite3.connect(path)
    connection.executescript(JOURNAL)
    connection.close()
