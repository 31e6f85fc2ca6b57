-- name: commit_epoch
SELECT epoch FROM partition_lease WHERE partition_id = ?;

-- name: commit_pin
SELECT version FROM tzdata_pin WHERE pin_id = 1;

-- name: commit_due_rows
SELECT tenant_id, trigger_id, version, span_from_at, decided_through, pending_catch_up,
  fired_count
FROM due_index_row
WHERE partition_id = ? AND next_due_at <= ?
ORDER BY next_due_at
LIMIT ?;

-- name: commit_due_row
SELECT tenant_id, trigger_id, version, span_from_at, decided_through, pending_catch_up,
  fired_count
FROM due_index_row
WHERE tenant_id = ? AND trigger_id = ?;

-- name: commit_spans_newest_first
SELECT from_at, kind, version, resume_rule
FROM trigger_span
WHERE tenant_id = ? AND trigger_id = ?
ORDER BY revision DESC;

-- name: commit_insert_fire!
INSERT OR IGNORE INTO fire (
  tenant_id, trigger_id, scheduled_instant, sequence, partition_id, version, origin, lane, state,
  non_dispatch_cause, cause_detail, held_reason, not_before, due_at, decided_at, committed_at,
  grace_until, retry_until, coalesced_into, through_instant, instant_count, payload_ref,
  tzdata_version, changed_at
) VALUES (?, ?, ?, 0, ?, ?, 'sched', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: commit_insert_gap!
INSERT OR IGNORE INTO gap (
  tenant_id, trigger_id, after_instant, through_instant, partition_id, version, policy,
  detected_at, planned_through, instant_count
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: commit_move_due_row!
UPDATE due_index_row
SET decided_through = ?, next_due_at = ?, pending_catch_up = ?, fired_count = fired_count + ?
WHERE tenant_id = ? AND trigger_id = ?;

-- name: commit_next_due_of_partition
SELECT min(next_due_at) FROM due_index_row WHERE partition_id = ? AND next_due_at IS NOT NULL;

-- name: commit_finish_trigger!
UPDATE trigger SET state = 'finished' WHERE tenant_id = ? AND trigger_id = ? AND state = 'live';

-- name: commit_unfinish_trigger!
UPDATE trigger SET state = 'live' WHERE tenant_id = ? AND trigger_id = ? AND state = 'finished';

-- name: commit_pending_fire
SELECT state, next_attempt_n FROM fire
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = 0;

-- name: commit_absorb_fire!
UPDATE fire
SET state = 'not_dispatched', non_dispatch_cause = 'coalesced', coalesced_into = ?,
  cause_detail = NULL, held_reason = NULL, not_before = NULL, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = 0;

-- name: commit_quarantine_trigger
UPDATE trigger
SET state = 'quarantined', quarantine_error = ?, revision = revision + 1
WHERE tenant_id = ? AND trigger_id = ?
RETURNING revision, name;

-- name: commit_quarantine_due_row!
UPDATE due_index_row
SET next_due_at = NULL, revision = ?, span_from_at = ?
WHERE tenant_id = ? AND trigger_id = ?;

-- name: commit_insert_span!
INSERT INTO trigger_span (
  tenant_id, trigger_id, revision, from_at, kind, version, resume_rule, note, actor
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: commit_insert_outbox!
INSERT INTO outbox (tenant_id, trigger_id, event, body, created_at) VALUES (?, ?, ?, ?, ?);
