-- name: slot_read
SELECT s.scheduled_instant, s.sequence, s.run_until, f.state, f.next_attempt_n, f.lane
FROM in_flight AS s
LEFT JOIN fire AS f
  ON f.tenant_id = s.tenant_id AND f.trigger_id = s.trigger_id
  AND f.scheduled_instant = s.scheduled_instant AND f.sequence = s.sequence
WHERE s.tenant_id = ? AND s.trigger_id = ?;

-- name: slot_take!
INSERT INTO in_flight (
  tenant_id, trigger_id, partition_id, scheduled_instant, sequence, taken_at
) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id, trigger_id) DO NOTHING;

-- name: slot_start_run!
UPDATE in_flight SET run_until = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND run_until IS NULL;

-- name: slot_unstart_run!
UPDATE in_flight SET run_until = NULL
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND run_until = ?;

-- name: slot_free!
DELETE FROM in_flight
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: slot_free_unstarted!
DELETE FROM in_flight
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND run_until IS NULL;

-- name: slot_buffered_count
-- By its index, here and below: through the key it would read the trigger's whole history.
SELECT count(*) FROM fire INDEXED BY fire_buffered
WHERE tenant_id = ? AND trigger_id = ? AND state = 'held' AND held_reason = 'overlap';

-- name: slot_oldest_buffered
SELECT f.scheduled_instant, f.sequence, f.partition_id, d.next_due_at
FROM fire AS f INDEXED BY fire_buffered
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
LEFT JOIN due_index_row AS d ON d.tenant_id = f.tenant_id AND d.trigger_id = f.trigger_id
WHERE f.tenant_id = ? AND f.trigger_id = ? AND f.state = 'held' AND f.held_reason = 'overlap'
  AND t.state IN ('live', 'finished', 'quarantined')
ORDER BY f.scheduled_instant
LIMIT 1;

-- name: slot_last_attempt_result
SELECT transport_result FROM attempt
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ? AND n = ?;

-- name: fire_make_ready!
UPDATE fire
SET state = 'ready', held_reason = NULL, not_before = NULL, retry_until = ?, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND state = 'held';

-- name: slot_start_buffered!
-- Its grace begins now: what it waited for was the run before it, not a dispatcher.
UPDATE fire
SET state = 'ready', held_reason = NULL, not_before = NULL, retry_until = ?,
  grace_until = grace_until - due_at + ?, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND state = 'held';

-- name: fire_end!
UPDATE fire
SET state = ?, non_dispatch_cause = ?, cause_detail = ?, coalesced_into = ?, held_reason = NULL,
  not_before = NULL, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;
