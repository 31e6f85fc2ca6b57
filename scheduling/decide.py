"""The heart: what is due for one trigger, and what becomes of it. Pure.

`decide` walks the instants after the cursor, each under the span that covers it, and stops at
the first whose `due_at` is not past `now`. `settle` decides every instant up to a change.
Long ranges cost a constant number of rows and of evaluations.
"""

from scheduling.decision import DecidedRow, Decision
from scheduling.draft import Draft, TriggerView
from scheduling.missed import decide_missed, newest_due, range_row
from scheduling.rules import (
    Rules,
    Segment,
    due_of,
    due_us,
    first_undecided,
    grace_us,
    segments,
)
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    MissedPolicy,
    ResumeRule,
    SpanKind,
)

_COVER_CAUSES = {
    SpanKind.PAUSED: Cause.PAUSED,
    SpanKind.QUARANTINED: Cause.QUARANTINED,
    SpanKind.DELETED: Cause.DELETED,
}


def decide(view: TriggerView, now_us: int) -> Decision:
    """Everything whose due time is at or before `now_us`, the clock gate's earliest."""
    if len(view.spans) == 1 and view.spans[0].kind is SpanKind.LIVE:
        quick = _decide_single(view, view.versions[view.spans[0].version], now_us)
        if quick is not None:
            return quick
    return decide_fully(view, now_us)


def decide_fully(view: TriggerView, now_us: int) -> Decision:
    """`decide` without its shortcut for the common case; both give the same answer."""
    draft = Draft(view, view.cursor_us, pending_us=view.pending_us)
    for segment in segments(view.spans, view.cursor_us):
        if segment.span.kind is not SpanKind.LIVE:
            if segment.through_us is None:
                break
            _decide_covered(draft, segment, now_us)
            continue
        rules = view.versions[segment.span.version]
        through_us = now_us if segment.through_us is None else min(segment.through_us, now_us)
        _decide_live(draft, rules, after_us=segment.after_us, through_us=through_us, now_us=now_us)
    return _finish(draft)


def settle(view: TriggerView, at_us: int, *, stopped_by: Cause | None) -> Decision:
    """Every instant up to `at_us`, decided with now = `at_us`, before a change takes effect.

    An instant whose due time still lies ahead is held until then (an edit: `stopped_by` None)
    or gets the cause of the pause or the deletion. So a change creates no past instant and
    loses no smeared one.
    """
    decision = decide_fully(view, at_us)
    ahead = first_undecided(view.spans, view.versions, decision.cursor_us)
    if ahead is None or ahead.instant_us > at_us:
        return decision
    rules = view.versions[ahead.version]
    fired_count = view.fired_count + decision.fired_delta
    if rules.max_fires is not None and fired_count >= rules.max_fires:
        return decision
    following_us = rules.recurrence.next_after_us(ahead.instant_us)
    row = DecidedRow(
        ahead.instant_us,
        ahead.due_us,
        ahead.version,
        FireState.HELD,
        held_reason=HeldReason.DUE_LATER,
        not_before_us=ahead.due_us,
        grace_until_us=ahead.due_us + grace_us(ahead.instant_us, following_us),
    )
    delta = 1
    if stopped_by is not None:
        row = DecidedRow(
            ahead.instant_us,
            ahead.due_us,
            ahead.version,
            FireState.NOT_DISPATCHED,
            cause=stopped_by,
        )
        delta = 0
    return look_ahead(
        decision._replace(
            rows=(*decision.rows, row),
            cursor_us=ahead.instant_us,
            fired_delta=decision.fired_delta + delta,
        ),
        view,
    )


def look_ahead(decision: Decision, view: TriggerView) -> Decision:
    """The decision with `next_due_us` and `finished` recomputed for its cursor and count."""
    last = view.spans[-1]
    if last.kind is not SpanKind.LIVE:
        return decision._replace(next_due_us=None, finished=False)
    limit = view.versions[last.version].max_fires
    if limit is not None and view.fired_count + decision.fired_delta >= limit:
        return decision._replace(next_due_us=None, finished=True)
    ahead = first_undecided(view.spans, view.versions, decision.cursor_us)
    if ahead is None:
        return decision._replace(next_due_us=None, finished=True)
    return decision._replace(next_due_us=ahead.due_us, finished=False)


def _finish(draft: Draft) -> Decision:
    decision = look_ahead(
        Decision(
            rows=tuple(draft.rows),
            gaps=tuple(draft.gaps),
            cursor_us=draft.cursor_us,
            next_due_us=None,
            fired_delta=draft.fired,
            pending_us=draft.pending_us,
        ),
        draft.view,
    )
    return decision._replace(
        rows=tuple(
            row._replace(retry_until_us=decision.next_due_us)
            if row.state is FireState.READY
            else row
            for row in decision.rows
        )
    )


