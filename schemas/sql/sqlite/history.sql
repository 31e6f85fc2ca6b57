-- name: history_fires
-- A tenant's fires, newest first; the bound is exclusive.
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id
  AND (scheduled_instant, trigger_id, sequence)
    < (:before_us, :before_trigger_id, :before_sequence)
  AND scheduled_instant >= :from_us
  AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
  AND (:causes IS NULL OR non_dispatch_cause IN (SELECT value FROM json_each(:causes)))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
ORDER BY scheduled_instant DESC, trigger_id DESC, sequence DESC
LIMIT :row_limit;

-- name: history_fires_troubled
-- As history_fires, through the index of the ends that somebody may have to look at.
SELECT * FROM fire_history
WHERE (state = 'failed' OR state = 'refused' OR state = 'unknown' OR state = 'undelivered'
    OR state = 'not_dispatched')
  AND tenant_id = :tenant_id
  AND (scheduled_instant, trigger_id, sequence)
    < (:before_us, :before_trigger_id, :before_sequence)
  AND scheduled_instant >= :from_us
  AND +state IN (SELECT value FROM json_each(:states))
  AND (:causes IS NULL OR non_dispatch_cause IN (SELECT value FROM json_each(:causes)))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
ORDER BY scheduled_instant DESC, trigger_id DESC, sequence DESC
LIMIT :row_limit;

-- name: history_fires_of_trigger
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id
  AND (scheduled_instant, sequence) < (:before_us, :before_sequence)
  AND scheduled_instant >= :from_us
  AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
  AND (:causes IS NULL OR non_dispatch_cause IN (SELECT value FROM json_each(:causes)))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
ORDER BY scheduled_instant DESC, sequence DESC
LIMIT :row_limit;

-- name: history_fires_waiting
-- Newest first, through the index of the fires that still wait, which holds the whole key.
SELECT fire_history.* FROM (
  SELECT tenant_id, trigger_id, scheduled_instant, sequence FROM fire
  WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
    AND +state IN (SELECT value FROM json_each(:states))
    AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
    AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
    AND (+scheduled_instant, tenant_id, trigger_id, sequence)
      < (:before_us, :before_tenant_id, :before_trigger_id, :before_sequence)
    AND +scheduled_instant >= :from_us
  ORDER BY scheduled_instant DESC, tenant_id DESC, trigger_id DESC, sequence DESC
  LIMIT :row_limit
) AS page
CROSS JOIN fire_history USING (tenant_id, trigger_id, scheduled_instant, sequence)
ORDER BY
  page.scheduled_instant DESC, page.tenant_id DESC, page.trigger_id DESC, page.sequence DESC;

-- name: history_ranges_over
-- A tenant's range rows that begin before `from_us` and reach it. The plus signs keep to the
-- ranges' index.
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id AND through_instant >= :from_us
  AND +scheduled_instant < :from_us
  AND (+scheduled_instant, trigger_id, sequence)
    < (:before_us, :before_trigger_id, :before_sequence)
  AND (:states IS NULL OR +state IN (SELECT value FROM json_each(:states)))
  AND (:causes IS NULL OR non_dispatch_cause IN (SELECT value FROM json_each(:causes)))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
ORDER BY +scheduled_instant DESC, trigger_id DESC, sequence DESC
LIMIT :row_limit;

-- name: history_ranges_over_of_trigger
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id AND through_instant >= :from_us
  AND +scheduled_instant < :from_us
  AND (+scheduled_instant, sequence) < (:before_us, :before_sequence)
  AND (:states IS NULL OR +state IN (SELECT value FROM json_each(:states)))
  AND (:causes IS NULL OR non_dispatch_cause IN (SELECT value FROM json_each(:causes)))
  AND (:lanes IS NULL OR lane IN (SELECT value FROM json_each(:lanes)))
ORDER BY +scheduled_instant DESC, sequence DESC
LIMIT :row_limit;

-- name: history_tenants
SELECT tenant_id FROM tenant;

-- name: history_tenant_of_trigger
SELECT tenant_id FROM trigger WHERE trigger_id = :trigger_id;

