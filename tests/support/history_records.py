"""Ledger records with plain defaults, for suites about reading them."""

from typing import Any

from ports.records import AttemptRecord, FireRecord, GapRecord
from scheduling.keys import FireKey
from scheduling.vocabulary import Cause, FireState, Lane, Origin


def a_fire(
    trigger_id: str = "t1", scheduled_us: int = 0, *, sequence: int = 0, **changes: Any
) -> FireRecord:
    """An accepted on-time fire of acme's trigger, named after its id."""
    facts: dict[str, Any] = {
        "key": FireKey(changes.pop("tenant_id", "acme"), trigger_id, scheduled_us, sequence),
        "trigger_name": f"name of {trigger_id}",
        "version": 1,
        "origin": Origin.SCHED,
        "lane": Lane.ON_TIME,
        "state": FireState.ACCEPTED,
        "cause": None,
        "cause_detail": None,
        "held_reason": None,
        "not_before_us": None,
        "due_us": scheduled_us,
        "decided_us": scheduled_us,
        "committed_us": scheduled_us,
        "queued_us": None,
        "first_dispatched_us": None,
        "next_attempt_n": 1,
        "attempts": 0,
        "outcome_cause": None,
        "coalesced_into_us": None,
        "through_us": None,
        "instant_count": 1,
        "tzdata_version": "2026.1",
        "changed_us": scheduled_us,
    }
    return FireRecord(**{**facts, **changes})


def a_range(trigger_id: str, first_us: int, through_us: int, **changes: Any) -> FireRecord:
    """One row for consecutive instants that were skipped."""
    facts: dict[str, Any] = {
        "state": FireState.NOT_DISPATCHED,
        "cause": Cause.SKIPPED_BY_POLICY,
        "through_us": through_us,
        "instant_count": 2,
    }
    return a_fire(trigger_id, first_us, **{**facts, **changes})


def an_attempt(n: int = 1, **changes: Any) -> AttemptRecord:
    facts: dict[str, Any] = {
        "n": n,
        "dispatched_us": 10 * n,
        "claimed_until_us": 10 * n + 5,
        "finished_us": None,
        "transport_result": None,
        "http_status": None,
        "error": None,
    }
    return AttemptRecord(**{**facts, **changes})


def a_gap(trigger_id: str = "t1", after_us: int = 0, **changes: Any) -> GapRecord:
    """A gap of 200 instants of which none is planned."""
    facts: dict[str, Any] = {
        "tenant_id": "acme",
        "trigger_id": trigger_id,
        "version": 1,
        "after_us": after_us,
        "through_us": after_us + 1_000,
        "detected_us": after_us + 2_000,
        "planned_through_us": after_us,
        "instant_count": 200,
        "planned_count": 0,
    }
    return GapRecord(**{**facts, **changes})
