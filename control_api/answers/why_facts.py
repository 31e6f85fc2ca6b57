"""What is known of one instant of one trigger, and the answer about it: the records of `why`."""

from dataclasses import dataclass
from typing import NamedTuple

from control_api.answers.zone_times import local_text, wall_time
from ports.records import (
    AttemptRecord,
    AuditRecord,
    FireRecord,
    GapRecord,
    Lease,
    TriggerDefinition,
    TriggerRecord,
)
from schemas.api.why import Kind


class Answer(NamedTuple):
    kind: Kind
    sentence: str


class Edit(NamedTuple):
    """The change of the definition that took an instant away, or that brought it too late.

    version, at_us: the version that it began, and from when on that holds
    """

    version: int
    at_us: int
    actor: str
    took_it_away: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyFacts:
    """All that a sentence may need; times in microseconds.

    definition:    of the version that decides or decided the instant; None where it is unknown
    due_us:        when the instant is due, its smear included
    is_instant:    whether that version has this instant
    is_excluded:   whether it is none only because its date is excluded
    edit:          why that version has not the instant where another one has it
    is_over_limit: whether `max_fires` is reached by the instants before it
    before_us, after_us: the nearest instants of the schedule
    row:           the ledger's row that covers the instant; of what is no instant, a manual run
    run:           who asked for the manual run
    chain:         the fires that the row was coalesced into, in order
    others:        further manual runs and backfills of the same instant
    gap:           the gap, still to be planned, that holds the instant
    change:        the pause, deletion or quarantine that stands behind the row or the trigger
    lease:         of the trigger's partition
    """

    trigger: TriggerRecord
    instant_us: int
    now_us: int
    definition: TriggerDefinition | None
    due_us: int
    is_instant: bool
    before_us: int | None
    after_us: int | None
    row: FireRecord | None
    attempts: tuple[AttemptRecord, ...]
    chain: tuple[FireRecord, ...]
    others: tuple[FireRecord, ...]
    gap: GapRecord | None
    change: AuditRecord | None
    lease: Lease | None
    pinned_tzdata: str
    installed_tzdata: str
    is_excluded: bool = False
    edit: Edit | None = None
    is_over_limit: bool = False
    run: AuditRecord | None = None

    @property
    def zone(self) -> str:
        return "UTC" if self.definition is None else self.definition.zone

    @property
    def subject(self) -> str:
        return f"{self.trigger.tenant_id}/{self.trigger.name}"

    @property
    def when(self) -> str:
        """The instant with its weekday, as the trigger's own clock shows it."""
        return self.full(self.instant_us)

    def full(self, instant_us: int) -> str:
        return local_text(self.zone, instant_us, weekday=True)

    def moment(self, instant_us: int) -> str:
        """An instant beside the one asked about: its date only where it is another day."""
        text = local_text(self.zone, instant_us)
        day = str(wall_time(self.zone, self.instant_us).date())
        return text.removeprefix(f"{day} ")

    def by_whom(self) -> str:
        """` by cli:ann at 09:12:00 +01:00 (price change)`, or nothing where it is not known."""
        if self.change is None:
            return ""
        note = f" ({self.change.note})" if self.change.note else ""
        return f" by {self.change.actor} at {self.moment(self.change.at_us)}{note}"

    def idle(self) -> str:
        """A clause for when nobody decides or sends; nothing while the lease is held."""
        lease = self.lease
        if lease is not None and lease.owner_id is not None and lease.expires_us > self.now_us:
            return ""
        return "; nothing is running now: start `punctual up`"
