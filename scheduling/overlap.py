"""Overlap: what becomes of on-time instants while a run of the trigger holds its slot."""

from collections.abc import Sequence

from scheduling.decision import DecidedRow
from scheduling.limits import OVERLAP_BUFFER_MAX
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, OverlapPolicy


def resolve_overlap(
    policy: OverlapPolicy, rows: Sequence[DecidedRow], *, slot_taken: bool, buffered: int
) -> tuple[DecidedRow, ...]:
    """The rows with their fate under the policy; at most one of them is `ready`, the slot's.

    `rows` are one decision's, oldest first; only `ready` ones on the on-time lane are touched.
    `buffered` counts fires already held for overlap: newer ones queue behind them.
    """
    if policy is OverlapPolicy.ALLOW:
        return tuple(rows)
    resolved: list[DecidedRow] = []
    for row in rows:
        if row.state is not FireState.READY or row.lane is not Lane.ON_TIME:
            resolved.append(row)
            continue
        if not slot_taken and not buffered:
            slot_taken = True
            resolved.append(row)
        elif buffered < _buffer_size(policy):
            buffered += 1
            resolved.append(
                row._replace(
                    state=FireState.HELD, held_reason=HeldReason.OVERLAP, retry_until_us=None
                )
            )
        else:
            resolved.append(
                row._replace(
                    state=FireState.NOT_DISPATCHED, cause=Cause.OVERLAP, retry_until_us=None
                )
            )
    return tuple(resolved)


def _buffer_size(policy: OverlapPolicy) -> int:
    if policy is OverlapPolicy.BUFFER_ONE:
        return 1
    return OVERLAP_BUFFER_MAX if policy is OverlapPolicy.BUFFER_ALL else 0
