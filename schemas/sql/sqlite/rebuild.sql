-- name: rebuild_drop_rows!
DELETE FROM due_index_row;

-- name: rebuild_triggers
SELECT t.tenant_id, t.trigger_id, t.partition_id, t.current_version, t.revision,
  t.decided_floor_at, t.fired_floor, s.from_at
FROM trigger AS t
JOIN trigger_span AS s
  ON s.tenant_id = t.tenant_id AND s.trigger_id = t.trigger_id AND s.revision = t.revision
WHERE t.state <> 'deleted';

-- name: rebuild_floors
SELECT decided_floor_at, fired_floor FROM trigger WHERE tenant_id = ? AND trigger_id = ?;

-- name: rebuild_newest_row
SELECT coalesce(through_instant, scheduled_instant) FROM fire
WHERE tenant_id = ? AND trigger_id = ? AND sequence = 0
ORDER BY scheduled_instant DESC LIMIT 1;

-- name: rebuild_heal_row!
UPDATE due_index_row SET decided_through = ?, pending_catch_up = ?, fired_count = ?
WHERE tenant_id = ? AND trigger_id = ?;

-- name: rebuild_ledger_facts
SELECT max(coalesce(through_instant, scheduled_instant)),
  total(CASE WHEN state <> 'not_dispatched' THEN 1 ELSE 0 END),
  max(CASE WHEN lane = 'catch_up' AND cause_detail = 'fire_once_now' AND next_attempt_n = 1
    AND state IN ('held', 'ready', 'queued') THEN scheduled_instant END)
FROM fire
WHERE tenant_id = ? AND trigger_id = ? AND sequence = 0;

-- name: rebuild_gap_facts
SELECT max(through_instant), total(instant_count - planned_count)
FROM gap
WHERE tenant_id = ? AND trigger_id = ?;

-- name: rebuild_insert_row!
INSERT INTO due_index_row (
  tenant_id, trigger_id, partition_id, version, revision, span_from_at, decided_through,
  next_due_at, pending_catch_up, fired_count
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: rebuild_due_rows
SELECT tenant_id, trigger_id, version, span_from_at, decided_through, pending_catch_up,
  fired_count, next_due_at
FROM due_index_row;

-- name: rebuild_set_next_due!
UPDATE due_index_row SET next_due_at = ? WHERE tenant_id = ? AND trigger_id = ?;

-- name: rebuild_pin!
INSERT INTO tzdata_pin (pin_id, version, adopted_at) VALUES (1, ?, ?)
ON CONFLICT (pin_id) DO UPDATE SET version = excluded.version, adopted_at = excluded.adopted_at;

-- name: rebuild_pin_first!
INSERT OR IGNORE INTO tzdata_pin (pin_id, version, adopted_at) VALUES (1, ?, ?);

-- name: due_give_back!
UPDATE due_index_row SET fired_count = fired_count - ? WHERE tenant_id = ? AND trigger_id = ?;

-- name: due_restore_pending!
-- As `rebuild_ledger_facts` finds it: a catch-up fire that was never attempted after all.
UPDATE due_index_row SET pending_catch_up = :scheduled_us
WHERE tenant_id = :tenant_id AND trigger_id = :trigger_id
  AND coalesce(pending_catch_up, :scheduled_us - 1) < :scheduled_us
  AND EXISTS (
    SELECT 1 FROM fire
    WHERE fire.tenant_id = :tenant_id AND fire.trigger_id = :trigger_id
      AND fire.scheduled_instant = :scheduled_us AND fire.sequence = 0
      AND fire.lane = 'catch_up' AND fire.cause_detail = 'fire_once_now'
      AND fire.next_attempt_n = 1
  );

-- name: due_clear_pending!
UPDATE due_index_row SET pending_catch_up = NULL
WHERE tenant_id = ? AND trigger_id = ? AND pending_catch_up = ?;
