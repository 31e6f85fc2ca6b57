-- Principals, tokens, idempotency keys, calendars, ownership of targets, and the event log.

ALTER TABLE tenant ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE target ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE target ADD COLUMN checked_at INTEGER;
ALTER TABLE target ADD COLUMN check_detail TEXT;

-- An empty tenant_id holds for every tenant: a key column is never NULL.
CREATE TABLE allowed_host (
  tenant_id TEXT NOT NULL,
  host TEXT NOT NULL,
  allowed_by TEXT NOT NULL,
  allowed_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, host)
) STRICT, WITHOUT ROWID;

-- Results are those of a change transaction, written by it; they are kept for a day.
CREATE TABLE idempotency_key (
  principal_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  results TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (principal_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

-- Nothing wrote to these three until now.
DROP TABLE "grant";
DROP TABLE principal;
DROP TABLE calendar;

CREATE TABLE principal (
  principal_id TEXT PRIMARY KEY,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE token (
  token_id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL REFERENCES principal,
  token_hash TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- An empty tenant_id holds for the platform.
CREATE TABLE "grant" (
  principal_id TEXT NOT NULL REFERENCES principal,
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('read', 'author', 'policy', 'operator', 'auditor')),
  granted_by TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (principal_id, tenant_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE calendar (
  tenant_id TEXT NOT NULL,
  calendar_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id)
) STRICT, WITHOUT ROWID;

-- Immutable, as trigger versions are: a trigger's version names the revisions that it uses.
CREATE TABLE calendar_version (
  tenant_id TEXT NOT NULL,
  calendar_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  rules TEXT NOT NULL,
  own_dates TEXT NOT NULL,
  dates TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id, revision)
) STRICT, WITHOUT ROWID;

ALTER TABLE trigger_version ADD COLUMN calendars TEXT NOT NULL DEFAULT '[]';

-- Finds the triggers that follow a calendar; most versions name none.
CREATE INDEX trigger_version_calendars ON trigger_version (tenant_id) WHERE calendars <> '[]';

CREATE INDEX trigger_version_target ON trigger_version (tenant_id, target_id);

CREATE INDEX audit_entry_subject ON audit_entry (tenant_id, subject, audit_id);
CREATE INDEX audit_entry_tenant ON audit_entry (tenant_id, audit_id);

CREATE TABLE event_log (
  event_offset INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL UNIQUE,
  event TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

-- How far the relay has read the ledger's changes.
CREATE TABLE relay_cursor (
  relay_id TEXT PRIMARY KEY,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
