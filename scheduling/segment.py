"""One segment of the walk: what is due in it, on time or missed, or under a closed pause."""

from scheduling.decision import DecidedRow
from scheduling.draft import Draft
from scheduling.limits import GRACE_MAX_US, GRACE_MIN_US
from scheduling.missed import decide_missed, newest_due, range_row
from scheduling.rules import Rules, Segment, due_us, grace_us
from scheduling.vocabulary import Cause, FireState, MissedPolicy, ResumeRule, SpanKind

_COVER_CAUSES = {
    SpanKind.PAUSED: Cause.PAUSED,
    SpanKind.QUARANTINED: Cause.QUARANTINED,
    SpanKind.DELETED: Cause.DELETED,
}


def decide_segment(draft: Draft, segment: Segment, *, now_us: int) -> Draft:
    """The draft with everything of one segment that is due by `now_us`.

    A segment that was quarantined, or led to a quarantine, may rest on a rule that cannot be
    evaluated: one row of count 0 covers it then, so that the trigger can go on under a new rule.
    """
    if not segment.is_quarantined:
        _decide(draft, segment, now_us)
        return draft
    trial = draft.copy()
    try:
        _decide(trial, segment, now_us)
    except Exception as error:
        if segment.through_us is None or segment.through_us > now_us:
            raise
        draft.cover(_uncounted_row(segment, segment.through_us, error=error))
        return draft
    return trial


def _decide(draft: Draft, segment: Segment, now_us: int) -> None:
    if segment.span.kind is not SpanKind.LIVE:
        _decide_covered(draft, segment)
        return
    rules = draft.view.versions[segment.span.version]
    through_us = now_us if segment.through_us is None else min(segment.through_us, now_us)
    _decide_live(draft, rules, after_us=segment.after_us, through_us=through_us, now_us=now_us)


def _decide_live(
    draft: Draft, rules: Rules, *, after_us: int, through_us: int, now_us: int
) -> None:
    newest_us = newest_due(rules, after_us, through_us=through_us, due_through_us=now_us)
    if newest_us is None:
        return
    for late in (*_late_rows(rules, after_us, newest_us=newest_us, now_us=now_us), None):
        if draft.remaining(rules) == 0:
            return
        missed_us: int | None = newest_us
        if late is not None:
            missed_us = rules.recurrence.previous_before_us(late.scheduled_us)
        if missed_us is not None and missed_us > after_us:
            decide_missed(draft, rules, after_us=after_us, through_us=missed_us, now_us=now_us)
        if late is not None and draft.remaining(rules) != 0:
            draft.dispatch(late)
            after_us = late.scheduled_us


def _decide_covered(draft: Draft, segment: Segment) -> None:
    """A closed pause, quarantine or deletion: one range row, or what the resume asked for.

    Judged with now = its end, however much later this runs; no paused instant counts as late.
    """
    after_us, through_us, span, resume_rule, ended_us, _ = segment
    if through_us is None or ended_us is None:
        raise ValueError("an open span is its own cover")
    cause = _COVER_CAUSES[span.kind]
    rules = draft.view.versions[span.version]
    newest_us = newest_due(rules, after_us, through_us=through_us, due_through_us=None)
    if newest_us is None or draft.remaining(rules) == 0:
        return
    if cause is Cause.PAUSED and resume_rule not in (None, ResumeRule.DROP):
        decide_missed(
            draft,
            rules,
            after_us=after_us,
            through_us=newest_us,
            now_us=ended_us,
            policy=MissedPolicy(str(resume_rule)),
        )
    else:
        draft.cover(range_row(rules, after_us, newest_us, cause=cause))


def _uncounted_row(segment: Segment, through_us: int, *, error: Exception) -> DecidedRow:
    return DecidedRow(
        through_us,
        through_us,
        segment.span.version,
        FireState.NOT_DISPATCHED,
        cause=Cause.QUARANTINED,
        cause_detail=f"the instants could not be counted: {error}"[:200],
        through_us=through_us,
        instant_count=0,
    )


def _late_rows(rules: Rules, after_us: int, *, newest_us: int, now_us: int) -> list[DecidedRow]:
    """The due instants that are still within their grace, oldest first.

    They are the newest ones, but for one case: a smear over 5 s can carry an instant before a
    long distance past its successors before short ones. Even then it is due before the next
    instant, so the search ends 60 s back. Either way there is only a handful.
    """
    rows: list[DecidedRow] = []
    instant_us: int | None = newest_us
    next_us = rules.recurrence.next_after_us(newest_us)
    while instant_us is not None and instant_us > after_us:
        instant_due_us = due_us(rules, instant_us, next_us)
        grace_until_us = instant_due_us + grace_us(instant_us, next_us)
        if now_us <= grace_until_us:
            rows.append(
                DecidedRow(
                    instant_us,
                    instant_due_us,
                    rules.version,
                    FireState.READY,
                    grace_until_us=grace_until_us,
                )
            )
        elif rules.smear_us <= GRACE_MIN_US or now_us >= instant_us + GRACE_MAX_US:
            break
        next_us, instant_us = instant_us, rules.recurrence.previous_before_us(instant_us)
    rows.reverse()
    return rows
