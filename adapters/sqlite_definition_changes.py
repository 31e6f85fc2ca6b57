"""Putting triggers: new ones, new versions, and their horizons, in the caller's transaction."""

import json
from dataclasses import fields, replace

from adapters.sqlite_calendars import with_calendars
from adapters.sqlite_change_session import ChangeSession, check_note, check_revision, trigger_result
from adapters.sqlite_decisions import DueRow, view_of
from adapters.sqlite_definitions import (
    definition_of,
    definition_problems,
    insert_version,
    is_current,
    read_payload,
)
from adapters.sqlite_horizons import HORIZON_SOURCE_DEFAULT, held_horizon
from adapters.sqlite_refused import Refused, refused
from adapters.sqlite_spans import TriggerRow
from adapters.sqlite_targets import read_target
from adapters.sqlite_trigger_changes import new_version
from adapters.sqlite_versions import VersionFacts
from ports.changes import ChangeKind, ChangeResult, PutTrigger, SetHorizon
from ports.errors import ChangeProblem, PayloadUnreadable, ProblemKind
from ports.records import TriggerDefinition
from scheduling.decide import look_ahead
from scheduling.decision import Decision
from scheduling.durations import duration_text
from scheduling.keys import partition_of, trigger_id_of
from scheduling.limits import HORIZON_S_DEFAULT, HORIZON_S_MAX
from scheduling.vocabulary import SpanKind, TriggerState


def put_trigger(session: ChangeSession, change: PutTrigger) -> ChangeResult:
    """Create, or a new version when the definition differs."""
    tenant_id, name, definition = change.tenant_id, change.name, change.definition
    session.need_tenant(tenant_id)
    trigger = session.find_trigger(tenant_id, name)
    revision = 0 if trigger is None else trigger.revision
    check_revision(
        f"trigger {tenant_id}/{name}",
        change.expected_revision,
        found=revision,
        must_exist=change.must_exist,
    )
    _check_horizon(session, change)
    facts = None if trigger is None else _facts(session, tenant_id, trigger)
    definition, problems = with_calendars(session, tenant_id, name, definition)
    problems += definition_problems(tenant_id, name, definition)
    problems += _target_problems(session, change, None if facts is None else facts.target_id)
    if problems:
        raise Refused(problems)
    if trigger is None or facts is None:
        return _create(session, tenant_id, name, definition)
    if change.keep_payload:
        payload = _kept_payload(session, tenant_id, name, facts)
        definition = replace(definition, payload=payload)
    if not change.reset_fired_count and is_current(
        session.connection,
        session.context,
        (tenant_id, trigger.trigger_id),
        version=trigger.version,
        definition=definition,
    ):
        return trigger_result(ChangeKind.UNCHANGED, tenant_id, name, trigger)
    return new_version(
        session,
        tenant_id,
        name,
        trigger,
        definition=definition,
        prior=_differing(definition_of(facts), definition),
        new=_differing(definition, definition_of(facts)),
        reset_fired_count=change.reset_fired_count,
    )


def set_horizon(session: ChangeSession, change: SetHorizon) -> ChangeResult:
    """A new version with another horizon and its source."""
    tenant_id, name, horizon_s = change.tenant_id, change.name, change.catchup_horizon_s
    check_note(change.note)
    if horizon_s is not None and not 0 <= horizon_s <= HORIZON_S_MAX:
        text = f"catchup_horizon_s: {horizon_s} is not within 0 and {HORIZON_S_MAX} seconds"
        raise refused(text, ProblemKind.INVALID, "catchup_horizon_s")
    trigger = session.need_trigger(tenant_id, name, expected_revision=change.expected_revision)
    facts = _facts(session, tenant_id, trigger)
    current = definition_of(facts)
    source = HORIZON_SOURCE_DEFAULT if horizon_s is None else f"chosen by {session.actor}"
    wanted = replace(
        current,
        catchup_horizon_s=HORIZON_S_DEFAULT if horizon_s is None else horizon_s,
        horizon_source=source,
    )
    is_same_source = (current.horizon_source == HORIZON_SOURCE_DEFAULT) == (horizon_s is None)
    if is_same_source and current.catchup_horizon_s == wanted.catchup_horizon_s:
        return trigger_result(ChangeKind.UNCHANGED, tenant_id, name, trigger)
    return new_version(
        session,
        tenant_id,
        name,
        trigger,
        definition=replace(wanted, payload=_kept_payload(session, tenant_id, name, facts)),
        prior=_differing(current, wanted),
        new=_differing(wanted, current),
        note=change.note,
    )


