-- name: principals_token
SELECT token_id, principal_id, created_by, created_at, expires_at, revoked_at
FROM token WHERE token_hash = ?;

-- name: principals_tokens
SELECT token_id, principal_id, created_by, created_at, expires_at, revoked_at
FROM token
WHERE (created_at, token_id) < (:before_us, :before_id)
ORDER BY created_at DESC, token_id DESC
LIMIT :row_limit;

-- name: principals_grants
SELECT principal_id, kind, tenant_id FROM "grant"
WHERE (principal_id, tenant_id, kind) > (:after_principal_id, :after_tenant_id, :after_kind)
ORDER BY principal_id, tenant_id, kind
LIMIT :row_limit;

-- name: principals_grants_of
SELECT principal_id, kind, tenant_id FROM "grant"
WHERE principal_id = :principal_id AND (tenant_id, kind) > (:after_tenant_id, :after_kind)
ORDER BY tenant_id, kind
LIMIT :row_limit;

-- name: principals_insert_principal!
INSERT OR IGNORE INTO principal (principal_id, created_by, created_at) VALUES (?, ?, ?);

-- name: principals_token_is_known
SELECT 1 FROM token WHERE token_id = ? OR token_hash = ?;

-- name: principals_token_by_id
SELECT principal_id, expires_at, revoked_at FROM token WHERE token_id = ?;

-- name: principals_live_tokens
SELECT token_id FROM token WHERE principal_id = ? AND revoked_at IS NULL;

-- name: principals_insert_token!
INSERT INTO token (
  token_id, principal_id, token_hash, created_by, created_at, expires_at
) VALUES (?, ?, ?, ?, ?, ?);

-- name: principals_revoke_token!
UPDATE token SET revoked_at = ? WHERE token_id = ?;

-- name: principals_grant_is_held
SELECT 1 FROM "grant" WHERE principal_id = ? AND tenant_id = ? AND kind = ?;

-- name: principals_insert_grant!
INSERT INTO "grant" (principal_id, tenant_id, kind, granted_by, granted_at)
VALUES (?, ?, ?, ?, ?);

-- name: principals_delete_grant!
DELETE FROM "grant" WHERE principal_id = ? AND tenant_id = ? AND kind = ?;
