-- name: events_publish!
INSERT INTO event_log (event_id, event, tenant_id, trigger_id, body, at)
VALUES (:event_id, :event, :tenant_id, :trigger_id, :body, :at_us)
ON CONFLICT (event_id) DO NOTHING;

-- name: events_forget!
DELETE FROM event_log
WHERE event_offset <= (SELECT max(event_offset) FROM event_log) - :kept;

-- name: events_outrun
SELECT 1 FROM relay_cursor WHERE relay_id = :relay_id AND reading > :number;

-- name: events_read
SELECT event_offset, event_id, event, tenant_id, trigger_id, body, at
FROM event_log WHERE event_offset > :after ORDER BY event_offset LIMIT :row_limit;

-- name: events_kept
SELECT
  (SELECT min(event_offset) - 1 FROM event_log),
  (SELECT max(event_offset) FROM event_log);
