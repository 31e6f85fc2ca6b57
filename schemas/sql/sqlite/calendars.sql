-- name: calendar_current
SELECT c.revision, v.rules, v.own_dates
FROM calendar AS c
JOIN calendar_version AS v
  ON v.tenant_id = c.tenant_id AND v.calendar_id = c.calendar_id AND v.revision = c.revision
WHERE c.tenant_id = ? AND c.calendar_id = ?;

-- name: calendar_newest_revision
-- Of a deleted one too: its versions stay, for the triggers' versions that name them.
SELECT coalesce(max(revision), 0) FROM calendar_version WHERE tenant_id = ? AND calendar_id = ?;

-- name: calendar_put!
INSERT INTO calendar (tenant_id, calendar_id, revision, created_at) VALUES (?, ?, ?, ?)
ON CONFLICT (tenant_id, calendar_id) DO UPDATE SET revision = excluded.revision;

-- name: calendar_insert_version!
INSERT INTO calendar_version (
  tenant_id, calendar_id, revision, rules, own_dates, dates, created_by, created_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: calendar_delete!
DELETE FROM calendar WHERE tenant_id = ? AND calendar_id = ?;

-- name: calendar_dates
SELECT dates FROM calendar_version WHERE tenant_id = ? AND calendar_id = ? AND revision = ?;

-- name: calendar_users
-- Triggers whose current version names the calendar, through the index of versions that name any.
SELECT t.name, t.trigger_id, t.state, t.current_version, t.revision, t.partition_id
FROM trigger_version AS v INDEXED BY trigger_version_calendars
CROSS JOIN trigger AS t
  ON t.tenant_id = v.tenant_id AND t.trigger_id = v.trigger_id AND t.current_version = v.version
WHERE v.tenant_id = ? AND v.calendars <> '[]' AND t.state <> 'deleted'
  AND EXISTS (SELECT 1 FROM json_each(v.calendars) WHERE json_extract(value, '$[0]') = ?)
ORDER BY t.name
LIMIT ?;

-- name: calendar_all
SELECT c.calendar_id, v.rules, v.own_dates, v.dates, c.revision
FROM calendar AS c
JOIN calendar_version AS v
  ON v.tenant_id = c.tenant_id AND v.calendar_id = c.calendar_id AND v.revision = c.revision
WHERE c.tenant_id = :tenant_id AND c.calendar_id > :after
ORDER BY c.calendar_id
LIMIT :row_limit;

-- name: calendar_one
-- In the columns of calendar_all; of a deleted one too, where a revision is named.
SELECT v.calendar_id, v.rules, v.own_dates, v.dates, v.revision
FROM calendar_version AS v
WHERE v.tenant_id = :tenant_id AND v.calendar_id = :calendar_id AND v.revision = coalesce(
  :revision,
  (SELECT revision FROM calendar WHERE tenant_id = :tenant_id AND calendar_id = :calendar_id)
);
