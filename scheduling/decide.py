"""The heart: what is due for one trigger, and what becomes of it. Pure.

`decide` walks the instants after the cursor, each under the span that covers it, and stops at
the first whose `due_at` is not past `now`. `settle` decides every instant up to a change.
Long ranges cost a constant number of rows and of evaluations.
"""

from collections.abc import Iterator

from scheduling.decision import DecidedRow, Decision
from scheduling.draft import Draft, TriggerView
from scheduling.missed import join_ranges, land_missed
from scheduling.rules import (
    Rules,
    Segment,
    Undecided,
    due_of,
    due_us,
    first_undecided,
    grace_us,
    segments,
)
from scheduling.segment import decide_segment
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, SpanKind


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
    for segment in _segments_until(view, now_us):
        draft = decide_segment(draft, segment, now_us=now_us)
        if segment.through_us is not None and draft.first_ahead(segment) is not None:
            break
    return _finish(draft)


def settle(view: TriggerView, at_us: int, *, stopped_by: Cause | None) -> Decision:
    """Every instant up to `at_us`, decided with now = `at_us`, before a change takes effect.

    An instant whose due time still lies ahead is held until then (an edit: `stopped_by` None)
    or gets the cause of the pause or the deletion. So a change creates no past instant and
    loses no smeared one.
    """
    draft = Draft(view, view.cursor_us, pending_us=view.pending_us)
    for segment in _segments_until(view, at_us):
        draft = decide_segment(draft, segment, now_us=at_us)
        ahead = draft.first_ahead(segment, reserved=int(draft.owes_a_fire()))
        if ahead is not None and ahead.instant_us <= at_us:
            _decide_ahead(draft, ahead, stopped_by)
    return _finish(draft)


def look_ahead(decision: Decision, view: TriggerView) -> Decision:
    """The decision with `next_due_us` and `finished` recomputed for its cursor and count."""
    last = view.spans[-1]
    if last.kind is not SpanKind.LIVE:
        return decision._replace(next_due_us=None, finished=False)
    limit = view.versions[last.version].max_fires
    if limit is not None and view.fired_count + decision.fired_delta >= limit:
        return decision._replace(next_due_us=None, finished=True)
    ahead = first_undecided(
        view.spans,
        view.versions,
        decision.cursor_us,
        fired_count=view.fired_count + decision.fired_delta,
    )
    if ahead is None:
        return decision._replace(next_due_us=None, finished=True)
    return decision._replace(next_due_us=ahead.due_us, finished=False)


def with_retry_ends(
    rows: tuple[DecidedRow, ...], next_due_us: int | None
) -> tuple[DecidedRow, ...]:
    """The rows with `retry_until_us` on the ready ones: the trigger's next due time.

    That is the first instant kept by an edit, if there is one, else the next undecided one.
    """
    kept_us = min((row.due_us for row in rows if _is_kept(row)), default=next_due_us)
    return tuple(
        row._replace(retry_until_us=kept_us) if row.state is FireState.READY else row
        for row in rows
    )


def _is_kept(row: DecidedRow) -> bool:
    return row.lane is Lane.ON_TIME and row.held_reason is HeldReason.DUE_LATER


def _segments_until(view: TriggerView, now_us: int) -> Iterator[Segment]:
    """The undecided segments; those under a pause or its like count from their end on."""
    for segment in segments(view.spans, view.cursor_us):
        is_live = segment.span.kind is SpanKind.LIVE
        if not is_live and (segment.ended_us is None or segment.ended_us > now_us):
            return
        yield segment


def _decide_ahead(draft: Draft, ahead: Undecided, stopped_by: Cause | None) -> None:
    if stopped_by is not None:
        draft.cover(
            DecidedRow(
                *ahead,
                FireState.NOT_DISPATCHED,
                cause=stopped_by,
            )
        )
        return
    rules = draft.view.versions[ahead.version]
    following_us = rules.recurrence.next_after_us(ahead.instant_us)
    draft.cover(
        DecidedRow(
            *ahead,
            FireState.HELD,
            held_reason=HeldReason.DUE_LATER,
            not_before_us=ahead.due_us,
            grace_until_us=ahead.due_us + grace_us(ahead.instant_us, following_us),
        )
    )
    draft.fired += 1


def _finish(draft: Draft) -> Decision:
    land_missed(draft)
    join_ranges(draft)
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
    return decision._replace(rows=with_retry_ends(decision.rows, decision.next_due_us))


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
