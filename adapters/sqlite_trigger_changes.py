"""Pausing, resuming and ending triggers, and every change of a span, in one transaction."""

from collections.abc import Mapping

from adapters.sqlite_change_session import ChangeSession, check_note, trigger_result
from adapters.sqlite_changes import change_span
from adapters.sqlite_definitions import insert_version
from adapters.sqlite_refused import refused
from adapters.sqlite_spans import SpanChange, TriggerRow
from ports.changes import (
    ChangeKind,
    ChangeResult,
    DeleteTrigger,
    PauseTrigger,
    ResumeTrigger,
)
from ports.errors import ProblemKind
from ports.records import TriggerDefinition
from scheduling.errors import RuleError
from scheduling.vocabulary import SpanKind, TriggerState


def pause_trigger(session: ChangeSession, change: PauseTrigger) -> ChangeResult:
    """A paused span; a paused trigger stays as it is, with its first note."""
    trigger = _need(session, change)
    if trigger.state is TriggerState.PAUSED:
        return trigger_result(ChangeKind.UNCHANGED, change.tenant_id, change.name, trigger)
    return change_trigger(
        session,
        change.tenant_id,
        change.name,
        trigger,
        change=SpanChange(
            change=ChangeKind.PAUSED,
            kind=SpanKind.PAUSED,
            version=trigger.version,
            note=change.note,
            audit_note=change.note,
        ),
    )


def resume_trigger(session: ChangeSession, change: ResumeTrigger) -> ChangeResult:
    """A live span after a pause or a quarantine; any other trigger stays as it is."""
    trigger = _need(session, change)
    if trigger.state not in (TriggerState.PAUSED, TriggerState.QUARANTINED):
        return trigger_result(ChangeKind.UNCHANGED, change.tenant_id, change.name, trigger)
    return change_trigger(
        session,
        change.tenant_id,
        change.name,
        trigger,
        change=SpanChange(
            change=ChangeKind.RESUMED,
            kind=SpanKind.LIVE,
            version=trigger.version,
            resume_rule=change.rule,
            note=change.note,
            audit_note=change.note,
        ),
    )


def delete_trigger(session: ChangeSession, change: DeleteTrigger) -> ChangeResult:
    """Its last span; what waits is stopped."""
    trigger = _need(session, change)
    session.execute("registry_add_live", -1, change.tenant_id)
    return change_trigger(
        session,
        change.tenant_id,
        change.name,
        trigger,
        change=SpanChange(
            change=ChangeKind.DELETED,
            kind=SpanKind.DELETED,
            version=trigger.version,
            note=change.note,
            audit_note=change.note,
        ),
    )


def new_version(
    session: ChangeSession,
    tenant_id: str,
    name: str,
    trigger: TriggerRow,
    *,
    definition: TriggerDefinition,
    kept_payload_ref: str | None = None,
    prior: Mapping[str, object] | None = None,
    new: Mapping[str, object] | None = None,
    note: str | None = None,
    reset_fired_count: bool = False,
) -> ChangeResult:
    """The next version, and the span that it begins; a paused trigger stays paused.

    definition:       with its payload, which is sealed again
    kept_payload_ref: a sealed payload that stays as it is instead
    prior:            what the audit tells beside state, version and revision
    new:              what the edit has set these to
    """
    key = (tenant_id, trigger.trigger_id)
    version = trigger.version + 1
    insert_version(
        session.connection,
        session.context,
        key,
        version=version,
        definition=definition,
        kept_payload_ref=kept_payload_ref,
        now_us=session.now_us,
        actor=session.actor,
    )
    is_paused = trigger.state is TriggerState.PAUSED
    return change_trigger(
        session,
        tenant_id,
        name,
        trigger,
        change=SpanChange(
            change=ChangeKind.EDITED,
            kind=SpanKind.PAUSED if is_paused else SpanKind.LIVE,
            version=version,
            note=_pause_note(session, key) if is_paused else None,
            audit_note=note,
            prior=prior,
            new=new,
            reset_fired_count=reset_fired_count,
        ),
    )


def change_trigger(
    session: ChangeSession, tenant_id: str, name: str, trigger: TriggerRow, *, change: SpanChange
) -> ChangeResult:
    """Settle what is due, then let the span begin."""
    try:
        return change_span(
            session.connection,
            session.context,
            trigger,
            tenant_id=tenant_id,
            name=name,
            change=change,
            now_us=session.now_us,
            actor=session.actor,
        )
    except RuleError as error:
        text = f"{tenant_id}/{name}: recurrence: {error}: put a definition that can be evaluated"
        raise refused(text, ProblemKind.INVALID, "recurrence") from error


def _need(
    session: ChangeSession, change: PauseTrigger | ResumeTrigger | DeleteTrigger
) -> TriggerRow:
    check_note(change.note)
    return session.need_trigger(
        change.tenant_id, change.name, expected_revision=change.expected_revision
    )


def _pause_note(session: ChangeSession, key: tuple[str, str]) -> str | None:
    found = session.execute("registry_pause_note", *key).fetchone()
    return None if found is None else found[0]
