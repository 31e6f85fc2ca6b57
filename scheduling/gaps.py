"""The gap planner: the next slice of a frozen range of missed instants."""

from typing import NamedTuple

from scheduling.decision import DecidedRow
from scheduling.rules import Rules, due_of
from scheduling.vocabulary import FireState, HeldReason, Lane


class GapPlan(NamedTuple):
    """Held catch-up fires, how far the gap is planned with them, and whether that is its end."""

    rows: tuple[DecidedRow, ...]
    planned_through_us: int
    done: bool


def plan_gap(rules: Rules, planned_through_us: int, *, through_us: int, limit: int) -> GapPlan:
    """At most `limit` fires of (planned_through, through], oldest first, instants kept.

    The facts were frozen when the gap was found, so when this runs changes nothing.
    """
    instants = rules.recurrence.between_us(planned_through_us, through_us, limit)
    rows = tuple(
        DecidedRow(
            instant_us,
            due_of(rules, instant_us),
            rules.version,
            FireState.HELD,
            Lane.CATCH_UP,
            held_reason=HeldReason.LANE_RATE,
        )
        for instant_us in instants
    )
    done = len(instants) < limit or instants[-1] >= through_us
    return GapPlan(rows, through_us if done else instants[-1], done)
