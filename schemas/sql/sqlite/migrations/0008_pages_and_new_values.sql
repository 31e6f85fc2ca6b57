-- Lists are read a page at a time in these orders; entries tell what a field was set to.
CREATE INDEX token_age ON token (created_at, token_id);
CREATE INDEX allowed_host_name ON allowed_host (host, tenant_id);

ALTER TABLE audit_entry ADD COLUMN new_value TEXT;
