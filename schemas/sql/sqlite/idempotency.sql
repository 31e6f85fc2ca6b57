-- name: idempotency_find
SELECT fingerprint, shares, results FROM idempotency_key
WHERE principal_id = ? AND idempotency_key = ? AND created_at > ?;

-- name: idempotency_forget!
DELETE FROM idempotency_key WHERE (principal_id, idempotency_key) IN (
  SELECT principal_id, idempotency_key FROM idempotency_key
  WHERE created_at <= ? ORDER BY created_at LIMIT ?
);

-- name: idempotency_keep!
-- The key of an expired row may come again before the row is deleted.
INSERT OR REPLACE INTO idempotency_key (
  principal_id, idempotency_key, fingerprint, shares, results, created_at
) VALUES (?, ?, ?, ?, ?, ?);
