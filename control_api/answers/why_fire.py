"""The sentence about an instant that was decided: what was done, or why nothing was."""

from collections.abc import Callable
from typing import Final

from control_api.answers.fire_rows import told_cause
from control_api.answers.why_facts import Answer, WhyFacts
from control_api.answers.zone_times import span_text
from ports.records import AttemptRecord, FireRecord, TriggerDefinition
from scheduling.durations import duration_text
from scheduling.vocabulary import Cause, FireState, HeldReason, Lane, Origin, TransportResult

_SAID_CHARS_MAX: Final = 200  # of a worker's own words in a sentence; a fire shows all of them


def fire_answer(facts: WhyFacts, row: FireRecord) -> Answer:
    """The answer that the ledger's row gives."""
    if row.state is FireState.NOT_DISPATCHED:
        return Answer(
            "not_dispatched", f"We decided not to fire {_for(facts)}: {_cause(facts, row)}."
        )
    if row.state in (FireState.ACCEPTED, FireState.SUCCEEDED, FireState.FAILED):
        return Answer("fired", f"{_for(facts)} fired: {_answered(facts, row)}.")
    if row.state is FireState.REFUSED:
        return Answer(
            "endpoint",
            f"Your endpoint refused {_for(facts)}: {_last(facts)}, "
            "and such an answer is not tried again.",
        )
    if row.state is FireState.UNDELIVERED:
        return Answer("endpoint", f"{_failed(facts)}: {_tries(facts)}, and {_ended(row)}.")
    if row.state is FireState.UNKNOWN:
        return Answer(
            "endpoint",
            f"Nobody knows whether {_for(facts)} ran: {_tries(facts)}, so the request may have "
            f"arrived; {_ended(row)}.",
        )
    return _waiting(facts, row)


def _failed(facts: WhyFacts) -> str:
    """Where nothing was sent the endpoint may not be to blame: the error says who is."""
    last = facts.attempts[-1].transport_result if facts.attempts else None
    if last == TransportResult.NOT_SENT:
        return f"{_for(facts)} did not reach your endpoint"
    return f"Your endpoint failed {_for(facts)}"


def _ended(row: FireRecord) -> str:
    """Why nothing is tried any more: a cancel or a deleted key, or the budget is used up."""
    detail = row.cause_detail
    if detail is not None and detail.startswith("by "):
        return f"it was cancelled {detail}"
    return "no try is left" + (f" ({detail})" if detail else "")


def _waiting(facts: WhyFacts, row: FireRecord) -> Answer:
    subject = _for(facts)
    if row.state is FireState.DISPATCHING:
        since = facts.attempts[-1].dispatched_us if facts.attempts else row.changed_us
        return Answer(
            "waiting",
            f"{subject} is being sent: attempt {row.next_attempt_n} began at "
            f"{facts.moment(since)} and the target has not answered yet.",
        )
    idle = facts.idle()
    if row.state is FireState.HELD:
        if row.held_reason is HeldReason.BACKOFF:
            return Answer(
                "endpoint",
                f"{_failed(facts)}: {_tries(facts)}; "
                f"next try{_until(facts, row, word=' at')}{idle}.",
            )
        return Answer("waiting", f"{subject} is held: {_held(facts, row)}{idle}.")
    on_lane = f"on the {row.lane} lane"
    if row.state is FireState.QUEUED:
        queued = "" if row.queued_us is None else f" since {facts.moment(row.queued_us)}"
        return Answer(
            "waiting", f"{subject} is {on_lane}{queued} and waits for a dispatcher{idle}."
        )
    return Answer("waiting", f"{subject} is decided and about to go {on_lane}{idle}.")


