-- name: signals_prove_commit!
-- A new value each time: SQLite writes no page that stays as it is.
INSERT INTO store_probe (probe_id, commits, committed_at) VALUES (1, 1, :now_us)
ON CONFLICT (probe_id)
DO UPDATE SET commits = commits + 1, committed_at = excluded.committed_at;

-- name: signals_quarantined_triggers$
SELECT count(*) FROM trigger WHERE state = 'quarantined';

-- name: signals_newest_change$
SELECT coalesce(max(outbox_id), 0) FROM outbox;

-- name: signals_changes_after
SELECT outbox_id, trigger_id, created_at FROM outbox
WHERE outbox_id > :change_id AND event = 'TriggerChanged'
  AND json_extract(body, '$.kind') <> 'quarantined'
ORDER BY outbox_id LIMIT :row_limit;
