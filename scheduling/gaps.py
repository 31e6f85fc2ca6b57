"""The gap planner: the next slice of a frozen range of missed instants."""

from typing import NamedTuple

from scheduling.decision import DecidedRow
from scheduling.missed import catch_up_row
from scheduling.rules import Rules


class GapPlan(NamedTuple):
    """Held catch-up fires, how far the gap is planned with them, and whether that is its end."""

    rows: tuple[DecidedRow, ...]
    planned_through_us: int
    done: bool


def plan_gap(
    rules: Rules,
    planned_through_us: int,
    *,
    through_us: int,
    limit: int,
    detected_us: int | None = None,
) -> GapPlan:
    """At most `limit` fires of (planned_through, through], oldest first, instants kept.

    The facts were frozen when the gap was found, so when this runs changes nothing. `limit` is
    at least 1. `detected_us` is the gap's frozen `now` (by default its end): a paused instant
    whose due time was still ahead of it is held until then.
    """
    if limit < 1:
        raise ValueError(f"limit: {limit} fires a slice would never end; give at least 1")
    now_us = through_us if detected_us is None else detected_us
    instants = rules.recurrence.between_us(planned_through_us, through_us, limit)
    rows = tuple(catch_up_row(rules, instant_us, now_us=now_us) for instant_us in instants)
    done = len(instants) < limit or instants[-1] >= through_us
    return GapPlan(rows, through_us if done else instants[-1], done)
