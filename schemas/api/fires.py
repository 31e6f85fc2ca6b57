"""Fires, their attempts and what was decided about them, as the API shows them."""

from pydantic import Field

from scheduling.vocabulary import Cause, ChangeKind, FireState, HeldReason, Lane, Origin
from schemas.api.common import Instant, Out


class FireLink(Out):
    """The fire that another one was coalesced into, at the end of the chain."""

    fire_key: str
    scheduled_instant: Instant
    state: FireState
    cause: Cause | None


class FireOut(Out):
    """One row of the ledger: an instant, or consecutive ones that share their fate.

    scheduled_local:  on the trigger's own clock, which is `zone`'s
    cause:            why it was not dispatched
    outcome_cause:    what the work said of its failure, when it reported one
    became:           what the fire that it was coalesced into came to
    attempts:         how many were begun
    through_instant:  the last instant of a range; `instant_count` says how many it has
    """

    fire_key: str
    tenant: str
    trigger: str
    trigger_id: str
    version: int
    scheduled_instant: Instant
    scheduled_local: str
    zone: str
    sequence: int
    origin: Origin
    lane: Lane
    state: FireState
    cause: Cause | None
    cause_detail: str | None
    outcome_cause: str | None
    coalesced_into: Instant | None
    became: FireLink | None
    held_reason: HeldReason | None
    not_before: Instant | None
    due_at: Instant
    decided_at: Instant
    first_dispatched_at: Instant | None
    lateness_ms: float | None
    attempts: int
    through_instant: Instant | None
    instant_count: int
    tzdata_version: str
    changed_at: Instant


class AttemptOut(Out):
    """One try; without `finished_at` it is under way, or its claim is about to expire."""

    n: int
    dispatched_at: Instant
    claimed_until: Instant
    finished_at: Instant | None
    transport_result: str | None
    http_status: int | None
    error: str | None


class FireDetail(Out):
    """A fire with its attempts, and the fires it was coalesced into, one after the other."""

    fire: FireOut
    attempts: list[AttemptOut]
    chain: list[FireOut]


class FireCancelled(Out):
    """What a cancelled fire ended as: one that was tried keeps what its last attempt left open."""

    change: ChangeKind
    fire: FireOut = Field(description="the fire as it is now")
