-- Range rows are found within their tenant or trigger: another tenant may have very many of them.
DROP INDEX fire_range;
CREATE INDEX fire_range ON fire (tenant_id, through_instant) WHERE through_instant IS NOT NULL;
CREATE INDEX fire_range_of_trigger ON fire (tenant_id, trigger_id, through_instant)
  WHERE through_instant IS NOT NULL;
