"""Decisions as short lines, so that a table of them can be read: `60..540 x9 coalesced>600`."""

from scheduling.decision import DecidedGap, DecidedRow, Decision
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, Lane


def brief(decision: Decision) -> list[str]:
    """A line a row, then a line a gap; times in seconds."""
    return [*map(brief_row, decision.rows), *map(brief_gap, decision.gaps)]


def brief_row(row: DecidedRow) -> str:
    """The instants, then the lane and state or the cause, then what they went into."""
    text = _s(row.scheduled_us)
    if row.through_us is not None:
        text += f"..{_s(row.through_us)} x{row.instant_count}"
    text += f" {_fate(row)}"
    return text if row.coalesced_into_us is None else f"{text}>{_s(row.coalesced_into_us)}"


def brief_gap(gap: DecidedGap) -> str:
    """After exclusive, through inclusive, the count and the frozen `now`."""
    bounds = f"({_s(gap.after_us)}..{_s(gap.through_us)}]"
    return f"gap {bounds} x{gap.instant_count} at {_s(gap.detected_us)}"


def _fate(row: DecidedRow) -> str:
    if row.cause is not None:
        return row.cause.value
    lane = "" if row.lane is Lane.ON_TIME else f"{row.lane.value} "
    if row.state is FireState.HELD:
        return f"{lane}held {row.held_reason}"
    return f"{lane}{row.state.value}"


def _s(instant_us: int) -> str:
    return str(instant_us / SECOND_US) if instant_us % SECOND_US else str(instant_us // SECOND_US)
