"""The changes that people make, as values, and what became of each.

`expected_revision` is an If-Match: the change is refused as stale when its subject has another
revision; 0 expects that there is none yet, None expects nothing. A Put that `must_exist` replaces
and makes nothing.
"""

from dataclasses import dataclass, field

from ports.principals import GrantRecord
from ports.records import TargetRecord, TenantRecord, TriggerDefinition
from scheduling.keys import FireKey
from scheduling.vocabulary import ChangeKind as ChangeKind
from scheduling.vocabulary import OwnershipState, ResumeRule


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTenant:
    """Create a tenant, or set its quotas and default smear."""

    tenant: TenantRecord
    expected_revision: int | None = None
    must_exist: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePayloadKey:
    """The audit entry of a deletion that follows the commit; keys lie outside the store.

    So an act without its entry cannot be; an entry whose act a crash prevented can, and a
    repeat of the request acts again.
    """

    tenant_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTarget:
    """Create or replace; without a secret the stored one is kept, or one is made.

    ownership:    what is known of the endpoint's owner. An endpoint on a host whose ownership is
                  not proven is stored as `pending`; while triggers use the target, a move to such
                  a host is refused as a conflict.
    check_detail: what a check of this moment found, for the target's author; None without one
    """

    target: TargetRecord
    ownership: OwnershipState = OwnershipState.PENDING
    check_detail: str | None = None
    expected_revision: int | None = None
    must_exist: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTarget:
    """Refused as a conflict while a trigger uses the target."""

    tenant_id: str
    target_id: str
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOwnership:
    """What a check of a target's ownership found; nothing if the endpoint is another by now.

    ownership: the state from now on. `proven` is a proof of this moment; None is a failed check
               that leaves state and last proof as they were.
    """

    tenant_id: str
    target_id: str
    endpoint: str
    ownership: OwnershipState | None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowHost:
    """An operator vouches for a host, for one tenant or (None) for all."""

    tenant_id: str | None
    host: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisallowHost:
    """Takes an `AllowHost` back; targets that rested on it become pending."""

    tenant_id: str | None
    host: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutCalendar:
    """Create or replace an exclusion calendar: RFC 5545 RRULE or EXDATE texts and dates.

    Every trigger that uses it gets a new version in the same transaction.
    """

    tenant_id: str
    calendar_id: str
    rules: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    expected_revision: int | None = None
    must_exist: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteCalendar:
    """Refused as a conflict while a trigger uses it."""

    tenant_id: str
    calendar_id: str
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTrigger:
    """Create, or a new version when the definition differs; equal definitions change nothing.

    keep_payload:   the current version's payload stays; `definition.payload` is None then
    held_horizon_s: the horizon by which the definition's was judged, as the registry's `horizon`
                    tells it; stale where another one holds by now. None expects nothing.
    """

    tenant_id: str
    name: str
    definition: TriggerDefinition
    reset_fired_count: bool = False
    keep_payload: bool = False
    held_horizon_s: int | None = None
    expected_revision: int | None = None
    must_exist: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetHorizon:
    """A new version that differs in its catch-up horizon alone; None = the default again."""

    tenant_id: str
    name: str
    catchup_horizon_s: int | None
    note: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTrigger:
    """Stop deciding; waiting fires of the schedule and unplanned gaps are stopped too.

    Manual runs and backfills are acts of their own: a pause neither stops nor forbids them.
    """

    tenant_id: str
    name: str
    note: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTrigger:
    """Ends a pause, or a quarantine whose cause is gone."""

    tenant_id: str
    name: str
    rule: ResumeRule = ResumeRule.DROP
    note: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTrigger:
    """End a trigger for good; its rows stay. A re-created name is a new trigger."""

    tenant_id: str
    name: str
    note: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrigger:
    """A manual run: a fire of origin `manual` on the on-time lane, its instant the acceptance.

    It takes the next sequence of its tenant and displaces nothing. Under an overlap policy other
    than `allow` a taken slot refuses it as a conflict, unless forced; it takes a free slot.
    payload: replaces the version's for this run alone; None keeps it
    """

    tenant_id: str
    name: str
    force: bool = False
    payload: bytes | None = field(default=None, repr=False)
    note: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelFire:
    """Stop one waiting fire with the cause `cancelled`; one that was tried ends as it stands.

    Refused as a conflict where nothing waits: under way, at an end, or a range row.
    """

    key: FireKey
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateToken:
    """A token, by its hash, of a principal that is made if need be.

    expected_grants: all that the principal holds now, as whoever allowed this knew it; None expects
                     nothing, anything else is refused as stale
    """

    principal_id: str
    token_id: str
    token_hash: str = field(repr=False)
    expires_us: int | None = None
    expected_grants: frozenset[GrantRecord] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeToken:
    """Once and for good; a revoked token changes nothing."""

    token_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddGrant:
    """The principal is made if need be; a grant that is held changes nothing.

    expected_tokens: the ids of its tokens that are not revoked, likewise
    """

    grant: GrantRecord
    expected_tokens: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveGrant:
    """A grant that is not held is refused as not found."""

    grant: GrantRecord


Change = (
    PutTenant
    | DeletePayloadKey
    | PutTarget
    | DeleteTarget
    | RecordOwnership
    | AllowHost
    | DisallowHost
    | PutCalendar
    | DeleteCalendar
    | PutTrigger
    | SetHorizon
    | PauseTrigger
    | ResumeTrigger
    | DeleteTrigger
    | RunTrigger
    | CancelFire
    | CreateToken
    | RevokeToken
    | AddGrant
    | RemoveGrant
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentRequest:
    """A request that may be repeated: the same key with the same fingerprint has one effect."""

    principal_id: str
    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeResult:
    """What one change did; `stopped_fires` counts waiting fires it stopped in its transaction.

    revision:  the subject's after the change; None where it has none
    left:      a tenant or a target as the change left it, without secrets; None of other things
    fire_key:  of a manual run or a cancelled fire
    replayed:  the change was made by an earlier request with the same idempotency key
    """

    kind: ChangeKind
    subject: str
    tenant_id: str
    trigger_id: str | None = None
    version: int | None = None
    revision: int | None = None
    from_us: int | None = None
    next_due_us: int | None = None
    settled_rows: int = 0
    stopped_fires: int = 0
    fire_key: FireKey | None = None
    left: TenantRecord | TargetRecord | None = None
    replayed: bool = False
