-- What a look from outside reads: restore and doctor. Every statement fits schema version 1 too.

-- name: inspect_owners
SELECT owner_id, count(*), min(expires_at), max(epsilon_ms_at_grant)
FROM partition_lease WHERE owner_id IS NOT NULL
GROUP BY owner_id ORDER BY owner_id;

-- One sealed value a tenant: a target's secret, since every tenant that has payloads has one.
-- name: inspect_sealed
SELECT p.tenant_id, p.payload_ref, p.sealed
FROM tenant AS t JOIN payload AS p ON p.payload_ref = (
  SELECT secret_ref FROM target
  WHERE target.tenant_id = t.tenant_id AND secret_ref IS NOT NULL LIMIT 1
)
ORDER BY p.tenant_id LIMIT :limit;

-- name: inspect_quarantined
SELECT tenant_id, name FROM trigger WHERE state = 'quarantined'
ORDER BY tenant_id, name LIMIT :limit;

-- name: inspect_ahead
SELECT count(*), max(decided_through) FROM due_index_row WHERE decided_through > :now_us;

-- name: inspect_dead_letters
SELECT count(*), min(created_at) FROM dead_letter;

-- name: inspect_outbox
SELECT count(*), min(created_at) FROM outbox WHERE sent_at IS NULL;
