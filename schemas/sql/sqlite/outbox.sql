-- name: outbox_pending
SELECT outbox_id, tenant_id, trigger_id, event, body, created_at
FROM outbox WHERE sent_at IS NULL ORDER BY outbox_id LIMIT :row_limit;

-- name: outbox_mark_sent!
UPDATE outbox SET sent_at = :now_us
WHERE outbox_id IN (SELECT value FROM json_each(:outbox_ids)) AND sent_at IS NULL;

-- name: outbox_forget!
-- The oldest that were sent, but for the newest events. Ids are never given again.
DELETE FROM outbox WHERE outbox_id IN (
  SELECT outbox_id FROM outbox
  WHERE outbox_id <= (SELECT max(outbox_id) FROM outbox) - :kept AND sent_at IS NOT NULL
  ORDER BY outbox_id
  LIMIT :row_limit
);

-- name: outbox_relay_stands
SELECT min(changed_at, oldest_new_at) FROM relay_cursor WHERE relay_id = :relay_id;

-- name: outbox_begin_reading
-- The largest integer: from now on every change of a fire is noted, the oldest of them.
INSERT INTO relay_cursor (relay_id, changed_at, oldest_new_at, reading)
VALUES (:relay_id, -9223372036854775808, 9223372036854775807, 1)
ON CONFLICT (relay_id) DO UPDATE SET
  changed_at = min(changed_at, oldest_new_at),
  oldest_new_at = excluded.oldest_new_at,
  reading = reading + 1
RETURNING changed_at, reading;

-- name: outbox_end_reading!
UPDATE relay_cursor
SET changed_at = min(oldest_new_at, :until_us), oldest_new_at = min(oldest_new_at, :until_us)
WHERE relay_id = :relay_id AND reading = :reading;