-- name: history_changed_since
-- The first condition is what the index is sought by.
SELECT * FROM fire_history
WHERE changed_at >= :changed_us
  AND (changed_at, tenant_id, trigger_id, scheduled_instant, sequence)
    > (:changed_us, :tenant_id, :trigger_id, :scheduled_us, :sequence)
ORDER BY changed_at, tenant_id, trigger_id, scheduled_instant, sequence LIMIT :row_limit;

-- name: history_newest_live_row
-- Rows at sequence 0 are disjoint: only the newest that begins by the instant can cover it.
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id
  AND scheduled_instant <= :instant_us AND sequence = 0
ORDER BY scheduled_instant DESC LIMIT 1;

-- name: history_fire
SELECT * FROM fire_history
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id
  AND scheduled_instant = :scheduled_us AND sequence = :sequence;

-- name: history_attempts
SELECT n, dispatched_at, claimed_until, finished_at, transport_result, http_status, error
FROM attempt
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id
  AND scheduled_instant = :scheduled_us AND sequence = :sequence
ORDER BY n;

-- name: history_gaps
SELECT tenant_id, trigger_id, version, after_instant, through_instant, detected_at,
  planned_through, instant_count, planned_count
FROM gap
WHERE planned_through < through_instant AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
ORDER BY tenant_id, trigger_id, after_instant;

-- name: history_backlog
-- SQLite takes the partial index only when its own condition is repeated to the letter.
SELECT lane, count(*) FROM fire
WHERE (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
  AND state <> 'dispatching'
  AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
GROUP BY lane;

-- name: history_backlog_of_trigger
-- Through what waits in its partition; the cross join keeps SQLite from reading all fires first.
SELECT f.lane, count(*)
FROM trigger AS t
CROSS JOIN fire AS f INDEXED BY fire_waiting ON f.partition_id = t.partition_id
  AND (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.state IN ('held', 'ready', 'queued')
  AND f.tenant_id = t.tenant_id AND f.trigger_id = t.trigger_id
WHERE t.tenant_id = :tenant_id AND t.trigger_id = :trigger_id
GROUP BY f.lane;

-- name: history_gap_remainder
SELECT coalesce(sum(instant_count - planned_count), 0) FROM gap
WHERE planned_through < through_instant
  AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
  AND (:trigger_id IS NULL OR trigger_id = :trigger_id);

-- name: history_upcoming
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, d.decided_through, d.next_due_at, d.fired_count, t.created_at
FROM (
  SELECT * FROM due_index_row
  WHERE tenant_id = :tenant_id AND next_due_at <= :through_us
  ORDER BY next_due_at, trigger_id
  LIMIT :row_limit
) AS d
CROSS JOIN trigger AS t ON t.tenant_id = d.tenant_id AND t.trigger_id = d.trigger_id
ORDER BY d.next_due_at, d.trigger_id;

-- name: history_oldest_undispatched_due$
-- One seek a partition and state; of the held fires only those that wait for a time are read: a
-- manual run, or what an edit kept, waits for the owner when its time has come.
SELECT min(due_at) FROM (
  SELECT min(due_at) AS due_at FROM fire
  WHERE partition_id IN (SELECT partition_id FROM partition_lease)
    AND (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
    AND state IN ('ready', 'queued', 'dispatching')
    AND lane = 'on_time' AND first_dispatched_at IS NULL
  UNION ALL
  SELECT min(due_at) FROM fire
  WHERE partition_id IN (SELECT partition_id FROM partition_lease)
    AND (state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching')
    AND state = 'held' AND not_before IS NOT NULL
    AND lane = 'on_time' AND first_dispatched_at IS NULL
  UNION ALL
  SELECT min((
    SELECT min(next_due_at) FROM due_index_row
    WHERE partition_id = partition_lease.partition_id AND next_due_at IS NOT NULL
  )) FROM partition_lease
);

-- name: history_decided_ahead
SELECT count(*), max(decided_through) FROM due_index_row WHERE decided_through > ?;
