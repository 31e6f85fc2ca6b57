-- name: audit_insert(at_us, actor, action, tenant_id, subject, prior_value, note)!
INSERT INTO audit_entry (at, actor, action, tenant_id, subject, prior_value, note)
VALUES (:at_us, :actor, :action, :tenant_id, :subject, :prior_value, :note);

-- name: audit_newest(row_limit)
SELECT at, actor, action, tenant_id, subject, prior_value, note
FROM audit_entry ORDER BY audit_id DESC LIMIT :row_limit;