def _answered(facts: WhyFacts, row: FireRecord) -> str:
    late = "" if row.first_dispatched_us is None else _late(row)
    attempt = facts.attempts[-1] if facts.attempts else None
    number = "" if attempt is None else f" on attempt {attempt.n}"
    if attempt is not None and attempt.n > 1:
        number += f" (the first {attempt.n - 1} failed)" if attempt.n > 2 else " (the first failed)"
    # The work may have reported before its answer came.
    is_answered = attempt is not None and attempt.finished_us is not None
    said = f" with {_said(attempt)}" if attempt is not None and is_answered else ""
    catch_up = ", on the catch-up lane" if row.lane is Lane.CATCH_UP else ""
    sent = f"sent {late}{catch_up}, and the target took it{number}{said}"
    if row.state is FireState.ACCEPTED:
        is_done = facts.definition is not None and facts.definition.response_is_outcome
        return sent if is_done else f"{sent}; no outcome was reported yet"
    if row.state is FireState.SUCCEEDED:
        return f"{sent}; the work reported success"
    return f"{sent}; the work reported failure{_worker_said(row)}"


def _worker_said(row: FireRecord) -> str:
    """The cause that came with a failure, for a sentence: its beginning where it is long."""
    said = told_cause(row)
    if said is None:
        return ""
    if len(said) > _SAID_CHARS_MAX:
        said = said[: _SAID_CHARS_MAX - 3] + "..."
    return f" (the worker said: {said})"


def _held(facts: WhyFacts, row: FireRecord) -> str:
    until = _until(facts, row)
    definition = facts.definition
    if row.held_reason is HeldReason.DUE_LATER:
        if row.not_before_us is not None and row.not_before_us <= facts.now_us:
            return "its time has come, and whoever owns its partition is about to send it"
        return f"its due time, smear included, lies ahead{until}"
    if row.held_reason is HeldReason.LANE_RATE:
        return f"it waits for its turn under the tenant's rate for the {row.lane} lane"
    if row.held_reason is HeldReason.OVERLAP:
        policy = "" if definition is None else f" ({definition.overlap_policy})"
        limit = ""
        if definition is not None:
            limit = f", {duration_text(definition.run_timeout_s)} after its start at the latest"
        return f"the run before it has not ended{policy}, and it goes when that one ends{limit}"
    if row.held_reason is HeldReason.QUOTA:
        return f"the tenant's quota is used up{until}"
    if row.held_reason is HeldReason.NO_RESOURCES:
        return (
            "the service could not try it for want of its own files, memory, ports or name "
            f"servers, as its log says{until}; nothing was sent to your endpoint"
        )
    if row.held_reason is HeldReason.BREAKER:
        return f"its target fails so often that it gets a rest{until}"
    return f"{row.held_reason or 'no reason was recorded'}{until}"


def _cause(facts: WhyFacts, row: FireRecord) -> str:
    cause = row.cause
    if cause is None:
        return "no cause was recorded"
    if cause is Cause.COALESCED:
        return _coalesced(facts, row)
    text = _CAUSES[cause](facts, row)
    if row.instant_count == 0:
        text += "; its schedule could not be evaluated then"
    return text


def _coalesced(facts: WhyFacts, row: FireRecord) -> str:
    policy = _policy(facts.definition, "missed_policy")
    if not facts.chain:
        into = "a newer fire"
        if row.coalesced_into_us is not None:
            into = f"the fire of {facts.moment(row.coalesced_into_us)}"
        return f"it was missed and coalesced into {into}{policy}"
    last = facts.chain[-1]
    via = f" (through {len(facts.chain) - 1} others)" if len(facts.chain) > 2 else ""
    if len(facts.chain) == 2:
        via = f" (through that of {facts.moment(facts.chain[0].key.scheduled_us)})"
    return (
        f"it was missed and coalesced into the fire of {facts.moment(last.key.scheduled_us)}{via}"
        f"{policy}, which {_became(last)}"
    )


def _became(row: FireRecord) -> str:
    if row.state is FireState.NOT_DISPATCHED:
        return f"was not dispatched either ({row.cause})"
    if row.state is FireState.HELD and row.held_reason is not None:
        return f"is held ({row.held_reason})"
    return _BECAME[row.state]


_BECAME: Final = {
    FireState.HELD: "is held",
    FireState.READY: "is about to go",
    FireState.QUEUED: "waits for a dispatcher",
    FireState.DISPATCHING: "is being sent",
    FireState.ACCEPTED: "was accepted",
    FireState.SUCCEEDED: "succeeded",
    FireState.FAILED: "failed",
    FireState.REFUSED: "your endpoint refused",
    FireState.UNKNOWN: "ended without anybody knowing whether it ran",
    FireState.UNDELIVERED: "could not be delivered",
}


