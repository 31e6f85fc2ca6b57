-- name: run_next_sequence
UPDATE tenant SET next_sequence = next_sequence + 1 WHERE tenant_id = ?
RETURNING next_sequence - 1;

-- name: run_schedule_is_due
SELECT 1 FROM due_index_row WHERE tenant_id = ? AND trigger_id = ? AND next_due_at <= ?;

-- name: run_insert_fire!
-- No grace and no end of its tries: a run that somebody asked for is never missed.
INSERT INTO fire (
  tenant_id, trigger_id, scheduled_instant, sequence, partition_id, version, origin, lane, state,
  held_reason, not_before, due_at, decided_at, committed_at, payload_ref, tzdata_version,
  changed_at
) VALUES (
  :tenant_id, :trigger_id, :scheduled_us, :sequence, :partition_id, :version, 'manual', 'on_time',
  'held', 'due_later', :scheduled_us, :scheduled_us, :scheduled_us, :scheduled_us, :payload_ref,
  :tzdata_version, :scheduled_us
);

-- name: cancel_find_fire
SELECT t.name, f.version, f.state, f.next_attempt_n, f.through_instant
FROM fire AS f
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
WHERE f.tenant_id = ? AND f.trigger_id = ? AND f.scheduled_instant = ? AND f.sequence = ?;
