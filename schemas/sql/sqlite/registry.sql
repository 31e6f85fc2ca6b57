-- name: registry_tenant
SELECT tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s,
  revision
FROM tenant WHERE tenant_id = ?;

-- name: registry_tenants
SELECT tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s,
  revision
FROM tenant WHERE tenant_id > :after ORDER BY tenant_id LIMIT :row_limit;

-- name: registry_tenants_among
-- One seek for each that is given, in their order.
SELECT tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s,
  revision
FROM json_each(:among) AS n
CROSS JOIN tenant ON tenant_id = n.value
LIMIT :row_limit;

-- name: registry_put_tenant!
INSERT INTO tenant (
  tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s,
  created_at
) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id) DO UPDATE SET
  quota_triggers = excluded.quota_triggers,
  quota_dispatch_per_s = excluded.quota_dispatch_per_s,
  quota_inflight = excluded.quota_inflight,
  catchup_rate_pct = excluded.catchup_rate_pct,
  smear_s = excluded.smear_s,
  revision = revision + 1;

-- name: registry_put_payload!
INSERT OR IGNORE INTO payload (payload_ref, tenant_id, sealed, created_at) VALUES (?, ?, ?, ?);

-- name: registry_payload
SELECT sealed FROM payload WHERE payload_ref = ?;

-- name: registry_delete_payload!
DELETE FROM payload WHERE payload_ref = ?;

-- name: registry_trigger
SELECT trigger_id, state, current_version, revision, partition_id
FROM trigger WHERE tenant_id = ? AND name = ? AND state <> 'deleted';

-- name: registry_generation
SELECT count(*) FROM trigger WHERE tenant_id = ? AND name = ?;

-- name: registry_horizon
SELECT t.state, v.catchup_horizon_s, v.horizon_source
FROM trigger AS t
JOIN trigger_version AS v
  ON v.tenant_id = t.tenant_id AND v.trigger_id = t.trigger_id AND v.version = t.current_version
WHERE t.tenant_id = ? AND t.trigger_id = ?;

-- name: registry_live_count
SELECT live_triggers, quota_triggers FROM tenant WHERE tenant_id = ?;

-- name: registry_add_live!
UPDATE tenant SET live_triggers = live_triggers + ? WHERE tenant_id = ?;

-- name: registry_insert_trigger!
INSERT INTO trigger (
  tenant_id, trigger_id, name, state, current_version, revision, partition_id, decided_floor_at,
  created_at
) VALUES (?, ?, ?, 'live', 1, 1, ?, ?, ?);

-- name: registry_change_trigger!
UPDATE trigger
SET state = ?, current_version = ?, revision = ?, pause_note = ?, quarantine_error = NULL,
  deleted_at = ?
WHERE tenant_id = ? AND trigger_id = ?;

-- name: registry_insert_version!
INSERT INTO trigger_version (
  tenant_id, trigger_id, version, recurrence, zone, gap_rule, fold_rule, starts_at, ends_at,
  exclusions, max_fires, smear_s, target_id, payload_ref, missed_policy, overlap_policy,
  catchup_horizon_s, horizon_source, attempt_budget, retry_window_s, run_timeout_s,
  outcome_window_s, response_is_outcome, calendars, fingerprint, created_by, created_at
) VALUES (
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);

-- name: registry_version_identity
SELECT fingerprint, payload_ref FROM trigger_version
WHERE tenant_id = ? AND trigger_id = ? AND version = ?;

-- name: registry_change_due_row!
UPDATE due_index_row
SET version = ?, revision = ?, span_from_at = ?, next_due_at = ?
WHERE tenant_id = ? AND trigger_id = ?;

-- name: registry_forget_fires!
UPDATE trigger SET fired_floor = fired_floor - (
  SELECT fired_count FROM due_index_row AS d
  WHERE d.tenant_id = trigger.tenant_id AND d.trigger_id = trigger.trigger_id
)
WHERE tenant_id = ? AND trigger_id = ?;

-- name: registry_reset_fired_count!
UPDATE due_index_row SET fired_count = 0 WHERE tenant_id = ? AND trigger_id = ?;

-- name: registry_drop_due_row!
DELETE FROM due_index_row WHERE tenant_id = ? AND trigger_id = ?;

-- name: registry_tenants_from
SELECT tenant_id FROM tenant WHERE tenant_id >= ? ORDER BY tenant_id;

-- name: registry_triggers
-- By name, through the index of the undeleted names.
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, d.decided_through, d.next_due_at, d.fired_count, t.created_at
FROM trigger AS t INDEXED BY trigger_name
CROSS JOIN due_index_row AS d ON d.tenant_id = t.tenant_id AND d.trigger_id = t.trigger_id
WHERE t.tenant_id = :tenant_id
  AND t.name >= :from_name AND t.name < :below_name AND t.name <> :after_name
  AND t.state <> 'deleted'
  AND (:states IS NULL OR t.state IN (SELECT value FROM json_each(:states)))
  AND (:target_id IS NULL OR :target_id = (
    SELECT v.target_id FROM trigger_version AS v
    WHERE v.tenant_id = t.tenant_id AND v.trigger_id = t.trigger_id
      AND v.version = t.current_version
  ))
ORDER BY t.name
LIMIT :row_limit;

-- name: registry_find_triggers
-- Two seeks for each of the tenants that are given: by name and by id.
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, d.decided_through, d.next_due_at, d.fired_count, t.created_at
FROM (
  SELECT t.tenant_id, t.trigger_id
  FROM json_each(:tenants) AS n
  CROSS JOIN trigger AS t INDEXED BY trigger_name
    ON t.tenant_id = n.value AND t.name = :name AND t.state <> 'deleted'
  UNION
  SELECT t.tenant_id, t.trigger_id
  FROM json_each(:tenants) AS n
  CROSS JOIN trigger AS t
    ON t.tenant_id = n.value AND t.trigger_id = :name AND t.state <> 'deleted'
) AS found
CROSS JOIN trigger AS t ON t.tenant_id = found.tenant_id AND t.trigger_id = found.trigger_id
CROSS JOIN due_index_row AS d ON d.tenant_id = t.tenant_id AND d.trigger_id = t.trigger_id
WHERE (t.tenant_id, t.trigger_id) > (:after_tenant_id, :after_trigger_id)
ORDER BY t.tenant_id, t.trigger_id
LIMIT :row_limit;

-- name: registry_find_deleted
-- In the columns of registry_find_triggers; the due row is gone.
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, t.deleted_at, NULL, 0, t.created_at
FROM json_each(:tenants) AS n
CROSS JOIN trigger AS t
  ON t.tenant_id = n.value AND t.trigger_id = :name AND t.state = 'deleted';

-- name: registry_spans
SELECT revision, from_at, kind, version, resume_rule, note, actor
FROM trigger_span
WHERE tenant_id = ? AND trigger_id = ?
ORDER BY revision;

-- name: registry_pause_note
SELECT pause_note FROM trigger WHERE tenant_id = ? AND trigger_id = ?;

