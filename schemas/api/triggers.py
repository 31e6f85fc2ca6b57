"""Triggers as the API shows them; on the way in they are `schemas.manifest.TriggerSpec`."""

from pydantic import Field

from scheduling.limits import HORIZON_S_MAX, NOTE_CHARS_MAX
from scheduling.vocabulary import (
    Cause,
    ChangeKind,
    FireState,
    FoldRule,
    GapRule,
    MissedPolicy,
    OverlapPolicy,
    ResumeRule,
    TriggerState,
)
from schemas.api.common import In, Instant, Out
from schemas.api.odd_nights import OddNightOut
from schemas.manifest_fields import Duration, Payload


class RetryOut(Out):
    attempts: int
    window: str


class DefinitionOut(Out):
    """The keys of a trigger's body, ready to be edited and sent again; without its payload."""

    schedule: list[str]
    zone: str
    target: str
    missed: MissedPolicy
    overlap: OverlapPolicy
    gap: GapRule
    fold: FoldRule
    starts_at: Instant | None
    ends_at: Instant | None
    exclude: list[str]
    calendars: list[str]
    max_fires: int | None
    smear_s: int
    horizon: str
    retry: RetryOut
    run_timeout: str
    outcome_window: str
    response_is_outcome: bool


class TriggerOut(Out):
    """A trigger and where its decisions stand.

    says:             the schedule in words
    next:             the next due times as far as the schedule is known to go on, at most three
    horizon_source:   `default`, or who chose it
    """

    tenant: str
    name: str
    trigger_id: str
    state: TriggerState
    version: int
    revision: int
    definition: DefinitionOut
    has_payload: bool
    horizon_source: str
    says: str
    next_due_at: Instant | None
    next: list[Instant]
    decided_through: Instant
    fired_count: int
    pause_note: str | None
    quarantine_error: str | None
    created_at: Instant


class NewestFire(Out):
    """What was decided last; `through_instant` ends a row of several instants."""

    fire_key: str
    scheduled_instant: Instant
    through_instant: Instant | None
    state: FireState
    cause: Cause | None


class TriggerShown(TriggerOut):
    newest_fire: NewestFire | None


class TriggerDetail(TriggerShown):
    """odd_nights: those of the next 12 months"""

    odd_nights: list[OddNightOut]


class TriggerChanged(Out):
    """What a change of a trigger did.

    settled_rows:   instants that were due by then and are decided now
    stopped_fires:  waiting fires that it stopped
    """

    change: ChangeKind
    tenant: str
    name: str
    trigger_id: str
    version: int
    revision: int
    since: Instant | None
    settled_rows: int
    stopped_fires: int
    still_waiting: int = 0
    trigger: TriggerOut | None


class NoteIn(In):
    note: str | None = Field(default=None, min_length=1, max_length=NOTE_CHARS_MAX)


class PauseIn(NoteIn):
    """Why; shown wherever the trigger is."""


class ResumeIn(NoteIn):
    """`policy` says what becomes of the paused time."""

    policy: ResumeRule = Field(default=ResumeRule.DROP, strict=False)


class RunIn(NoteIn):
    """A run by hand: `force` runs it beside one under way; `payload` replaces the trigger's."""

    force: bool = False
    payload_json: Payload | None = Field(default=None, alias="payload")


class RunOut(Out):
    fire_key: str
    tenant: str
    trigger: str
    accepted_at: Instant


class HorizonIn(NoteIn):
    """How far back catch-up may reach; null for the service's default again."""

    horizon_s: Duration | None = Field(alias="horizon", ge=1, le=HORIZON_S_MAX)
