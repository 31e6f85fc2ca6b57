-- name: audit_insert!
INSERT INTO audit_entry (at, actor, action, tenant_id, subject, prior_value, note, new_value)
VALUES (:at_us, :actor, :action, :tenant_id, :subject, :prior_value, :note, :new_value);

-- name: audit_entries
-- Newest first; the bound is exclusive.
SELECT at, actor, action, tenant_id, subject, prior_value, note, audit_id, new_value
FROM audit_entry
WHERE audit_id < :before_id
  AND (:subject IS NULL OR subject = :subject)
  AND (:actor IS NULL OR actor = :actor)
  AND (:actions IS NULL OR action IN (SELECT value FROM json_each(:actions)))
  AND at BETWEEN :from_us AND :through_us
ORDER BY audit_id DESC LIMIT :row_limit;

-- name: audit_entries_of_tenant
SELECT at, actor, action, tenant_id, subject, prior_value, note, audit_id, new_value
FROM audit_entry
WHERE tenant_id = :tenant_id AND audit_id < :before_id
  AND (:actor IS NULL OR actor = :actor)
  AND (:actions IS NULL OR action IN (SELECT value FROM json_each(:actions)))
  AND at BETWEEN :from_us AND :through_us
ORDER BY audit_id DESC LIMIT :row_limit;

-- name: audit_entries_of_subject
SELECT at, actor, action, tenant_id, subject, prior_value, note, audit_id, new_value
FROM audit_entry
WHERE tenant_id = :tenant_id AND subject = :subject AND audit_id < :before_id
  AND (:actor IS NULL OR actor = :actor)
  AND (:actions IS NULL OR action IN (SELECT value FROM json_each(:actions)))
  AND at BETWEEN :from_us AND :through_us
ORDER BY audit_id DESC LIMIT :row_limit;