def _skipped(facts: WhyFacts, row: FireRecord) -> str:
    late_us = max(row.changed_us, row.decided_us) - row.due_us
    seen = f", and it was found {span_text(late_us)} late" if row.instant_count == 1 else ""
    return f"it was missed, and the missed policy is skip{seen}"


def _expired(facts: WhyFacts, row: FireRecord) -> str:
    definition = facts.definition
    if definition is None:
        horizon = f"the catch-up horizon ({row.cause_detail})"
    else:
        source = definition.horizon_source
        chosen = "the default, which nobody chose" if source == "default" else source
        horizon = (
            f"its catch-up horizon of {duration_text(definition.catchup_horizon_s)} ({chosen})"
        )
    return f"when it was decided at {facts.moment(row.decided_us)} it was older than {horizon}"


def _cancelled(facts: WhyFacts, row: FireRecord) -> str:
    detail = row.cause_detail
    if detail is not None and detail.startswith("by "):
        return f"it was cancelled {detail}"
    return f"its payload cannot be read any more ({detail or 'its key was deleted'})"


def _overlap(facts: WhyFacts, row: FireRecord) -> str:
    policy = _policy(facts.definition, "overlap_policy")
    return f"the run before it had not ended{policy}"


_CAUSES: Final[dict[Cause, Callable[[WhyFacts, FireRecord], str]]] = {
    Cause.SKIPPED_BY_POLICY: _skipped,
    Cause.EXPIRED_PAST_HORIZON: _expired,
    Cause.OVERLAP: _overlap,
    Cause.PAUSED: lambda facts, row: f"the trigger was paused{facts.by_whom()}",
    Cause.DELETED: lambda facts, row: f"the trigger was deleted{facts.by_whom()}",
    Cause.QUARANTINED: lambda facts, row: f"the trigger was quarantined{facts.by_whom()}",
    Cause.OVER_CEILING: lambda facts, row: "it lay over the ceiling that was set for it",
    Cause.SHED: lambda facts, row: "there was more to send than could be, and it was shed",
    Cause.SUPERSEDED: lambda facts, row: "a backfill had run this instant already",
    Cause.CANCELLED: _cancelled,
}


def _policy(definition: TriggerDefinition | None, name: str) -> str:
    return "" if definition is None else f" (policy {getattr(definition, name)})"


def _until(facts: WhyFacts, row: FireRecord, *, word: str = ", until") -> str:
    return "" if row.not_before_us is None else f"{word} {facts.moment(row.not_before_us)}"


def _late(row: FireRecord) -> str:
    late_us = (row.first_dispatched_us or row.due_us) - row.due_us
    return f"{span_text(late_us)} after its due time"


def _tries(facts: WhyFacts) -> str:
    count = len(facts.attempts)
    return (
        f"one try, with {_last(facts)}"
        if count == 1
        else (f"{count} tries, the last with {_last(facts)}")
    )


def _last(facts: WhyFacts) -> str:
    if not facts.attempts:
        return "no recorded attempt"
    attempt = facts.attempts[-1]
    ended_us = attempt.finished_us
    at = "" if ended_us is None else f" at {facts.moment(ended_us)}"
    return f"{_said(attempt)}{at}"


def _said(attempt: AttemptRecord) -> str:
    """What the target said, or what came instead of an answer."""
    if attempt.http_status is not None:
        return f"HTTP {attempt.http_status}"
    if attempt.error:
        return attempt.error
    return "no answer" if attempt.finished_us is None else f"{attempt.transport_result}"


def _for(facts: WhyFacts) -> str:
    row = facts.row
    if row is None or row.key.sequence == 0:
        return f"{facts.subject} for {facts.when}"
    kind = {Origin.MANUAL: "manual run", Origin.BACKFILL: "backfill"}.get(row.origin, "run")
    who = ""
    if facts.run is not None:
        note = f" ({facts.run.note})" if facts.run.note else ""
        who = f" by {facts.run.actor}{note}"
    return f"the {kind} of {facts.subject} at {facts.when}{who}"
