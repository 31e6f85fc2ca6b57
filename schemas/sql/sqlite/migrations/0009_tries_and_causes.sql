-- A fire tells how many attempts were claimed, by their rows, and what its work said of a failure.
DROP VIEW fire_history;
CREATE VIEW fire_history AS
SELECT
  tenant_id, trigger_id, scheduled_instant, sequence,
  (SELECT trigger.name FROM trigger
    WHERE trigger.tenant_id = fire.tenant_id AND trigger.trigger_id = fire.trigger_id
  ) AS trigger_name,
  version, origin, lane, state, non_dispatch_cause, cause_detail, held_reason, not_before,
  due_at, decided_at, committed_at, queued_at, first_dispatched_at, next_attempt_n,
  coalesced_into, through_instant, instant_count, tzdata_version, changed_at,
  CASE WHEN first_dispatched_at IS NULL THEN 0 ELSE (
    SELECT count(*) FROM attempt
    WHERE attempt.tenant_id = fire.tenant_id AND attempt.trigger_id = fire.trigger_id
      AND attempt.scheduled_instant = fire.scheduled_instant AND attempt.sequence = fire.sequence
  ) END AS attempts,
  CASE WHEN state = 'failed' THEN (
    SELECT work_outcome.cause FROM work_outcome
    WHERE work_outcome.tenant_id = fire.tenant_id AND work_outcome.trigger_id = fire.trigger_id
      AND work_outcome.scheduled_instant = fire.scheduled_instant
      AND work_outcome.sequence = fire.sequence
  ) END AS outcome_cause
FROM fire;
