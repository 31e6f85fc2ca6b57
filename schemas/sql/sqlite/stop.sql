-- name: stop_waiting_fires
-- Through what waits in the partition, not through all that the trigger ever fired.
SELECT scheduled_instant, sequence, next_attempt_n
FROM fire INDEXED BY fire_waiting
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND tenant_id = ? AND trigger_id = ? AND partition_id = ?
  AND state IN ('held', 'ready', 'queued')
ORDER BY scheduled_instant
LIMIT ?;

-- name: stop_gaps
SELECT after_instant, through_instant, version, planned_through, instant_count, planned_count
FROM gap WHERE tenant_id = ? AND trigger_id = ?;

-- name: gap_delete!
DELETE FROM gap WHERE tenant_id = ? AND trigger_id = ? AND after_instant = ?;
