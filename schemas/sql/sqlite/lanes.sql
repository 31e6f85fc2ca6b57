-- name: lane_publish!
INSERT INTO lane_message (lane, tenant_id, trigger_id, scheduled_instant, sequence, n, is_head)
VALUES (
  :lane, :tenant_id, :trigger_id, :scheduled_us, :sequence, :n,
  NOT EXISTS (
    SELECT 1 FROM lane_message
    WHERE lane = :lane AND tenant_id = :tenant_id AND trigger_id = :trigger_id
  )
)
ON CONFLICT DO NOTHING;

-- name: lane_has_deliverable$
SELECT EXISTS (
  SELECT 1 FROM lane_message
  WHERE lane IN (SELECT value FROM json_each(:lanes)) AND is_head = 1 AND leased_until <= :now_us
    AND tenant_id NOT IN (SELECT value FROM json_each(:without))
);

-- name: lane_lease
UPDATE lane_message SET leased_until = :leased_until_us
WHERE message_id IN (
  SELECT message_id FROM lane_message
  WHERE lane = :lane AND is_head = 1 AND leased_until <= :now_us
    AND tenant_id NOT IN (SELECT value FROM json_each(:without))
  ORDER BY message_id LIMIT :row_limit
)
RETURNING message_id, tenant_id, trigger_id, scheduled_instant, sequence, n;

-- name: lane_ack
DELETE FROM lane_message WHERE message_id IN (SELECT value FROM json_each(:message_ids))
RETURNING lane, tenant_id, trigger_id;

-- name: lane_promote!
UPDATE lane_message SET is_head = 1
WHERE message_id = (
  SELECT min(message_id) FROM lane_message
  WHERE lane = :lane AND tenant_id = :tenant_id AND trigger_id = :trigger_id
) AND is_head = 0;

-- name: lane_depth
SELECT lane, count(*) FROM lane_message GROUP BY lane;
