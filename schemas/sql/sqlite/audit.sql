-- name: audit_insert!
INSERT INTO audit_entry (at, actor, action, tenant_id, subject, prior_value, note)
VALUES (:at_us, :actor, :action, :tenant_id, :subject, :prior_value, :note);

-- name: audit_newest
SELECT at, actor, action, tenant_id, subject, prior_value, note
FROM audit_entry ORDER BY audit_id DESC LIMIT :row_limit;
