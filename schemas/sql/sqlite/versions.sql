-- name: version_facts
SELECT v.recurrence, v.zone, v.gap_rule, v.fold_rule, v.starts_at, v.ends_at, v.exclusions,
  v.max_fires, v.smear_s, v.target_id, v.payload_ref, v.missed_policy, v.overlap_policy,
  v.catchup_horizon_s, v.horizon_source, v.attempt_budget, v.retry_window_s, v.run_timeout_s,
  v.outcome_window_s, v.response_is_outcome, t.name, v.calendars
FROM trigger_version AS v
JOIN trigger AS t ON t.tenant_id = v.tenant_id AND t.trigger_id = v.trigger_id
WHERE v.tenant_id = ? AND v.trigger_id = ? AND v.version = ?;
