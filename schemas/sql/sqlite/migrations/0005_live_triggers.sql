-- What a creation compares with the quota: counting a tenant's triggers would take longer with
-- each that it has.

ALTER TABLE tenant ADD COLUMN live_triggers INTEGER NOT NULL DEFAULT 0;

UPDATE tenant SET live_triggers = (
  SELECT count(*) FROM trigger
  WHERE trigger.tenant_id = tenant.tenant_id AND trigger.state <> 'deleted'
);
