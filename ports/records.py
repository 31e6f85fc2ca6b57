"""The records that cross the store's ports.

Times are integers of microseconds since the epoch, named `_us`; hot ones are NamedTuples,
because a commit builds tens of thousands of them a second. No repr holds a payload or a secret.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from scheduling.calendars import ExclusionCalendar
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.retry import AttemptResult
from scheduling.vocabulary import (
    Cause,
    FireState,
    FoldRule,
    GapRule,
    HeldReason,
    Lane,
    MissedPolicy,
    Origin,
    OverlapPolicy,
    OwnershipState,
    ResumeRule,
    SpanKind,
    TriggerState,
)


class LaneMessage(NamedTuple):
    """A fire on its way to a dispatcher: which attempt of which fire, on which lane."""

    key: FireKey
    lane: Lane
    n: int


class Quarantined(NamedTuple):
    """A trigger whose rule could not be evaluated, and the error."""

    tenant_id: str
    trigger_id: str
    error: str


class CommitResult(NamedTuple):
    """What one `commit_due` did.

    fenced:      another epoch holds the partition; nothing was written
    ready:       fires to publish, in order per trigger
    rows:        ledger rows and gaps written, kept fires moved on, rows that quarantines wrote
    triggers:    triggers decided
    more:        the row limit was reached and due triggers remain
    """

    fenced: bool = False
    ready: tuple[LaneMessage, ...] = ()
    rows: int = 0
    triggers: int = 0
    more: bool = False
    quarantined: tuple[Quarantined, ...] = ()


class ClaimRequest(NamedTuple):
    """Attempt `n` of a fire, as its message says."""

    key: FireKey
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedFire:
    """One attempt that was claimed: everything that its delivery needs."""

    key: FireKey
    n: int
    trigger_name: str
    version: int
    origin: Origin
    lane: Lane
    due_us: int
    claimed_until_us: int
    tzdata_version: str
    endpoint: str
    timeout_s: float
    signing_secrets: tuple[str, ...] = field(repr=False)
    is_target_usable: bool
    payload: bytes | None = field(repr=False)
    trace_parent: str


class FinishRequest(NamedTuple):
    """What an attempt brought back; `ended_us` is when it ended.

    `claimed_until_us` is the claim's, by which an untried attempt is told from a later one of the
    same number: it is given with such a result, and matters to no other.
    """

    key: FireKey
    n: int
    result: AttemptResult
    ended_us: int
    claimed_until_us: int | None = None


class FinishResult(NamedTuple):
    """The fire's state after the attempt, and fires that its end set free."""

    key: FireKey
    state: FireState
    ready: tuple[LaneMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FireRecord:
    """One ledger row as readers see it; a range row has `instant_count` other than 1.

    attempts:       how many were claimed, whatever came of them
    outcome_cause:  what the work gave as the cause of its failure, as it was sent
    """

    key: FireKey
    trigger_name: str
    version: int
    origin: Origin
    lane: Lane
    state: FireState
    cause: Cause | None
    cause_detail: str | None
    held_reason: HeldReason | None
    not_before_us: int | None
    due_us: int
    decided_us: int
    committed_us: int
    queued_us: int | None
    first_dispatched_us: int | None
    next_attempt_n: int
    coalesced_into_us: int | None
    through_us: int | None
    instant_count: int
    tzdata_version: str
    changed_us: int
    attempts: int
    outcome_cause: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """One try; without `finished_us` it is under way, or its claim is about to expire."""

    n: int
    dispatched_us: int
    claimed_until_us: int
    finished_us: int | None
    transport_result: str | None
    http_status: int | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecord:
    """A frozen range still to be planned: after exclusive, through inclusive."""

    tenant_id: str
    trigger_id: str
    version: int
    after_us: int
    through_us: int
    detected_us: int
    planned_through_us: int
    instant_count: int
    planned_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRecord:
    """A tenant and its quotas; `catchup_rate_pct` is of `quota_dispatch_per_s`.

    `revision` is the store's: a change does not set it.
    """

    tenant_id: str
    quota_triggers: int
    quota_dispatch_per_s: int
    quota_inflight: int
    catchup_rate_pct: int
    smear_s: int
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRecord:
    """`secret` is only ever written, or read back by the dispatcher; listings leave it out.

    The fields from `ownership` on are the store's: a change of the target does not set them.
    """

    tenant_id: str
    target_id: str
    endpoint: str
    timeout_s: float
    kind: str = "http"
    secret: str | None = field(default=None, repr=False)
    ownership: OwnershipState = OwnershipState.PENDING
    verified_us: int | None = None
    checked_us: int | None = None
    check_detail: str | None = None
    revision: int = 0
    created_us: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerDefinition:
    """What a version is made of. Durations in seconds, instants in microseconds.

    calendars:            names of the tenant's exclusion calendars
    exclusion_calendars:  those in the revisions that the version uses; told by readers, and
                          looked up by the store when a trigger is put
    """

    recurrence: tuple[str, ...]
    zone: str
    target_id: str
    payload: bytes | None = field(default=None, repr=False)
    gap_rule: GapRule = GapRule.SHIFT_FORWARD
    fold_rule: FoldRule = FoldRule.FIRST
    starts_us: int | None = None
    ends_us: int | None = None
    exclusions: tuple[str, ...] = ()
    calendars: tuple[str, ...] = ()
    max_fires: int | None = None
    smear_s: int = 0
    missed_policy: MissedPolicy = MissedPolicy.FIRE_ONCE_NOW
    overlap_policy: OverlapPolicy = OverlapPolicy.ALLOW
    catchup_horizon_s: int
    horizon_source: str
    attempt_budget: int
    retry_window_s: int
    run_timeout_s: int
    outcome_window_s: int
    response_is_outcome: bool = False
    has_payload: bool = False  # told by readers, which never see the payload itself
    exclusion_calendars: tuple[ExclusionCalendar, ...] = field(
        default=(), compare=False, repr=False
    )

    @property
    def smear_us(self) -> int:
        return self.smear_s * SECOND_US

    @property
    def horizon_us(self) -> int:
        return self.catchup_horizon_s * SECOND_US


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRecord:
    """A trigger and where its decisions stand."""

    tenant_id: str
    trigger_id: str
    name: str
    state: TriggerState
    version: int
    revision: int
    partition_id: int
    pause_note: str | None
    quarantine_error: str | None
    decided_through_us: int
    next_due_us: int | None
    fired_count: int
    created_us: int


class AuditRecord(NamedTuple):
    """Who did what to which subject, what it was before, and what is different since.

    Both values are JSON objects by field; `new_value` holds what an edit changed, and no more.
    """

    at_us: int
    actor: str
    action: str
    tenant_id: str | None = None
    subject: str | None = None
    prior_value: str | None = None
    note: str | None = None
    audit_id: int | None = None  # given by the store
    new_value: str | None = None


class Lease(NamedTuple):
    """Who owns a partition, by which epoch, until when."""

    partition_id: int
    owner_id: str | None
    epoch: int
    expires_us: int


class Heartbeat(NamedTuple):
    """`held` maps partition to epoch, after renewing, shedding a surplus and acquiring."""

    held: dict[int, int]
    acquired: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()


class HeldHorizon(NamedTuple):
    """How far back catch-up may reach, and `default` or `chosen by PRINCIPAL`."""

    seconds: int
    source: str


class SpanRecord(NamedTuple):
    """From when on which version, or a pause, a quarantine or a deletion, applies."""

    revision: int
    from_us: int
    kind: SpanKind
    version: int
    resume_rule: ResumeRule | None
    note: str | None
    actor: str


class CalendarRecord(NamedTuple):
    """An exclusion calendar; `dates` are those of its rules and its `own_dates`, sorted."""

    tenant_id: str
    calendar_id: str
    rules: tuple[str, ...]
    dates: tuple[str, ...]
    own_dates: tuple[str, ...]
    revision: int


class AllowedHost(NamedTuple):
    """A host that an operator vouches for; `tenant_id` None holds for all tenants."""

    tenant_id: str | None
    host: str
    allowed_by: str
    allowed_us: int
