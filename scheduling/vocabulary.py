"""The closed sets of words that cross every boundary: code, tables, events, metrics and docs."""

from enum import StrEnum


class GapRule(StrEnum):
    """What becomes of a wall time that the clock skips."""

    SHIFT_FORWARD = "shift_forward"
    SKIP = "skip"


class FoldRule(StrEnum):
    """Which pass of a repeated wall time counts."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


class MissedPolicy(StrEnum):
    FIRE_ONCE_NOW = "fire_once_now"
    FIRE_ALL = "fire_all"
    SKIP = "skip"


class OverlapPolicy(StrEnum):
    ALLOW = "allow"
    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"


class ResumeRule(StrEnum):
    """What becomes of a paused span at its resume."""

    DROP = "drop"
    FIRE_ONCE_NOW = "fire_once_now"
    FIRE_ALL = "fire_all"
    SKIP = "skip"


class Lane(StrEnum):
    ON_TIME = "on_time"
    CATCH_UP = "catch_up"
    BACKFILL = "backfill"


class Origin(StrEnum):
    SCHED = "sched"
    MANUAL = "manual"
    BACKFILL = "backfill"


class SpanKind(StrEnum):
    LIVE = "live"
    PAUSED = "paused"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


class OwnershipState(StrEnum):
    """What is known of the owner of a target's host."""

    PENDING = "pending"  # unusable until proven
    PROVEN = "proven"  # the host served the tenant's text
    ALLOWED = "allow_listed"  # an operator vouches for it
    LOCAL = "local"  # loopback, under the local setting
    LAPSED = "lapsed"  # was proven, and the re-check failed for too long: unusable


USABLE_OWNERSHIP: frozenset[OwnershipState] = frozenset(
    {OwnershipState.PROVEN, OwnershipState.ALLOWED, OwnershipState.LOCAL}
)


class TriggerState(StrEnum):
    LIVE = "live"
    PAUSED = "paused"
    FINISHED = "finished"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


class FireState(StrEnum):
    HELD = "held"
    READY = "ready"
    QUEUED = "queued"
    DISPATCHING = "dispatching"
    ACCEPTED = "accepted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    UNDELIVERED = "undelivered"
    NOT_DISPATCHED = "not_dispatched"


class Cause(StrEnum):
    """Why an instant was not dispatched."""

    SKIPPED_BY_POLICY = "skipped_by_policy"
    COALESCED = "coalesced"
    EXPIRED_PAST_HORIZON = "expired_past_horizon"
    OVERLAP = "overlap"
    PAUSED = "paused"
    OVER_CEILING = "over_ceiling"
    SHED = "shed"
    QUARANTINED = "quarantined"
    DELETED = "deleted"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


class HeldReason(StrEnum):
    DUE_LATER = "due_later"
    LANE_RATE = "lane_rate"
    OVERLAP = "overlap"
    QUOTA = "quota"
    BACKOFF = "backoff"
    BREAKER = "breaker"
    NO_RESOURCES = "no_resources"  # the dispatcher lacked what a connection takes


class TransportResult(StrEnum):
    """What an attempt's transport said."""

    RESPONSE = "response"  # an HTTP status arrived
    NOT_SENT = "not_sent"  # refused, unresolvable or guarded address: the target saw nothing
    AMBIGUOUS = "ambiguous"  # timeout or broken connection after the request began
    UNTRIED = "untried"  # the dispatcher's own lack kept it from trying: it counts as no try


class ChangeKind(StrEnum):
    """What became of one change."""

    CREATED = "created"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    PAUSED = "paused"
    RESUMED = "resumed"
    DELETED = "deleted"
    ACCEPTED = "accepted"  # a manual run
    CANCELLED = "cancelled"
    REVOKED = "revoked"


WAITING: frozenset[FireState] = frozenset({FireState.HELD, FireState.READY, FireState.QUEUED})
