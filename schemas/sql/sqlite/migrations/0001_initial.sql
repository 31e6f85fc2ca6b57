-- All instants are integers of microseconds since the epoch, UTC; durations carry their unit.

CREATE TABLE tenant (
  tenant_id TEXT PRIMARY KEY,
  quota_triggers INTEGER NOT NULL,
  quota_dispatch_per_s INTEGER NOT NULL,
  quota_inflight INTEGER NOT NULL,
  catchup_rate_pct INTEGER NOT NULL,
  smear_s INTEGER NOT NULL,
  next_sequence INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE target (
  tenant_id TEXT NOT NULL REFERENCES tenant,
  target_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('http', 'queue', 'exec')),
  endpoint TEXT NOT NULL,
  timeout_s REAL NOT NULL,
  secret_ref TEXT,
  previous_secret_ref TEXT,
  verified_at INTEGER,
  verification_state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, target_id)
) STRICT, WITHOUT ROWID;

-- fired_floor is what `fired_count` adds to the fires that the ledger holds: less those that a
-- reset forgot.
CREATE TABLE trigger (
  tenant_id TEXT NOT NULL REFERENCES tenant,
  trigger_id TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('live', 'paused', 'finished', 'quarantined', 'deleted')),
  current_version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  partition_id INTEGER NOT NULL,
  pause_note TEXT,
  quarantine_error TEXT,
  decided_floor_at INTEGER NOT NULL,
  fired_floor INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  PRIMARY KEY (tenant_id, trigger_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX trigger_name ON trigger (tenant_id, name) WHERE state <> 'deleted';
CREATE INDEX trigger_generation ON trigger (tenant_id, name);

CREATE TABLE trigger_version (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  recurrence TEXT NOT NULL,
  zone TEXT NOT NULL,
  gap_rule TEXT NOT NULL,
  fold_rule TEXT NOT NULL,
  starts_at INTEGER,
  ends_at INTEGER,
  exclusions TEXT NOT NULL DEFAULT '[]',
  max_fires INTEGER,
  smear_s INTEGER NOT NULL,
  target_id TEXT NOT NULL,
  payload_ref TEXT,
  missed_policy TEXT NOT NULL,
  overlap_policy TEXT NOT NULL,
  catchup_horizon_s INTEGER NOT NULL,
  horizon_source TEXT NOT NULL,
  attempt_budget INTEGER NOT NULL,
  retry_window_s INTEGER NOT NULL,
  run_timeout_s INTEGER NOT NULL,
  outcome_window_s INTEGER NOT NULL,
  response_is_outcome INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, trigger_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE trigger_span (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  from_at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('live', 'paused', 'quarantined', 'deleted')),
  version INTEGER NOT NULL,
  resume_rule TEXT,
  note TEXT,
  actor TEXT NOT NULL,
  PRIMARY KEY (tenant_id, trigger_id, revision)
) STRICT, WITHOUT ROWID;

-- One row per undeleted trigger. span_from_at repeats the newest span's, so that the common
-- commit reads no span; the whole table can be rebuilt from the others.
CREATE TABLE due_index_row (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  partition_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  span_from_at INTEGER NOT NULL,
  decided_through INTEGER NOT NULL,
  next_due_at INTEGER,
  pending_catch_up INTEGER,
  fired_count INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, trigger_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX due_index_due ON due_index_row (partition_id, next_due_at)
  WHERE next_due_at IS NOT NULL;

CREATE TABLE fire (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  scheduled_instant INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  partition_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  origin TEXT NOT NULL,
  lane TEXT NOT NULL,
  state TEXT NOT NULL,
  non_dispatch_cause TEXT,
  cause_detail TEXT,
  held_reason TEXT,
  not_before INTEGER,
  due_at INTEGER NOT NULL,
  decided_at INTEGER NOT NULL,
  committed_at INTEGER NOT NULL,
  queued_at INTEGER,
  first_dispatched_at INTEGER,
  next_attempt_n INTEGER NOT NULL DEFAULT 1,
  grace_until INTEGER,
  retry_until INTEGER,
  coalesced_into INTEGER,
  through_instant INTEGER,
  instant_count INTEGER NOT NULL DEFAULT 1,
  backfill_id TEXT,
  payload_ref TEXT,
  trace_parent TEXT,
  tzdata_version TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, trigger_id, scheduled_instant, sequence)
) STRICT, WITHOUT ROWID;

-- Its last three columns let the backlog and the paging signal be read from the index alone.
-- ORs, because SQLite builds an IN list of more than two anew for every row it writes.
CREATE INDEX fire_waiting
  ON fire (partition_id, state, not_before, lane, due_at, first_dispatched_at)
  WHERE state = 'held' OR state = 'ready' OR state = 'queued' OR state = 'dispatching';
CREATE INDEX fire_releasable ON fire (tenant_id, lane, trigger_id, scheduled_instant)
  WHERE state = 'held' AND held_reason = 'lane_rate';
CREATE INDEX fire_buffered ON fire (tenant_id, trigger_id, scheduled_instant)
  WHERE state = 'held' AND held_reason = 'overlap';
CREATE INDEX fire_by_instant ON fire (tenant_id, scheduled_instant, trigger_id, sequence);
CREATE INDEX fire_changed ON fire (changed_at);
CREATE INDEX fire_range ON fire (through_instant) WHERE through_instant IS NOT NULL;
CREATE INDEX fire_troubled ON fire (tenant_id, scheduled_instant, trigger_id, sequence)
  WHERE state = 'failed' OR state = 'refused' OR state = 'unknown' OR state = 'undelivered'
    OR state = 'not_dispatched';

-- A fire as readers see it; the columns stand in the order of the program's FireRecord.
CREATE VIEW fire_history AS
SELECT
  tenant_id, trigger_id, scheduled_instant, sequence,
  (SELECT trigger.name FROM trigger
    WHERE trigger.tenant_id = fire.tenant_id AND trigger.trigger_id = fire.trigger_id
  ) AS trigger_name,
  version, origin, lane, state, non_dispatch_cause, cause_detail, held_reason, not_before,
  due_at, decided_at, committed_at, queued_at, first_dispatched_at, next_attempt_n,
  coalesced_into, through_instant, instant_count, tzdata_version, changed_at
FROM fire;

CREATE TABLE attempt (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  scheduled_instant INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  n INTEGER NOT NULL,
  dispatched_at INTEGER NOT NULL,
  claimed_until INTEGER NOT NULL,
  finished_at INTEGER,
  transport_result TEXT,
  http_status INTEGER,
  error TEXT,
  token_jti TEXT,
  PRIMARY KEY (tenant_id, trigger_id, scheduled_instant, sequence, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE work_outcome (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  scheduled_instant INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  terminal_state TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  reported_by TEXT NOT NULL,
  cause TEXT,
  PRIMARY KEY (tenant_id, trigger_id, scheduled_instant, sequence)
) STRICT, WITHOUT ROWID;

-- The trigger's slot under an overlap policy other than `allow`.
CREATE TABLE in_flight (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  partition_id INTEGER NOT NULL,
  scheduled_instant INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  run_until INTEGER,
  PRIMARY KEY (tenant_id, trigger_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX in_flight_run_until ON in_flight (partition_id, run_until);

CREATE TABLE gap (
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  after_instant INTEGER NOT NULL,
  through_instant INTEGER NOT NULL,
  partition_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  policy TEXT NOT NULL,
  detected_at INTEGER NOT NULL,
  planned_through INTEGER NOT NULL,
  instant_count INTEGER NOT NULL,
  planned_count INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, trigger_id, after_instant)
) STRICT, WITHOUT ROWID;

CREATE INDEX gap_partition ON gap (partition_id, detected_at);

CREATE TABLE partition_lease (
  partition_id INTEGER PRIMARY KEY,
  owner_id TEXT,
  expires_at INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0,
  epsilon_ms_at_grant REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE lease_owner (
  owner_id TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_entry (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  prior_value TEXT,
  note TEXT,
  at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER audit_entry_never_updated BEFORE UPDATE ON audit_entry
BEGIN SELECT RAISE(ABORT, 'audit_entry is append-only'); END;
CREATE TRIGGER audit_entry_never_deleted BEFORE DELETE ON audit_entry
BEGIN SELECT RAISE(ABORT, 'audit_entry is append-only'); END;

CREATE TABLE outbox (
  outbox_id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;

CREATE INDEX outbox_unsent ON outbox (outbox_id) WHERE sent_at IS NULL;

CREATE TABLE quota_window (
  tenant_id TEXT NOT NULL,
  lane TEXT NOT NULL,
  window_at INTEGER NOT NULL,
  released INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, lane, window_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE payload (
  payload_ref TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tzdata_pin (
  pin_id INTEGER PRIMARY KEY CHECK (pin_id = 1),
  version TEXT NOT NULL,
  adopted_at INTEGER NOT NULL
) STRICT;

-- The lane's own rows: derived from the ledger, which the sweep publishes again from. A head is
-- the oldest message of its trigger on its lane, the only one that may be delivered.
CREATE TABLE lane_message (
  message_id INTEGER PRIMARY KEY AUTOINCREMENT,
  lane TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  scheduled_instant INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  n INTEGER NOT NULL,
  is_head INTEGER NOT NULL,
  leased_until INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX lane_message_once
  ON lane_message (tenant_id, trigger_id, scheduled_instant, sequence, n);
CREATE INDEX lane_message_queue ON lane_message (lane, tenant_id, trigger_id, message_id);
CREATE INDEX lane_message_head ON lane_message (lane, message_id) WHERE is_head = 1;

CREATE TABLE backfill (
  tenant_id TEXT NOT NULL,
  backfill_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  trigger_id TEXT NOT NULL,
  after_instant INTEGER NOT NULL,
  through_instant INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  approved_by TEXT,
  ceiling INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, backfill_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE calendar (
  tenant_id TEXT NOT NULL,
  calendar_id TEXT NOT NULL,
  rule TEXT NOT NULL,
  dates TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, calendar_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letter (
  dead_letter_id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT NOT NULL,
  body BLOB NOT NULL,
  failure_class TEXT NOT NULL,
  owner TEXT NOT NULL,
  first_error TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE principal (
  principal_id TEXT PRIMARY KEY,
  token_hash TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE "grant" (
  principal_id TEXT NOT NULL REFERENCES principal,
  tenant_id TEXT,
  kind TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at INTEGER NOT NULL
) STRICT;

INSERT INTO partition_lease (partition_id)
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 255)
SELECT n FROM numbers;
