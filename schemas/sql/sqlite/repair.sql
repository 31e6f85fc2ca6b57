-- Each seeks in an index once per partition that the owner holds: the cross joins keep SQLite from
-- reading every owner's rows first. The list of waiting states repeats the partial index's own
-- condition, so that SQLite sees that the index serves.

-- name: repair_unclaimed
SELECT f.tenant_id, f.trigger_id, f.scheduled_instant, f.sequence, f.lane, f.next_attempt_n
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state IN ('ready', 'queued')
WHERE p.owner_id = ? AND f.changed_at < ?
ORDER BY f.scheduled_instant
LIMIT ?;

-- name: repair_ready_of_partition
SELECT tenant_id, trigger_id, scheduled_instant, sequence, lane, next_attempt_n
FROM fire INDEXED BY fire_waiting
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND partition_id = ? AND state = 'ready'
ORDER BY scheduled_instant;

-- name: repair_expired_claims
SELECT f.tenant_id, f.trigger_id, f.scheduled_instant, f.sequence, f.next_attempt_n
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state = 'dispatching' AND f.not_before < ?
WHERE p.owner_id = ?
LIMIT ?;

-- name: repair_held_come
-- A manual run goes after the instants that were due before it, so first they are decided.
SELECT f.tenant_id, f.trigger_id, f.scheduled_instant, f.sequence, f.lane, f.next_attempt_n,
  f.held_reason, f.retry_until, f.partition_id, f.version, d.next_due_at
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state = 'held' AND f.not_before <= ?
LEFT JOIN due_index_row AS d ON d.tenant_id = f.tenant_id AND d.trigger_id = f.trigger_id
WHERE p.owner_id = ? AND (
  f.sequence = 0 OR f.next_attempt_n > 1 OR d.next_due_at IS NULL OR d.next_due_at > f.due_at
)
ORDER BY f.scheduled_instant
LIMIT ?;

-- name: repair_kept_come
SELECT f.tenant_id, f.trigger_id, f.scheduled_instant, f.sequence, f.lane, f.next_attempt_n,
  f.held_reason, f.retry_until, f.partition_id, f.version, d.next_due_at
