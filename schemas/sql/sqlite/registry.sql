-- name: registry_tenant
SELECT tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s
FROM tenant WHERE tenant_id = ?;

-- name: registry_tenants
SELECT tenant_id, quota_triggers, quota_dispatch_per_s, quota_inflight, catchup_rate_pct, smear_s
FROM tenant ORDER BY tenant_id;

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
  smear_s = excluded.smear_s;

-- name: registry_target
SELECT endpoint, timeout_s, kind, secret_ref, previous_secret_ref
FROM target WHERE tenant_id = ? AND target_id = ?;

-- name: registry_targets
SELECT target_id, endpoint, timeout_s, kind FROM target WHERE tenant_id = ? ORDER BY target_id;

-- name: registry_put_target!
INSERT INTO target (
  tenant_id, target_id, kind, endpoint, timeout_s, secret_ref, previous_secret_ref, verified_at,
  verification_state, created_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'allow_listed', ?)
ON CONFLICT (tenant_id, target_id) DO UPDATE SET
  kind = excluded.kind,
  endpoint = excluded.endpoint,
  timeout_s = excluded.timeout_s,
  secret_ref = excluded.secret_ref,
  previous_secret_ref = excluded.previous_secret_ref;

-- name: registry_put_payload!
INSERT OR IGNORE INTO payload (payload_ref, tenant_id, sealed, created_at) VALUES (?, ?, ?, ?);

-- name: registry_payload
SELECT sealed FROM payload WHERE payload_ref = ?;

-- name: registry_trigger
SELECT trigger_id, state, current_version, revision, partition_id
FROM trigger WHERE tenant_id = ? AND name = ? AND state <> 'deleted';

-- name: registry_generation
SELECT count(*) FROM trigger WHERE tenant_id = ? AND name = ?;

-- name: registry_live_count
SELECT count(*) FROM trigger WHERE tenant_id = ? AND state <> 'deleted';

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
  outcome_window_s, response_is_outcome, fingerprint, created_by, created_at
) VALUES (
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
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

-- name: registry_triggers
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, d.decided_through, d.next_due_at, d.fired_count, t.created_at
FROM trigger AS t
JOIN due_index_row AS d ON d.tenant_id = t.tenant_id AND d.trigger_id = t.trigger_id
WHERE (:tenant_id IS NULL OR t.tenant_id = :tenant_id)
  AND (t.tenant_id, t.name) > (:after_tenant, :after_name)
  AND t.state <> 'deleted'
ORDER BY t.tenant_id, t.name
LIMIT :limit;

-- name: registry_find_triggers
SELECT t.tenant_id, t.trigger_id, t.name, t.state, t.current_version, t.revision, t.partition_id,
  t.pause_note, t.quarantine_error, d.decided_through, d.next_due_at, d.fired_count, t.created_at
FROM trigger AS t
JOIN due_index_row AS d ON d.tenant_id = t.tenant_id AND d.trigger_id = t.trigger_id
WHERE t.state <> 'deleted'
  AND (:tenant_id IS NULL OR t.tenant_id = :tenant_id)
  AND (t.name = :name OR t.trigger_id = :name)
ORDER BY t.tenant_id
LIMIT 100;

-- name: registry_pause_note
SELECT pause_note FROM trigger WHERE tenant_id = ? AND trigger_id = ?;
