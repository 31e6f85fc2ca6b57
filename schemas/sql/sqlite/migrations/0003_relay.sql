-- How far a relay has read the ledger's changes. Nothing wrote to it until now.
DROP TABLE relay_cursor;

-- changed_at: what changed before it is published. oldest_new_at: the oldest change that came to
-- be since the cursor was read; outside a reading the two are equal. reading: counts readings.
CREATE TABLE relay_cursor (
  relay_id TEXT PRIMARY KEY,
  changed_at INTEGER NOT NULL,
  oldest_new_at INTEGER NOT NULL,
  reading INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Changes carry their writer's time: a clock may be wrong, an attempt's result may have waited
-- for the store, a process may have slept before its commit. A late one moves the cursor back.
CREATE TRIGGER fire_added_late AFTER INSERT ON fire
WHEN EXISTS (SELECT 1 FROM relay_cursor WHERE oldest_new_at > NEW.changed_at)
BEGIN
  UPDATE relay_cursor SET oldest_new_at = NEW.changed_at WHERE oldest_new_at > NEW.changed_at;
END;

CREATE TRIGGER fire_changed_late AFTER UPDATE OF changed_at ON fire
WHEN EXISTS (SELECT 1 FROM relay_cursor WHERE oldest_new_at > NEW.changed_at)
BEGIN
  UPDATE relay_cursor SET oldest_new_at = NEW.changed_at WHERE oldest_new_at > NEW.changed_at;
END;
