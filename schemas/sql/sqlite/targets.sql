-- name: registry_target
SELECT endpoint, timeout_s, kind, secret_ref, previous_secret_ref, verification_state,
  verified_at, checked_at, check_detail, revision
FROM target WHERE tenant_id = ? AND target_id = ?;

-- name: registry_targets
SELECT tenant_id, target_id, endpoint, timeout_s, kind, verification_state, verified_at,
  checked_at, check_detail, revision, created_at
FROM target
WHERE (tenant_id, target_id) > (:after_tenant_id, :after_target_id)
ORDER BY tenant_id, target_id
LIMIT :row_limit;

-- name: registry_targets_of
SELECT tenant_id, target_id, endpoint, timeout_s, kind, verification_state, verified_at,
  checked_at, check_detail, revision, created_at
FROM target
WHERE tenant_id = :tenant_id AND target_id > :after
ORDER BY target_id
LIMIT :row_limit;

-- name: registry_target_shown
-- In the columns of registry_targets.
SELECT tenant_id, target_id, endpoint, timeout_s, kind, verification_state, verified_at,
  checked_at, check_detail, revision, created_at
FROM target
WHERE tenant_id = :tenant_id AND target_id = :target_id;

-- name: targets_whole
-- Bounds that every id lies within stand for all tenants, so that one tenant is a seek.
SELECT tenant_id, target_id, endpoint, timeout_s, kind, secret_ref, previous_secret_ref,
  verification_state, verified_at, checked_at, check_detail, revision
FROM target
WHERE tenant_id BETWEEN coalesce(:tenant_id, '') AND coalesce(:tenant_id, char(1114111))
ORDER BY tenant_id, target_id;

-- name: registry_put_target!
INSERT INTO target (
  tenant_id, target_id, endpoint, timeout_s, kind, secret_ref, previous_secret_ref,
  verification_state, verified_at, checked_at, check_detail, revision, created_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
ON CONFLICT (tenant_id, target_id) DO UPDATE SET
  endpoint = excluded.endpoint,
  timeout_s = excluded.timeout_s,
  kind = excluded.kind,
  secret_ref = excluded.secret_ref,
  previous_secret_ref = excluded.previous_secret_ref,
  verification_state = excluded.verification_state,
  verified_at = excluded.verified_at,
  checked_at = excluded.checked_at,
  check_detail = excluded.check_detail,
  revision = revision + 1;

-- name: target_delete!
DELETE FROM target WHERE tenant_id = ? AND target_id = ?;

-- name: target_record_check!
UPDATE target SET verified_at = ?, checked_at = ?, check_detail = ?
WHERE tenant_id = ? AND target_id = ?;

-- name: target_set_ownership!
UPDATE target SET verification_state = ?, revision = revision + 1
WHERE tenant_id = ? AND target_id = ?;

-- name: target_used_now
SELECT t.name FROM trigger_version AS v
JOIN trigger AS t ON t.tenant_id = v.tenant_id AND t.trigger_id = v.trigger_id
WHERE v.tenant_id = :tenant_id AND v.target_id = :target_id
  AND t.current_version = v.version AND t.state <> 'deleted'
LIMIT 1;

-- name: target_used_by_fires
-- Through what waits, not through all that was ever fired.
SELECT t.name FROM fire AS f INDEXED BY fire_waiting
JOIN trigger AS t ON t.tenant_id = f.tenant_id AND t.trigger_id = f.trigger_id
WHERE (f.state = 'held' OR f.state = 'ready' OR f.state = 'queued' OR f.state = 'dispatching')
  AND f.tenant_id = :tenant_id AND t.state <> 'deleted'
  AND (f.trigger_id, f.version) IN (
    SELECT trigger_id, version FROM trigger_version
    WHERE tenant_id = :tenant_id AND target_id = :target_id
  )
LIMIT 1;

-- name: target_used_by_gaps
SELECT t.name FROM gap AS g
JOIN trigger AS t ON t.tenant_id = g.tenant_id AND t.trigger_id = g.trigger_id
WHERE g.tenant_id = :tenant_id AND t.state <> 'deleted'
  AND (g.trigger_id, g.version) IN (
    SELECT trigger_id, version FROM trigger_version
    WHERE tenant_id = :tenant_id AND target_id = :target_id
  )
LIMIT 1;

-- name: host_is_allowed
SELECT 1 FROM allowed_host WHERE host = ? AND tenant_id IN (?, '');

-- name: host_is_listed
SELECT 1 FROM allowed_host WHERE tenant_id = ? AND host = ?;

-- name: host_allow!
INSERT INTO allowed_host (tenant_id, host, allowed_by, allowed_at) VALUES (?, ?, ?, ?);

-- name: host_disallow!
DELETE FROM allowed_host WHERE tenant_id = ? AND host = ?;

-- name: registry_allowed_hosts
SELECT tenant_id, host, allowed_by, allowed_at FROM allowed_host
WHERE (host, tenant_id) > (:after_host, :after_tenant_id)
ORDER BY host, tenant_id
LIMIT :row_limit;
