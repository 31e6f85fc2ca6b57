"""What follows an attempt: an end, or another try at a later time."""

from typing import Final, NamedTuple

from scheduling.limits import (
    RETRY_BASE_US,
    RETRY_CAP_US,
    UNTRIED_WAIT_US_MAX,
    UNTRIED_WAIT_US_MIN,
)
from scheduling.vocabulary import FireState, Lane, MissedPolicy, TransportResult

_RETRIED_STATUSES = frozenset({408, 425, 429})


class AttemptResult(NamedTuple):
    """What one try brought back; `retry_after_us` is the target's own wish, a duration."""

    transport_result: TransportResult
    http_status: int | None = None
    retry_after_us: int | None = None
    error: str | None = None

    @property
    def is_ambiguous(self) -> bool:
        return self.transport_result is TransportResult.AMBIGUOUS


# Nobody came back from the attempt: its dispatcher died, before or after it had sent anything.
CLAIM_EXPIRED: Final = AttemptResult(TransportResult.AMBIGUOUS, error="claim expired")


class RetryPolicy(NamedTuple):
    """`retry_until_us` is when tries end early, as `retry_end_us` says; None = they do not."""

    budget: int
    window_until_us: int
    retry_until_us: int | None
    response_is_outcome: bool


class NextStep(NamedTuple):
    """`not_before_us` is set when the state is `held`: the next try's earliest time."""

    state: FireState
    not_before_us: int | None = None


def after_attempt(
    result: AttemptResult, n: int, *, policy: RetryPolicy, now_us: int, seed: int
) -> NextStep:
    """The state after try `n` (from 1): 2xx accepted, other 4xx and 3xx refused, else again.

    Not for an untried attempt: that is taken back.
    """
    status = result.http_status
    if result.transport_result is TransportResult.RESPONSE and status is not None:
        if 200 <= status < 300:
            done = FireState.SUCCEEDED if policy.response_is_outcome else FireState.ACCEPTED
            return NextStep(done)
        if not 500 <= status < 600 and status not in _RETRIED_STATUSES:
            return NextStep(FireState.REFUSED)
    not_before_us = now_us + max(backoff_us(n, seed), result.retry_after_us or 0)
    if n >= policy.budget or is_too_late(policy, not_before_us):
        return NextStep(exhausted_state(is_ambiguous=result.is_ambiguous))
    return NextStep(FireState.HELD, not_before_us)


def is_too_late(policy: RetryPolicy, try_us: int) -> bool:
    """Whether a retry at `try_us` would come after the window, or the trigger's next due time."""
    if try_us > policy.window_until_us:
        return True
    return policy.retry_until_us is not None and try_us >= policy.retry_until_us


def retry_end_us(
    result: AttemptResult, next_due_us: int | None, *, lane: Lane, missed_policy: MissedPolicy
) -> int | None:
    """When tries end before budget and window do: on time, at the trigger's next due time.

    A claim that expired says nothing about the target, which may have seen nothing at all. So
    under `fire_all`, where every instant counts, the fire is tried again however late.
    """
    if lane is not Lane.ON_TIME:
        return None
    if result == CLAIM_EXPIRED and missed_policy is MissedPolicy.FIRE_ALL:
        return None
    return next_due_us


def exhausted_state(*, is_ambiguous: bool) -> FireState:
    """No more tries: `unknown` when the last one may have arrived, else `undelivered`."""
    return FireState.UNKNOWN if is_ambiguous else FireState.UNDELIVERED


def backoff_us(n: int, seed: int) -> int:
    """Exponential backoff with full jitter: uniform in [0, base * 2**(n-1)], capped.

    Source: M. Brooker, "Exponential Backoff And Jitter", 2015.
    """
    ceiling_us = min(RETRY_CAP_US, RETRY_BASE_US << min(n - 1, 20))
    return seed % (ceiling_us + 1)


def untried_wait_us(late_us: int) -> int:
    """How long a fire is held that could not be tried: a quarter of how late it is, 2 s to 30 s.

    Without jitter, so that fires which meet one lack together keep their order.
    """
    return min(max(late_us // 4, UNTRIED_WAIT_US_MIN), UNTRIED_WAIT_US_MAX)
