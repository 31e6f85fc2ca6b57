"""The slow model of a decision: every instant's fate, one by one, as DESIGN's sentences say it.

It shares with the code under test only the records and the smear's hash. All recurrences are
`ListEnumerator`s, whose instants are simply walked.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from scheduling.decision import DecidedRow, Decision
from scheduling.draft import TriggerView
from scheduling.rules import Rules, Span
from scheduling.smear import smear_us
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    Lane,
    MissedPolicy,
    ResumeRule,
    SpanKind,
)
from tests.support.enumerators import ListEnumerator


class Fate(NamedTuple):
    """`on_time`, `catch_up`, `kept` (an edit's smeared instant) or a cause, with its target."""

    kind: str
    target_us: int | None = None


class ModelInstant(NamedTuple):
    instant_us: int
    due_us: int
    grace_until_us: int
    span_index: int


COVERS = {SpanKind.QUARANTINED: Cause.QUARANTINED, SpanKind.DELETED: Cause.DELETED}


def model_fates(
    view: TriggerView, now_us: int, *, is_settling: bool = False, stopped_by: Cause | None = None
) -> dict[int, Fate]:
    """Every instant that a decision at `now_us` decides, with its fate."""
    fates: dict[int, Fate] = {}
    dispatched: list[int] = []
    coalescing: list[int] = []
    fired = view.fired_count
    for found in instants_after(view, view.cursor_us):
        instant_us, due_us, grace_until_us, span_index = found
        span = view.spans[span_index]
        rules = view.versions[span.version]
        is_live = span.kind is SpanKind.LIVE
        ended_by = end_of(view, span_index)
        if not is_live and (ended_by is None or ended_by.from_us > now_us):
            break
        is_ahead = is_live and due_us > now_us
        owed = 1 if is_ahead and is_settling and coalescing and not dispatched else 0
        if rules.max_fires is not None and fired + owed >= rules.max_fires:
            continue
        if is_ahead:
            if not is_settling or instant_us > now_us:
                break
            fates[instant_us] = Fate("kept" if stopped_by is None else stopped_by.value)
            fired += stopped_by is None
            continue
        if is_live and now_us <= grace_until_us:
            fate = Fate("on_time")
        else:
            judged_us = now_us if ended_by is None or is_live else ended_by.from_us
            fate = _missed_fate(rules, span, due_us, judged_us=judged_us, ended_by=ended_by)
        fates[instant_us] = fate
        if fate.kind in ("on_time", "catch_up"):
            dispatched.append(instant_us)
            fired += 1
        if fate.kind == Cause.COALESCED:
            coalescing.append(instant_us)
    if coalescing and not dispatched:
        dispatched.append(coalescing.pop())
        fates[dispatched[-1]] = Fate("catch_up")
    for instant_us in coalescing:
        fates[instant_us] = Fate(Cause.COALESCED, dispatched[-1])
    return fates


def model_next_due(view: TriggerView, cursor_us: int, *, fired: int) -> int | None:
    """When to look again, given where the decision ended and how many have fired by then."""
    last = view.spans[-1]
    if last.kind is not SpanKind.LIVE or _is_used_up(view.versions[last.version], fired):
        return None
    for instant_us, due_us, _, span_index in instants_after(view, cursor_us):
        span = view.spans[span_index]
        if _is_used_up(view.versions[span.version], fired):
            continue
        ended_by = end_of(view, span_index)
        if span.kind is SpanKind.LIVE or ended_by is None:
            return due_us
        assert ended_by.from_us >= instant_us
        return ended_by.from_us
    return None


def decided_fates(view: TriggerView, decision: Decision) -> dict[int, Fate]:
    """A decision's rows and gaps, expanded; fails where an instant has two of them."""
    fates: dict[int, Fate] = {}
    for row in decision.rows:
        covered = _covered(view, row)
        assert len(covered) == row.instant_count, row
        for instant_us in covered:
            assert instant_us not in fates, (instant_us, row)
            fates[instant_us] = _row_fate(row)
    for gap in decision.gaps:
        recurrence = view.versions[gap.version].recurrence
        planned = recurrence.between_us(gap.after_us, gap.through_us, gap.instant_count + 1)
        assert len(planned) == gap.instant_count, gap
        for instant_us in planned:
            assert instant_us not in fates, (instant_us, gap)
            fates[instant_us] = Fate("catch_up")
    return fates


def instants_after(view: TriggerView, cursor_us: int) -> Iterator[ModelInstant]:
    """The instants after the cursor, each of the version whose span covers it, in order."""
    for index, span in enumerate(view.spans):
        until = view.spans[index + 1].from_us if index + 1 < len(view.spans) else None
        rules = view.versions[span.version]
        instants = _listed(rules).instants_us
        for position in range(bisect_right(instants, max(span.from_us, cursor_us)), len(instants)):
            if until is not None and instants[position] > until:
                break
            following = instants[position + 1] if position + 1 < len(instants) else None
            yield _timed(rules, instants[position], following, span_index=index)


def end_of(view: TriggerView, span_index: int) -> Span | None:
    """The span that ended this one; a pause goes on through the edits made inside it."""
    for later in view.spans[span_index + 1 :]:
        if view.spans[span_index].kind is SpanKind.PAUSED and later.kind is SpanKind.PAUSED:
            continue
        return later
    return None


def _timed(
    rules: Rules, instant_us: int, following_us: int | None, *, span_index: int
) -> ModelInstant:
    distance_us = 10**18 if following_us is None else following_us - instant_us
    due_us = instant_us + smear_us(
        rules.tenant_id,
        rules.trigger_id,
        instant_us=instant_us,
        window_us=min(rules.smear_us, distance_us),
    )
    grace_us = sorted((5_000_000, distance_us, 60_000_000))[1]
    return ModelInstant(instant_us, due_us, due_us + grace_us, span_index)


def _missed_fate(
    rules: Rules, span: Span, due_us: int, *, judged_us: int, ended_by: Span | None
) -> Fate:
    if span.kind in COVERS:
        return Fate(COVERS[span.kind])
    policy = rules.missed_policy
    if span.kind is SpanKind.PAUSED:
        rule = (ended_by.resume_rule if ended_by else None) or ResumeRule.DROP
        if rule is ResumeRule.DROP:
            return Fate(Cause.PAUSED)
        policy = MissedPolicy(rule.value)
    if judged_us - due_us > rules.horizon_us:
        return Fate(Cause.EXPIRED_PAST_HORIZON)
    return {
        MissedPolicy.SKIP: Fate(Cause.SKIPPED_BY_POLICY),
        MissedPolicy.FIRE_ALL: Fate("catch_up"),
        MissedPolicy.FIRE_ONCE_NOW: Fate(Cause.COALESCED),
    }[policy]


def _is_used_up(rules: Rules, fired: int) -> bool:
    return rules.max_fires is not None and fired >= rules.max_fires


def _covered(view: TriggerView, row: DecidedRow) -> list[int]:
    if row.through_us is None:
        return [row.scheduled_us]
    recurrence = view.versions[row.version].recurrence
    return recurrence.between_us(row.scheduled_us - 1, row.through_us, row.instant_count + 1)


def _row_fate(row: DecidedRow) -> Fate:
    if row.state is FireState.NOT_DISPATCHED:
        assert row.cause is not None, row
        return Fate(row.cause.value, row.coalesced_into_us)
    assert row.cause is None, row
    if row.state is FireState.READY:
        assert row.lane is Lane.ON_TIME, row
        return Fate("on_time")
    assert row.state is FireState.HELD, row
    if row.lane is Lane.CATCH_UP:
        return Fate("catch_up")
    assert row.held_reason is HeldReason.DUE_LATER, row
    return Fate("kept")


def _listed(rules: Rules) -> ListEnumerator:
    assert isinstance(rules.recurrence, ListEnumerator)
    return rules.recurrence