def _decide_single(view: TriggerView, rules: Rules, now_us: int) -> Decision | None:
    """The common case, one on-time instant, in as few evaluations as possible; else None."""
    if rules.max_fires is not None:
        return None
    following = rules.recurrence.next_after_us
    instant_us = following(max(view.cursor_us, view.spans[0].from_us))
    if instant_us is None:
        return None
    if instant_us > now_us:
        return Decision((), (), view.cursor_us, due_of(rules, instant_us), 0, view.pending_us)
    next_us = following(instant_us)
    if next_us is not None and next_us <= now_us:
        return None
    instant_due_us = due_us(rules, instant_us, next_us)
    if instant_due_us > now_us:
        return Decision((), (), view.cursor_us, instant_due_us, 0, view.pending_us)
    grace_until_us = instant_due_us + grace_us(instant_us, next_us)
    if now_us > grace_until_us:
        return None
    next_due_us = None if next_us is None else due_of(rules, next_us)
    row = DecidedRow(
        instant_us,
        instant_due_us,
        rules.version,
        FireState.READY,
        grace_until_us=grace_until_us,
        retry_until_us=next_due_us,
    )
    return Decision(
        (row,),
        (),
        instant_us,
        next_due_us,
        1,
        view.pending_us,
        finished=next_us is None,
    )


def _decide_live(
    draft: Draft, rules: Rules, *, after_us: int, through_us: int, now_us: int
) -> None:
    remaining = draft.remaining(rules)
    newest_us = newest_due(rules, after_us, through_us=through_us, due_through_us=now_us)
    if newest_us is None or remaining == 0:
        return
    on_time = _on_time_suffix(rules, after_us, newest_us=newest_us, now_us=now_us)
    missed_us: int | None = newest_us
    if on_time:
        missed_us = rules.recurrence.previous_before_us(on_time[0].scheduled_us)
    if missed_us is not None and missed_us > after_us:
        taken = on_time if remaining is None else on_time[:remaining]
        catcher_us = taken[-1].scheduled_us if taken else None
        decide_missed(
            draft,
            rules,
            after_us=after_us,
            through_us=missed_us,
            now_us=now_us,
            catcher_us=catcher_us,
        )
        remaining = draft.remaining(rules)
    for row in on_time if remaining is None else on_time[:remaining]:
        draft.fire(row)


def _decide_covered(draft: Draft, segment: Segment, now_us: int) -> None:
    """A closed pause, quarantine or deletion: one range row, or what the resume asked for."""
    after_us, through_us, span, resume_rule = segment
    if through_us is None:
        raise ValueError("an open span is its own cover")
    cause = _COVER_CAUSES[span.kind]
    rules = draft.view.versions[span.version]
    try:
        newest_us = newest_due(rules, after_us, through_us=through_us, due_through_us=None)
        if newest_us is None or draft.remaining(rules) == 0:
            return
        if cause is Cause.PAUSED and resume_rule not in (None, ResumeRule.DROP):
            decide_missed(
                draft,
                rules,
                after_us=after_us,
                through_us=newest_us,
                now_us=now_us,
                policy=MissedPolicy(str(resume_rule)),
            )
        else:
            draft.cover(range_row(rules, after_us, newest_us, cause=cause))
    except Exception as error:
        # The rule itself is what was quarantined: a row says so even where it cannot count.
        if cause is not Cause.QUARANTINED:
            raise
        draft.cover(
            DecidedRow(
                through_us,
                through_us,
                span.version,
                FireState.NOT_DISPATCHED,
                cause=cause,
                cause_detail=f"the instants could not be counted: {error}"[:200],
                through_us=through_us,
                instant_count=0,
            )
        )


def _on_time_suffix(
    rules: Rules, after_us: int, *, newest_us: int, now_us: int
) -> list[DecidedRow]:
    """The newest due instants that are still within their grace, oldest first.

    Bounded: an instant's grace exceeds its distance to the next one only below 5 s, so at most
    a handful are late at once.
    """
    rows: list[DecidedRow] = []
    instant_us: int | None = newest_us
    next_us = rules.recurrence.next_after_us(newest_us)
    while instant_us is not None and instant_us > after_us:
        instant_due_us = due_us(rules, instant_us, next_us)
        grace_until_us = instant_due_us + grace_us(instant_us, next_us)
        if now_us > grace_until_us:
            break
        rows.append(
            DecidedRow(
                instant_us,
                instant_due_us,
                rules.version,
                FireState.READY,
                grace_until_us=grace_until_us,
            )
        )
        next_us, instant_us = instant_us, rules.recurrence.previous_before_us(instant_us)
    rows.reverse()
    return rows
