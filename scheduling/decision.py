"""The values a decision is made of. A decision is a value; only the commit makes it true.

NamedTuples, not dataclasses: a commit builds tens of thousands of them a second.
"""

from typing import NamedTuple

from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, MissedPolicy


class DecidedRow(NamedTuple):
    """One ledger row at sequence 0: a fire, or a range row for consecutive instants.

    A range row has its first instant as `scheduled_us`, its last as `through_us`, and
    `instant_count` is how many it covers. A row of count 0 stands for a span whose rule could
    not be evaluated. All times in microseconds since the epoch.
    """

    scheduled_us: int
    due_us: int
    version: int
    state: FireState
    lane: Lane = Lane.ON_TIME
    cause: Cause | None = None
    cause_detail: str | None = None
    held_reason: HeldReason | None = None
    not_before_us: int | None = None
    grace_until_us: int | None = None
    retry_until_us: int | None = None
    coalesced_into_us: int | None = None
    through_us: int | None = None
    instant_count: int = 1

    @property
    def last_us(self) -> int:
        return self.scheduled_us if self.through_us is None else self.through_us


class DecidedGap(NamedTuple):
    """A frozen range of missed instants still to be planned: after exclusive, through inclusive.

    `detected_us` is the planner's `now`, so that when it runs changes nothing.
    """

    after_us: int
    through_us: int
    version: int
    detected_us: int
    policy: MissedPolicy
    instant_count: int


class Decision(NamedTuple):
    """What one look at one trigger decided.

    cursor_us:     the last decided instant (unchanged when nothing was due), never `now`
    next_due_us:   when to look again; None when an open span or the end of the rule covers all
    fired_delta:   what the decision adds to `fired_count`
    pending_us:    the instant of the one catch-up fire that a newer fire may still absorb
    absorbed_us:   an earlier pending fire that this decision coalesces into `absorbed_into_us`
    finished:      the live rule has no instant left, or `max_fires` is reached
    """

    rows: tuple[DecidedRow, ...]
    gaps: tuple[DecidedGap, ...]
    cursor_us: int
    next_due_us: int | None
    fired_delta: int = 0
    pending_us: int | None = None
    absorbed_us: int | None = None
    absorbed_into_us: int | None = None
    finished: bool = False
