-- name: outbox_pending
SELECT outbox_id, tenant_id, trigger_id, event, body, created_at
FROM outbox WHERE sent_at IS NULL ORDER BY outbox_id LIMIT :row_limit;

-- name: outbox_mark_sent!
UPDATE outbox SET sent_at = :now_us
WHERE outbox_id IN (SELECT value FROM json_each(:outbox_ids)) AND sent_at IS NULL;
