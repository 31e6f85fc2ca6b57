"""Missed instants: expiry past the horizon, then the policy, in a constant number of rows."""

from scheduling.decision import DecidedGap, DecidedRow
from scheduling.draft import Draft
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
    catcher_us: int | None = None,
    policy: MissedPolicy | None = None,
) -> None:
    """The missed instants in (after, through]: the old ones expire, the rest go by policy."""
    policy = policy or rules.missed_policy
    expired_us = newest_due(
        rules, after_us, through_us=through_us, due_through_us=now_us - rules.horizon_us - 1
    )
    if expired_us is not None:
        detail = f"horizon {rules.horizon_us // 1_000_000} s, {rules.horizon_source}"
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
        _fire_once(draft, rules, after_us=after_us, through_us=through_us, catcher_us=catcher_us)


def _fire_once(
    draft: Draft, rules: Rules, *, after_us: int, through_us: int, catcher_us: int | None
) -> None:
    if catcher_us is not None:
        draft.cover(
            range_row(rules, after_us, through_us, cause=Cause.COALESCED, into_us=catcher_us)
        )
        return
    older_us = rules.recurrence.previous_before_us(through_us)
    if older_us is not None and older_us > after_us:
        draft.cover(range_row(rules, after_us, older_us, cause=Cause.COALESCED, into_us=through_us))
    draft.fire(_catch_up_row(rules, through_us))
    draft.pending_us = through_us


def _fire_all(draft: Draft, rules: Rules, *, after_us: int, through_us: int, now_us: int) -> None:
    recurrence = rules.recurrence
    count = recurrence.count_between_us(after_us, through_us)
    remaining = draft.remaining(rules)
    if remaining is not None and count > remaining:
        count = remaining
        through_us = recurrence.between_us(after_us, through_us, remaining)[-1]
    if count <= GAP_THRESHOLD_INSTANTS:
        for instant_us in recurrence.between_us(after_us, through_us, GAP_THRESHOLD_INSTANTS):
            draft.fire(_catch_up_row(rules, instant_us))
        return
    draft.gaps.append(
        DecidedGap(after_us, through_us, rules.version, now_us, MissedPolicy.FIRE_ALL, count)
    )
    draft.fired += count
    draft.cursor_us = through_us


def _catch_up_row(rules: Rules, instant_us: int) -> DecidedRow:
    return DecidedRow(
        instant_us,
        due_of(rules, instant_us),
        rules.version,
        FireState.HELD,
        Lane.CATCH_UP,
        held_reason=HeldReason.LANE_RATE,
    )


def range_row(
    rules: Rules,
    after_us: int,
    through_us: int,
    *,
    cause: Cause,
    detail: str | None = None,
    into_us: int | None = None,
) -> DecidedRow | None:
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
        coalesced_into_us=into_us,
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
