"""The last step of a decision: overlap, then the absorption of a pending catch-up fire.

Both need what only the store's transaction knows (the slot, what waits), so they are applied
inside it, to the decision just made. Pure all the same.
"""

from typing import NamedTuple

from scheduling.decide import look_ahead, with_retry_ends
from scheduling.decision import DecidedRow, Decision
from scheduling.draft import TriggerView
from scheduling.overlap import resolve_overlap
from scheduling.vocabulary import Cause, FireState, Lane, OverlapPolicy


class SlotView(NamedTuple):
    """The trigger's in-flight slot, after its retries were truncated."""

    taken: bool = False
    buffered: int = 0


def resolve(
    decision: Decision, view: TriggerView, *, policy: OverlapPolicy, slot: SlotView
) -> Decision:
    """The decision with overlap resolved, an older pending fire absorbed, and counts put right."""
    if policy is OverlapPolicy.ALLOW and view.pending_us is None:
        return decision
    if policy is not OverlapPolicy.ALLOW:
        rows = resolve_overlap(policy, decision.rows, slot_taken=slot.taken, buffered=slot.buffered)
        given_back = sum(1 for row in rows if row.cause is Cause.OVERLAP)
        decision = decision._replace(
            rows=_into_the_newest(rows), fired_delta=decision.fired_delta - given_back
        )
    decision = look_ahead(_absorb(decision, view), view)
    return decision._replace(rows=with_retry_ends(decision.rows, decision.next_due_us))


def _into_the_newest(rows: tuple[DecidedRow, ...]) -> tuple[DecidedRow, ...]:
    """Coalesced rows follow the newest fire left; where overlap left none, they keep the chain."""
    skipped = {row.scheduled_us for row in rows if row.cause is Cause.OVERLAP}
    newest_us = max((row.scheduled_us for row in rows if row.cause is None), default=None)
    if not skipped or newest_us is None:
        return rows
    return tuple(
        row._replace(coalesced_into_us=newest_us) if row.coalesced_into_us in skipped else row
        for row in rows
    )


def _absorb(decision: Decision, view: TriggerView) -> Decision:
    newer_us = max((row.scheduled_us for row in decision.rows if _absorbs(row)), default=None)
    if view.pending_us is None or newer_us is None:
        return decision
    still_pending_us = decision.pending_us if decision.pending_us != view.pending_us else None
    return decision._replace(
        absorbed_us=view.pending_us,
        absorbed_into_us=newer_us,
        fired_delta=decision.fired_delta - 1,
        pending_us=still_pending_us,
    )


def _absorbs(row: DecidedRow) -> bool:
    return row.state is FireState.READY or (
        row.state is FireState.HELD and row.lane is Lane.CATCH_UP
    )
