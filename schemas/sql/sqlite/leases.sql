-- name: lease_owner_put!
INSERT INTO lease_owner (owner_id, expires_at) VALUES (:owner_id, :expires_us)
ON CONFLICT (owner_id) DO UPDATE SET expires_at = excluded.expires_at;

-- name: lease_owner_prune!
DELETE FROM lease_owner WHERE expires_at < :expired_us OR expires_at > :too_far_us;

-- name: lease_owner_delete!
DELETE FROM lease_owner WHERE owner_id = :owner_id;

-- name: lease_owner_count$
SELECT count(*) FROM lease_owner;

-- name: lease_renew
UPDATE partition_lease SET expires_at = :expires_us WHERE owner_id = :owner_id
RETURNING partition_id, epoch;

-- name: lease_free
SELECT partition_id, owner_id FROM partition_lease
WHERE owner_id IS NULL OR expires_at < :expired_us OR expires_at > :too_far_us
ORDER BY partition_id LIMIT :row_limit;

-- name: lease_acquire
UPDATE partition_lease
SET owner_id = :owner_id, expires_at = :expires_us, epoch = epoch + 1,
  epsilon_ms_at_grant = :epsilon_ms
WHERE partition_id IN (SELECT value FROM json_each(:partition_ids))
RETURNING partition_id, epoch;

-- name: lease_give_up!
UPDATE partition_lease SET owner_id = NULL, expires_at = 0
WHERE owner_id = :owner_id
  AND partition_id IN (SELECT value FROM json_each(:partition_ids));

-- name: lease_owned
SELECT partition_id FROM partition_lease WHERE owner_id = :owner_id ORDER BY partition_id;

-- name: lease_all
SELECT partition_id, owner_id, epoch, expires_at FROM partition_lease ORDER BY partition_id;