FROM fire AS f INDEXED BY fire_waiting
LEFT JOIN due_index_row AS d ON d.tenant_id = f.tenant_id AND d.trigger_id = f.trigger_id
WHERE (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.partition_id = ? AND f.state = 'held' AND f.not_before <= ?
  AND f.lane = 'on_time' AND f.held_reason = 'due_later'
  AND (f.sequence = 0 OR d.next_due_at IS NULL OR d.next_due_at > f.due_at)
ORDER BY f.due_at
LIMIT ?;

-- name: change_kept_come
SELECT 1 FROM fire INDEXED BY fire_waiting
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND partition_id = ? AND state = 'held' AND not_before <= ?
  AND tenant_id = ? AND trigger_id = ? AND lane = 'on_time' AND held_reason = 'due_later'
  AND sequence = 0
LIMIT 1;

-- name: repair_next_held
SELECT min(f.not_before)
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state IN ('held', 'dispatching') AND f.not_before IS NOT NULL
WHERE p.owner_id = ?;

-- name: repair_ended_runs
SELECT s.tenant_id, s.trigger_id, s.scheduled_instant, s.sequence
FROM partition_lease AS p
CROSS JOIN in_flight AS s ON s.partition_id = p.partition_id AND s.run_until <= ?
WHERE p.owner_id = ?
LIMIT ?;

-- name: repair_next_run_end
SELECT min(s.run_until)
FROM partition_lease AS p
CROSS JOIN in_flight AS s ON s.partition_id = p.partition_id AND s.run_until IS NOT NULL
WHERE p.owner_id = ?;

-- name: repair_buffered_without_slot
SELECT DISTINCT f.tenant_id, f.trigger_id
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state = 'held' AND f.not_before IS NULL
LEFT JOIN in_flight AS s ON s.tenant_id = f.tenant_id AND s.trigger_id = f.trigger_id
WHERE p.owner_id = ? AND f.held_reason = 'overlap' AND s.tenant_id IS NULL
LIMIT ?;

-- name: repair_stopped_waiting
SELECT DISTINCT f.tenant_id, f.trigger_id, f.partition_id, t.state
FROM partition_lease AS p
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = p.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state IN ('held', 'ready', 'queued')
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
WHERE p.owner_id = ?
  AND (t.state = 'deleted' OR (t.state = 'paused' AND f.sequence = 0))
LIMIT ?;

-- name: repair_releasable_tenants
WITH RECURSIVE tenants (tenant_id) AS (
  SELECT min(tenant_id) FROM fire INDEXED BY fire_releasable
  WHERE state = 'held' AND held_reason = 'lane_rate'
  UNION ALL
  SELECT (
    SELECT min(f.tenant_id) FROM fire AS f INDEXED BY fire_releasable
    WHERE f.state = 'held' AND f.held_reason = 'lane_rate' AND f.tenant_id > tenants.tenant_id
  )
  FROM tenants WHERE tenants.tenant_id IS NOT NULL
)
SELECT tenant_id FROM tenants WHERE tenant_id IS NOT NULL;

-- name: repair_next_releasable_trigger
SELECT min(trigger_id) FROM fire INDEXED BY fire_releasable
WHERE state = 'held' AND held_reason = 'lane_rate' AND tenant_id = ? AND lane = 'catch_up'
  AND trigger_id > ?;

-- name: repair_releasable_fires
SELECT f.scheduled_instant, f.sequence, f.next_attempt_n, f.partition_id, f.version, t.state
FROM fire AS f INDEXED BY fire_releasable
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
WHERE f.state = 'held' AND f.held_reason = 'lane_rate' AND f.tenant_id = ?
  AND f.lane = 'catch_up' AND f.trigger_id = ? AND f.due_at <= ?
  AND NOT EXISTS (
    SELECT 1 FROM gap AS g
    WHERE g.tenant_id = f.tenant_id AND g.trigger_id = f.trigger_id
      AND g.planned_through < f.scheduled_instant
  )
ORDER BY f.scheduled_instant
LIMIT ?;

-- name: repair_unpublished_catch_up
SELECT 1 FROM fire INDEXED BY fire_waiting
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND partition_id = ? AND state = 'ready' AND lane = 'catch_up'
  AND tenant_id = ? AND trigger_id = ?
LIMIT 1;

-- name: repair_released
SELECT window_at, released FROM quota_window
WHERE tenant_id = ? AND lane = 'catch_up' AND window_at >= ?;

-- name: repair_count_release!
INSERT INTO quota_window (tenant_id, lane, window_at, released) VALUES (?, 'catch_up', ?, ?)
ON CONFLICT (tenant_id, lane, window_at) DO UPDATE SET released = released + excluded.released;

-- name: repair_forget_windows!
DELETE FROM quota_window WHERE tenant_id = ? AND lane = 'catch_up' AND window_at < ?;

-- name: repair_gaps
SELECT g.tenant_id, g.trigger_id, g.after_instant, g.through_instant, g.partition_id, g.version,
  g.planned_through, g.instant_count, g.planned_count, g.detected_at
FROM partition_lease AS p
CROSS JOIN gap AS g ON g.partition_id = p.partition_id
JOIN trigger AS t ON t.tenant_id = g.tenant_id AND t.trigger_id = g.trigger_id
WHERE p.owner_id = ? AND t.state NOT IN ('paused', 'deleted')
ORDER BY g.planned_count, g.detected_at
LIMIT ?;

-- name: repair_move_gap!
UPDATE gap SET planned_through = ?, planned_count = planned_count + ?
WHERE tenant_id = ? AND trigger_id = ? AND after_instant = ?;

-- name: repair_hold_for_lane!
UPDATE fire SET held_reason = 'lane_rate', not_before = NULL, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND state = 'held';

-- name: repair_hold_for_overlap!
UPDATE fire SET held_reason = 'overlap', not_before = NULL, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND state = 'held';
