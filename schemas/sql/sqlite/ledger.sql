-- name: ledger_mark_queued!
UPDATE fire SET state = 'queued', queued_at = ?, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?
  AND state = 'ready' AND next_attempt_n = ?;

-- name: ledger_fire_for_claim
SELECT f.state, f.next_attempt_n, f.lane, f.origin, f.version, f.due_at, f.grace_until,
  f.first_dispatched_at, f.payload_ref, f.trace_parent, f.tzdata_version, t.state, t.name,
  f.retry_until
FROM fire AS f
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
WHERE f.tenant_id = ? AND f.trigger_id = ? AND f.scheduled_instant = ? AND f.sequence = ?;

-- name: ledger_newer_fire
SELECT scheduled_instant FROM fire
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant > ? AND sequence = 0
  AND state <> 'not_dispatched'
ORDER BY scheduled_instant
LIMIT 1;

-- name: ledger_start_attempt!
UPDATE fire
SET state = 'dispatching', not_before = ?, held_reason = NULL,
  first_dispatched_at = coalesce(first_dispatched_at, ?), changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: ledger_insert_attempt!
INSERT INTO attempt (
  tenant_id, trigger_id, scheduled_instant, sequence, n, dispatched_at, claimed_until
) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: ledger_finish_attempt!
UPDATE attempt
SET finished_at = ?, transport_result = ?, http_status = ?, error = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ? AND n = ?
  AND (finished_at IS NULL OR error = 'claim expired');

-- name: ledger_take_attempt_back
-- By its claim too: the number comes again, and a repeated result must not end the next one.
DELETE FROM attempt
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ? AND n = ?
  AND finished_at IS NULL AND claimed_until = ?
RETURNING dispatched_at;

-- name: ledger_put_back!
UPDATE fire
SET state = 'held', held_reason = 'no_resources', not_before = ?, changed_at = ?,
  first_dispatched_at = CASE WHEN next_attempt_n > 1 THEN first_dispatched_at END
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: ledger_fire_for_finish
SELECT state, next_attempt_n, lane, version, due_at, first_dispatched_at, retry_until
FROM fire
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: ledger_move_fire!
UPDATE fire
SET state = ?, held_reason = ?, not_before = ?, next_attempt_n = ?, changed_at = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: ledger_move_retry_end!
UPDATE fire SET retry_until = ?
WHERE tenant_id = ? AND trigger_id = ? AND scheduled_instant = ? AND sequence = ?;

-- name: ledger_insert_outcome!
INSERT OR IGNORE INTO work_outcome (
  tenant_id, trigger_id, scheduled_instant, sequence, terminal_state, reported_at, reported_by,
  cause
) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: ledger_target
SELECT endpoint, timeout_s, secret_ref, previous_secret_ref, verification_state
FROM target WHERE tenant_id = ? AND target_id = ?;
