"""Missed instants: expiry past the horizon, then the policy, in a constant number of rows."""

from scheduling.decision import DecidedGap, DecidedRow
from scheduling.draft import Coalescing, Draft
from scheduling.durations import duration_text
from scheduling.instants import SECOND_US
from scheduling.limits import GAP_THRESHOLD_INSTANTS
from scheduling.rules import Rules, due_of
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, MissedPolicy


def decide_missed(
    draft: Draft,
    rules: Rules,
    *,
    after_us: int,
    through_us: int,
    now_us: int,
    policy: MissedPolicy | None = None,
) -> None:
    """The missed instants in (after, through]: the old ones expire, the rest go by policy.

    `through_us` is the newest of them. What `fire_once_now` dispatches is settled at the end of
    the decision, by `land_missed`.
    """
    policy = policy or rules.missed_policy
    expired_us = newest_due(
        rules, after_us, through_us=through_us, due_through_us=now_us - rules.horizon_us - 1
    )
    if expired_us is not None:
        detail = f"horizon {duration_text(rules.horizon_us // SECOND_US)}, {rules.horizon_source}"
        draft.cover(
            range_row(rules, after_us, expired_us, cause=Cause.EXPIRED_PAST_HORIZON, detail=detail)
        )
        after_us = expired_us
    if after_us >= through_us:
        return
    if policy is MissedPolicy.SKIP:
        draft.cover(range_row(rules, after_us, through_us, cause=Cause.SKIPPED_BY_POLICY))
    elif policy is MissedPolicy.FIRE_ALL:
        _fire_all(draft, rules, after_us=after_us, through_us=through_us, now_us=now_us)
    else:
        run = Coalescing(len(draft.rows), rules, after_us, through_us, now_us)
        draft.coalescing.append(run)
        draft.cover(range_row(rules, after_us, through_us, cause=Cause.COALESCED))


def land_missed(draft: Draft) -> None:
    """Give the coalescing runs their fire: the newest that the decision dispatches.

    Where it dispatches none, the newest missed instant fires on the catch-up lane, and becomes
    the pending fire that a later one may absorb.
    """
    if draft.owes_a_fire():
        _fire_newest(draft, draft.coalescing[-1])
    draft.rows = [
        row._replace(coalesced_into_us=draft.dispatched_us) if row.cause is Cause.COALESCED else row
        for row in draft.rows
    ]


def join_ranges(draft: Draft) -> None:
    """Make consecutive instants with one cause and version one range row, across segments."""
    joined: list[DecidedRow] = []
    for row in draft.rows:
        if joined and _continues(draft, joined[-1], row):
            count = joined[-1].instant_count + row.instant_count
            row = joined.pop()._replace(through_us=row.last_us, instant_count=count)
        joined.append(row)
    draft.rows = joined


def _continues(draft: Draft, row: DecidedRow, following: DecidedRow) -> bool:
    if row.cause is None or not row.instant_count or not following.instant_count:
        return False
    if _meaning(row) != _meaning(following):
        return False
    recurrence = draft.view.versions[row.version].recurrence
    return recurrence.next_after_us(row.last_us) == following.scheduled_us


def _meaning(row: DecidedRow) -> tuple[object, ...]:
    return (row.version, row.state, row.cause, row.cause_detail, row.coalesced_into_us)


def _fire_newest(draft: Draft, run: Coalescing) -> None:
    """Turn the run's newest instant into a fire, in its place among the rows."""
    row = draft.rows[run.row_index]
    fire = catch_up_row(run.rules, run.through_us, now_us=run.now_us)
    # The row says which fire is the pending one, so that the due index can be rebuilt from it.
    fire = fire._replace(cause_detail=MissedPolicy.FIRE_ONCE_NOW.value)
    older_us = run.rules.recurrence.previous_before_us(run.through_us)
    older = (
        [row._replace(through_us=older_us, instant_count=row.instant_count - 1)]
        if older_us is not None and older_us > run.after_us
        else []
    )
    draft.rows[run.row_index : run.row_index + 1] = [*older, fire]
    draft.fired += 1
    draft.dispatched_us = draft.pending_us = run.through_us


def _fire_all(draft: Draft, rules: Rules, *, after_us: int, through_us: int, now_us: int) -> None:
    recurrence = rules.recurrence
    count = recurrence.count_between_us(after_us, through_us)
    remaining = draft.remaining(rules)
    if remaining is not None and count > remaining:
        count = remaining
        through_us = _nth_after(rules, after_us, through_us=through_us, n=remaining)
    if count <= GAP_THRESHOLD_INSTANTS:
        for instant_us in recurrence.between_us(after_us, through_us, GAP_THRESHOLD_INSTANTS):
            draft.dispatch(catch_up_row(rules, instant_us, now_us=now_us))
        return
    draft.plan(
        DecidedGap(after_us, through_us, rules.version, now_us, MissedPolicy.FIRE_ALL, count)
    )


def _nth_after(rules: Rules, after_us: int, *, through_us: int, n: int) -> int:
    """The n-th instant after `after_us`, which is at most `through_us`, by halving the range.

    `max_fires` may allow a billion: listing them would cost what a gap row is there to save.
    """
    low_us, high_us = after_us, through_us
    while high_us - low_us > 1:
        middle_us = (low_us + high_us) // 2
        if rules.recurrence.count_between_us(after_us, middle_us) >= n:
            high_us = middle_us
        else:
            low_us = middle_us
    return high_us


def catch_up_row(rules: Rules, instant_us: int, *, now_us: int) -> DecidedRow:
    """A missed instant that fires: held for the releaser, and never before its own due time.

    Only a paused instant may still have its due time ahead of the `now` it is judged by.
    """
    due_at_us = due_of(rules, instant_us)
    is_ahead = due_at_us > now_us
    return DecidedRow(
        instant_us,
        due_at_us,
        rules.version,
        FireState.HELD,
        Lane.CATCH_UP,
        held_reason=HeldReason.DUE_LATER if is_ahead else HeldReason.LANE_RATE,
        not_before_us=due_at_us if is_ahead else None,
    )


def range_row(
    rules: Rules,
    after_us: int,
    through_us: int,
    *,
    cause: Cause,
    detail: str | None = None,
) -> DecidedRow | None:
    """One row for the instants in (after, through]; `through_us` is the last of them."""
    first_us = rules.recurrence.next_after_us(after_us)
    if first_us is None or first_us > through_us:
        return None
    return DecidedRow(
        first_us,
        due_of(rules, first_us),
        rules.version,
        FireState.NOT_DISPATCHED,
        cause=cause,
        cause_detail=detail,
        through_us=through_us,
        instant_count=rules.recurrence.count_between_us(after_us, through_us),
    )


def newest_due(
    rules: Rules, after_us: int, *, through_us: int, due_through_us: int | None
) -> int | None:
    """The newest instant in (after, through] whose due time is not after `due_through_us`.

    Due times rise strictly with their instants, since a smear never reaches the next instant:
    so at most the newest candidate is still ahead.
    """
    if due_through_us is not None:
        through_us = min(through_us, due_through_us)
    instant_us = rules.recurrence.previous_before_us(through_us + 1)
    if (
        rules.smear_us
        and due_through_us is not None
        and instant_us is not None
        and instant_us > after_us
        and due_of(rules, instant_us) > due_through_us
    ):
        instant_us = rules.recurrence.previous_before_us(instant_us)
    return instant_us if instant_us is not None and instant_us > after_us else None
