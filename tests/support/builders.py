"""Builders: valid records with plain defaults, and the changes that a test is about."""

from collections.abc import Sequence
from typing import Any

from scheduling.decision import DecidedRow
from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.rules import Rules, Span
from scheduling.vocabulary import (
    FireState,
    MissedPolicy,
    OverlapPolicy,
    ResumeRule,
    SpanKind,
)
from tests.support.enumerators import ListEnumerator, PeriodEnumerator

MINUTE_US = 60 * SECOND_US
HOUR_US = 3_600 * SECOND_US


def seconds(*values: float) -> list[int]:
    """Seconds since the epoch as instants."""
    return [round(value * SECOND_US) for value in values]


def at_seconds(*values: float) -> ListEnumerator:
    """A recurrence of just these seconds since the epoch."""
    return ListEnumerator(seconds(*values))


def a_rules(**changes: Any) -> Rules:
    """Every minute, `fire_once_now`, `allow`, one hour of horizon, no smear, no bound."""
    facts: dict[str, Any] = {
        "tenant_id": "acme",
        "trigger_id": "t1",
        "version": 1,
        "recurrence": PeriodEnumerator(MINUTE_US),
        "missed_policy": MissedPolicy.FIRE_ONCE_NOW,
        "overlap_policy": OverlapPolicy.ALLOW,
        "horizon_us": HOUR_US,
        "horizon_source": "default",
    }
    return Rules(**{**facts, **changes})


def a_view(**changes: Any) -> TriggerView:
    """A live trigger since 0 with nothing decided.

    `rules` gives the versions (one or several); `spans` defaults to the first, live from 0.
    """
    rules: Rules | Sequence[Rules] = changes.pop("rules", None) or a_rules()
    versions = {each.version: each for each in ([rules] if isinstance(rules, Rules) else rules)}
    facts: dict[str, Any] = {
        "spans": (Span(0, SpanKind.LIVE, min(versions)),),
        "versions": versions,
        "cursor_us": 0,
    }
    return TriggerView(**{**facts, **changes})


def a_paused_view(*, rules: Rules, resume_rule: ResumeRule | None, until_us: int) -> TriggerView:
    """A trigger that was paused from 0 until `until_us`, and lives again."""
    return a_view(
        rules=rules,
        spans=(
            Span(0, SpanKind.PAUSED, rules.version),
            Span(until_us, SpanKind.LIVE, rules.version, resume_rule),
        ),
    )


def a_row(scheduled_us: int = 0, **changes: Any) -> DecidedRow:
    """A ready fire of version 1, due at its scheduled instant."""
    row = DecidedRow(scheduled_us, scheduled_us, 1, FireState.READY)
    return row._replace(**changes)
