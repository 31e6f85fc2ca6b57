"""What a schedule means, as the API is asked and tells it."""

from pydantic import Field

from scheduling.limits import SMEAR_S_MAX
from scheduling.vocabulary import FoldRule, GapRule
from schemas.api.common import In, Instant, Out
from schemas.api.odd_nights import OddNightOut
from schemas.manifest import LocalOrUtc
from schemas.manifest_fields import CalendarNames, ExcludedDates, Schedule


class PreviewIn(In):
    """The keys of a trigger that say when, and where to begin.

    tenant, name:  of the trigger: `H` is derived from both, calendars and the default smear are
                   the tenant's
    from:          the first instant shown is later; without it, now
    """

    schedule: Schedule
    zone: str = Field(min_length=1)
    gap_rule: GapRule = Field(default=GapRule.SHIFT_FORWARD, alias="gap", strict=False)
    fold_rule: FoldRule = Field(default=FoldRule.FIRST, alias="fold", strict=False)
    starts_at_us: LocalOrUtc = Field(default=None, alias="starts_at")
    ends_at_us: LocalOrUtc = Field(default=None, alias="ends_at")
    excluded_on: ExcludedDates = Field(default=(), alias="exclude")
    calendars: CalendarNames = ()
    smear_s: int | None = Field(default=None, ge=0, le=SMEAR_S_MAX)
    tenant: str | None = None
    name: str | None = None
    from_us: LocalOrUtc = Field(default=None, alias="from")
    count: int = Field(default=10, ge=1, le=1_000)


class PreviewInstant(Out):
    """One instant.

    due_at:      with its smear; null where that depends on the id of a trigger that is not there
    due_latest:  the smear never moves it beyond this
    mark:        whether it stands in for a skipped local time, or is one pass of a repeated one
    """

    scheduled_instant: Instant
    local: str
    offset: str
    weekday: str
    due_at: Instant | None
    due_latest: Instant
    mark: str | None


class OpinionOut(Out):
    """What croniter says of the next three; where it disagrees, a trigger would be refused."""

    agrees: bool
    text: str


class PreviewOut(Out):
    """What the schedule means. No instants where nothing lies ahead."""

    says: str
    schedule: list[str]
    zone: str
    instants: list[PreviewInstant]
    odd_nights: list[OddNightOut]
    second_opinion: OpinionOut
    tzdata_version: str
