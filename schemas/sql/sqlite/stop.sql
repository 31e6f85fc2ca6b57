-- name: stop_waiting_fires
-- Through what waits in the partition, not through all that the trigger ever fired; of runs that
-- somebody asked for only when told so.
SELECT scheduled_instant, sequence, next_attempt_n
FROM fire INDEXED BY fire_waiting
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND tenant_id = ? AND trigger_id = ? AND partition_id = ?
  AND state IN ('held', 'ready', 'queued') AND (sequence = 0 OR ?)
ORDER BY scheduled_instant
LIMIT ?;

-- name: stop_gaps
SELECT after_instant, through_instant, version, planned_through, instant_count, planned_count
FROM gap WHERE tenant_id = ? AND trigger_id = ?;

-- name: gap_delete!
DELETE FROM gap WHERE tenant_id = ? AND trigger_id = ? AND after_instant = ?;
