"""Outcomes: what the work of a fire came to, told by whoever holds an attempt's token."""

from control_api.problems import ApiProblem, FieldProblem, not_found
from control_api.replies import Reply
from control_api.services import Services
from ports.attempt_tokens import AttemptClaims
from scheduling.vocabulary import FireState
from schemas.api.outcomes import OutcomeIn, OutcomeOut


def report_outcome(
    services: Services, attempt: AttemptClaims, body: OutcomeIn
) -> Reply[OutcomeOut]:
    """Record the outcome of the token's fire, once; a repeat gets the same answer.

    The token outlives its attempt here: until the trigger's `outcome_window` ends.
    """
    key = attempt.key
    if body.fire_key not in (None, str(key)):
        detail = "fire_key: this token is of another fire: send the token that came with this one"
        fields = [FieldProblem("fire_key", detail)]
        raise ApiProblem(403, "other_fire", detail, fields=fields)
    now_us = services.clock.now().earliest_us
    outcome = FireState(body.outcome)
    result = services.store.ledger.report_outcome(
        key, outcome, now_us=now_us, reported_by=f"attempt {attempt.n}", cause=body.cause
    )
    if result is None:
        raise not_found("fire_key", "there is no such fire any more")
    if result.ready:
        # What waited for this run goes on its way; a crash in between is the sweep's to repair.
        services.lanes.publish(result.ready)
        services.store.ledger.mark_queued(result.ready, now_us=now_us)
    taken = OutcomeOut(fire_key=str(key), state=result.state, is_taken=result.state is outcome)
    return Reply(body=taken)
