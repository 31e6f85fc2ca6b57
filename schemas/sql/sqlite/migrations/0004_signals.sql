-- What readiness writes to prove that it can commit, and what a scrape counts.

CREATE TABLE store_probe (
  probe_id INTEGER PRIMARY KEY CHECK (probe_id = 1),
  commits INTEGER NOT NULL,
  committed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX trigger_quarantined ON trigger (tenant_id) WHERE state = 'quarantined';
