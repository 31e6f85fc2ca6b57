"""What lies ahead, as the API tells it: what is due next, what waits, and the busiest seconds."""

from scheduling.vocabulary import Lane
from schemas.api.common import Instant, Out


class UpcomingInstant(Out):
    """An instant that is still to be decided; it is due with its smear."""

    due_at: Instant
    scheduled_instant: Instant
    scheduled_local: str
    zone: str
    tenant: str
    trigger: str
    trigger_id: str


class UpcomingOut(Out):
    """The next instants by due time.

    reason:       why there are none, where that is known
    is_complete:  false where so many triggers are due that not all could be looked at
    """

    items: list[UpcomingInstant]
    reason: str | None
    is_complete: bool


class LaneBacklogOut(Out):
    """What waits on a lane. `ends_at` is null where nothing can be foretold; `assumption` why."""

    lane: Lane
    waiting: int
    ends_at: Instant | None
    assumption: str


class BacklogOut(Out):
    """Every lane, of one trigger, of a tenant, or (both null) of all together."""

    tenant: str | None
    trigger: str | None
    lanes: list[LaneBacklogOut]


class CrowdOut(Out):
    """Triggers that were written alike; `names` are the first few of them."""

    schedule: list[str]
    zone: str
    count: int
    names: list[str]


class HotSecondOut(Out):
    at: Instant
    count: int
    crowds: list[CrowdOut]


class SmearOut(Out):
    """What smear on all of these triggers keeps every second at `level` fires or below.

    smear_s:      0 where none is needed, null where none was found up to an hour
    expected:     fires in the busiest second then, counted by each one's due time
    is_complete:  false where that is too much to count: then around the busiest second alone
    """

    level: int
    smear_s: int | None
    expected: int
    is_complete: bool


class HotSecondsOut(Out):
    """The busiest seconds of a tenant's next day.

    before, after:  by scheduled instants, and by due times under the present smears
    unreadable:     triggers whose rule cannot be evaluated
    is_complete:    false where it is too much to count: then for less time, or fewer triggers
    """

    tenant: str
    since: Instant
    until: Instant
    triggers: int
    unreadable: int
    instants: int
    before: list[HotSecondOut]
    after: list[HotSecondOut]
    smear: SmearOut
    is_complete: bool