def _create(
    session: ChangeSession, tenant_id: str, name: str, definition: TriggerDefinition
) -> ChangeResult:
    _need_quota(session, tenant_id)
    (generation,) = session.execute("registry_generation", tenant_id, name).fetchone()
    trigger_id = trigger_id_of(tenant_id, name, generation=generation)
    trigger = TriggerRow(trigger_id, TriggerState.LIVE, 1, 0, partition_of(trigger_id))
    key, now_us, partition_id = (tenant_id, trigger_id), session.now_us, trigger.partition_id
    session.execute("registry_insert_trigger", *key, name, partition_id, now_us, now_us)
    insert_version(
        session.connection,
        session.context,
        key,
        version=1,
        definition=definition,
        now_us=now_us,
        actor=session.actor,
    )
    session.execute(
        "commit_insert_span", *key, 1, now_us, SpanKind.LIVE.value, 1, None, None, session.actor
    )
    row = DueRow(*key, 1, now_us, now_us, None, 0)
    view = view_of(session.connection, session.context, row, is_due=True)
    ahead = look_ahead(Decision((), (), now_us, None), view)
    session.execute(
        "rebuild_insert_row",
        *(*key, partition_id, 1, 1, now_us, now_us, ahead.next_due_us, None, 0),
    )
    if ahead.finished:
        session.execute("commit_finish_trigger", *key)
    session.execute("registry_add_live", 1, tenant_id)
    session.audit("trigger_created", tenant_id, name)
    body = {"name": name, "kind": "created", "version": 1, "revision": 1, "from_us": now_us}
    session.execute("commit_insert_outbox", *key, "TriggerChanged", json.dumps(body), now_us)
    return ChangeResult(
        kind=ChangeKind.CREATED,
        subject=name,
        tenant_id=tenant_id,
        trigger_id=trigger_id,
        version=1,
        revision=1,
        from_us=now_us,
        next_due_us=ahead.next_due_us,
    )


def _check_horizon(session: ChangeSession, change: PutTrigger) -> None:
    """What the definition's horizon was judged by must hold still."""
    if change.held_horizon_s is None:
        return
    tenant_id, name = change.tenant_id, change.name
    held = held_horizon(session.connection, session.sql, tenant_id, name)
    if held.seconds != change.held_horizon_s:
        text = (
            f"horizon: that of {tenant_id}/{name} was set to {duration_text(held.seconds)} "
            "meanwhile: read it again, and send what you want of it"
        )
        raise refused(text, ProblemKind.STALE, "horizon")


def _target_problems(
    session: ChangeSession, change: PutTrigger, current_target_id: str | None
) -> list[ChangeProblem]:
    """An edit that leaves an unusable target as it is stays possible."""
    tenant_id, target_id = change.tenant_id, change.definition.target_id
    found = read_target(session.connection, session.sql, tenant_id, target_id)
    subject = f"{tenant_id}/{change.name}: target:"
    if found is None:
        text = f"{subject} {tenant_id} has no target {target_id!r}"
        return [ChangeProblem(text, ProblemKind.INVALID, "target")]
    if found.is_usable or target_id == current_target_id:
        return []
    text = (
        f"{subject} the ownership of {target_id!r} is {found.ownership}: verify it, or ask an "
        "operator to allow its host"
    )
    return [ChangeProblem(text, ProblemKind.CONFLICT, "target")]


def _need_quota(session: ChangeSession, tenant_id: str) -> None:
    count, quota = session.execute("registry_live_count", tenant_id).fetchone()
    if count >= quota:
        text = (
            f"quota_triggers: {tenant_id} may have {quota} triggers and this is one more: "
            "raise the quota, or ask for fewer"
        )
        raise refused(text, ProblemKind.QUOTA, "quota_triggers")


def _facts(session: ChangeSession, tenant_id: str, trigger: TriggerRow) -> VersionFacts:
    key = (tenant_id, trigger.trigger_id, trigger.version)
    return session.context.versions.facts(session.connection, key)


def _kept_payload(
    session: ChangeSession, tenant_id: str, name: str, facts: VersionFacts
) -> bytes | None:
    try:
        return read_payload(
            session.connection, session.context, tenant_id, payload_ref=facts.payload_ref
        )
    except PayloadUnreadable as error:
        text = (
            f"{tenant_id}/{name}: payload: its key is gone, so it cannot be kept: put the trigger "
            "with a payload, or without one"
        )
        raise refused(text, ProblemKind.CONFLICT, "payload") from error


def _differing(one: TriggerDefinition, other: TriggerDefinition) -> dict[str, object]:
    """The first one's values of what differs. Payloads are sealed, and stay out of the audit."""
    names = (
        field.name
        for field in fields(TriggerDefinition)
        if field.compare and field.name != "payload"
    )
    return {
        name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)
    }
