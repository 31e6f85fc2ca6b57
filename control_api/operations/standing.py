"""Pause, resume, run by hand, and the horizon: acts on a trigger that leave its definition."""

from collections.abc import Callable

from control_api.call import Call
from control_api.operations.finding import check_mark, trigger_of
from control_api.operations.trigger_views import changed_out
from control_api.problems import ApiProblem
from control_api.replies import Reply, etag_after
from ports.changes import Change, ChangeResult, PauseTrigger, ResumeTrigger, RunTrigger, SetHorizon
from ports.principals import GrantKind
from schemas.api.triggers import HorizonIn, PauseIn, ResumeIn, RunIn, RunOut, TriggerChanged

_MAY_STOP = (GrantKind.AUTHOR, GrantKind.OPERATOR)


def pause_trigger(call: Call, tenant_id: str, name: str, body: PauseIn) -> Reply[TriggerChanged]:
    """Stop deciding until it is resumed; what waits of the schedule is stopped."""
    call.require_any(_MAY_STOP, tenant_id, act="pause a trigger")
    result = _act(
        call,
        tenant_id,
        name,
        lambda found: PauseTrigger(
            tenant_id=tenant_id,
            name=found,
            note=body.note,
            expected_revision=call.match.revision,
        ),
    )
    return Reply(body=changed_out(call, result), etag=etag_after(result), replayed=result.replayed)


def resume_trigger(call: Call, tenant_id: str, name: str, body: ResumeIn) -> Reply[TriggerChanged]:
    """End a pause or a quarantine; the policy says what becomes of the paused time."""
    call.require_any(_MAY_STOP, tenant_id, act="resume a trigger")
    result = _act(
        call,
        tenant_id,
        name,
        lambda found: ResumeTrigger(
            tenant_id=tenant_id,
            name=found,
            rule=body.policy,
            note=body.note,
            expected_revision=call.match.revision,
        ),
    )
    return Reply(body=changed_out(call, result), etag=etag_after(result), replayed=result.replayed)


def run_trigger(call: Call, tenant_id: str, name: str, body: RunIn) -> Reply[RunOut]:
    """One fire now, beside the schedule; 409 while an overlap policy holds its slot."""
    call.require(GrantKind.AUTHOR, tenant_id, act="run a trigger")
    payload = None if body.payload_json is None else body.payload_json.encode()
    result = _act(
        call,
        tenant_id,
        name,
        lambda found: RunTrigger(
            tenant_id=tenant_id,
            name=found,
            force=body.force,
            payload=payload,
            note=body.note,
            expected_revision=call.match.revision,
        ),
    )
    key = result.fire_key
    if key is None:
        raise LookupError("a manual run without a fire key")
    return Reply(
        body=RunOut(
            fire_key=str(key),
            tenant=tenant_id,
            trigger=result.subject,
            accepted_at=key.scheduled_us,
        ),
        status=202,
        location=f"/v1/fires/{key}",
        replayed=result.replayed,
    )


def set_horizon(call: Call, tenant_id: str, name: str, body: HorizonIn) -> Reply[TriggerChanged]:
    """How far back catch-up of a trigger may reach; the grant `policy` alone, not authorship."""
    call.require(GrantKind.POLICY, tenant_id, act="set a horizon")
    result = _act(
        call,
        tenant_id,
        name,
        lambda found: SetHorizon(
            tenant_id=tenant_id,
            name=found,
            catchup_horizon_s=body.horizon_s,
            note=body.note,
            expected_revision=call.match.revision,
        ),
    )
    return Reply(body=changed_out(call, result), etag=etag_after(result), replayed=result.replayed)


def _act(call: Call, tenant_id: str, name: str, change: Callable[[str], Change]) -> ChangeResult:
    """One change of an existing trigger, found by name or id."""
    earlier = call.earlier()
    if earlier:
        return earlier[0]
    try:
        trigger = trigger_of(call, tenant_id, name)
        check_mark(call, "trigger", mark=trigger.trigger_id)
        name = trigger.name
    except ApiProblem as problem:
        # One that is sent twice at a time may find its trigger gone by the first.
        if problem.status != 404 or call.request is None:
            raise
    (result,) = call.apply(change(name))
    return result
