"""What people do with single fires: a manual run, and the cancelling of one that waits.

All functions run inside the caller's transaction.
"""

from dataclasses import replace

from adapters.sqlite_change_session import ChangeSession, check_note, trigger_result
from adapters.sqlite_definitions import payload_problem, put_payload
from adapters.sqlite_rebuild import give_back
from adapters.sqlite_refused import refused
from adapters.sqlite_slots import read_slot, take_slot
from adapters.sqlite_spans import TriggerRow
from adapters.sqlite_stop import stop_fire
from ports.changes import CancelFire, ChangeKind, ChangeResult, RunTrigger
from ports.errors import ProblemKind
from scheduling.keys import FireKey
from scheduling.vocabulary import WAITING, Cause, FireState, OverlapPolicy


def run_trigger(session: ChangeSession, change: RunTrigger) -> ChangeResult:
    """A fire of its own, due now, whatever the trigger's schedule and state are.

    It waits for the partition's owner, which publishes it in its order and at once: `next_wake_us`
    sees what is held. A row that were ready now would be found only when it is old.
    """
    tenant_id, name = change.tenant_id, change.name
    _check_run(change)
    trigger = session.need_trigger(tenant_id, name, expected_revision=change.expected_revision)
    trigger_key = (tenant_id, trigger.trigger_id)
    facts = session.context.versions.facts(session.connection, (*trigger_key, trigger.version))
    may_overlap = facts.overlap_policy is OverlapPolicy.ALLOW
    is_taken = not may_overlap and _is_taken(session, trigger_key, trigger.partition_id)
    if is_taken and not change.force:
        text = (
            f"force: a fire of {tenant_id}/{name} is running or has its turn, and its overlap "
            f"policy is {facts.overlap_policy}: wait for its end, or force the run"
        )
        raise refused(text, ProblemKind.CONFLICT, "force")
    (sequence,) = session.execute("run_next_sequence", tenant_id).fetchone()
    key = FireKey(*trigger_key, session.now_us, sequence)
    _insert(session, change, key, trigger=trigger, payload_ref=facts.payload_ref)
    if not may_overlap and not is_taken:
        take_slot(
            session.connection,
            session.sql,
            key,
            partition_id=trigger.partition_id,
            now_us=session.now_us,
        )
    prior = {"state": trigger.state, "fire_key": str(key), "forced_past_a_run": is_taken}
    session.audit("trigger_run", tenant_id, name, prior=prior, note=change.note)
    return replace(trigger_result(ChangeKind.ACCEPTED, tenant_id, name, trigger), fire_key=key)


def cancel_fire(session: ChangeSession, change: CancelFire) -> ChangeResult:
    """End one fire that waits, as a deletion would; it gives its place under the cap back."""
    check_note(change.note)
    key = change.key
    found = session.execute("cancel_find_fire", *key).fetchone()
    if found is None:
        raise refused(f"key: there is no fire {key}", ProblemKind.NOT_FOUND, "key")
    name, version, state, next_n, through_us = found
    if through_us is not None:
        text = f"key: {key} stands for several instants that were not dispatched: nothing waits"
        raise refused(text, ProblemKind.CONFLICT, "key")
    if state == FireState.DISPATCHING:
        text = f"key: attempt {next_n} of {key} is under way: cancel it if it comes to another"
        raise refused(text, ProblemKind.CONFLICT, "key")
    if state not in WAITING:
        text = f"key: {key} has ended as {state}: only a fire that waits can be cancelled"
        raise refused(text, ProblemKind.CONFLICT, "key")
    returned = stop_fire(
        session.connection,
        session.context,
        key,
        next_n=next_n,
        cause=Cause.CANCELLED,
        now_us=session.now_us,
        detail=f"by {session.actor}" + (f": {change.note}" if change.note else ""),
    )
    give_back(session.connection, session.context, (key.tenant_id, key.trigger_id), count=returned)
    prior = {"state": state, "fire_key": str(key)}
    session.audit("fire_cancelled", key.tenant_id, name, prior=prior, note=change.note)
    return ChangeResult(
        kind=ChangeKind.CANCELLED,
        subject=name,
        tenant_id=key.tenant_id,
        trigger_id=key.trigger_id,
        version=version,
        stopped_fires=1,
        fire_key=key,
    )


def _check_run(change: RunTrigger) -> None:
    check_note(change.note)
    if (text := payload_problem(change.payload)) is not None:
        raise refused(text, ProblemKind.INVALID, "payload")


def _is_taken(session: ChangeSession, key: tuple[str, str], partition_id: int) -> bool:
    """Whether the slot is taken, or the schedule's as soon as the owner has looked.

    Also where a buffered fire is about to start, or an instant that has come is not decided yet:
    a manual run displaces nothing.
    """
    slot = read_slot(session.connection, session.sql, key, now_us=session.now_us)
    if slot.taken or slot.buffered:
        return True
    if session.execute("run_schedule_is_due", *key, session.now_us).fetchone() is not None:
        return True
    kept = session.execute("change_kept_come", partition_id, session.now_us, *key)
    return kept.fetchone() is not None


def _insert(
    session: ChangeSession,
    change: RunTrigger,
    key: FireKey,
    *,
    trigger: TriggerRow,
    payload_ref: str | None,
) -> None:
    if change.payload is not None:
        payload_ref = f"payload-{key}"
        put_payload(
            session.connection,
            session.context,
            key.tenant_id,
            payload_ref=payload_ref,
            plain=change.payload,
            now_us=session.now_us,
        )
    row = {
        **key._asdict(),
        "partition_id": trigger.partition_id,
        "version": trigger.version,
        "payload_ref": payload_ref,
        "tzdata_version": session.context.tzdata_version,
    }
    session.connection.execute(session.sql["run_insert_fire"], row)
