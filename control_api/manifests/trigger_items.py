"""What is to become of a tenant's triggers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from control_api.call import Call
from control_api.definitions import definition_of
from control_api.manifests.definition_fields import definition_fields
from control_api.manifests.items import Item, Phase, Step, Subject, TriggerPlan
from control_api.operations.horizons import wanted_horizon
from ports.changes import DeleteTrigger, PauseTrigger, PutTrigger, ResumeTrigger
from ports.records import TriggerDefinition, TriggerRecord
from scheduling.calendars import ExclusionCalendar
from scheduling.vocabulary import TriggerState
from schemas.api.apply import FieldChange
from schemas.manifest import TriggerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarsAfter:
    """A tenant's calendars after the apply, and the revisions of those that it edits."""

    calendars: Mapping[str, ExclusionCalendar]
    edited: Mapping[str, int]


def trigger_item(
    call: Call,
    subject: Subject,
    spec: TriggerSpec,
    *,
    stored: TriggerRecord | None,
    current: TriggerDefinition | None,
    smear_s: int,
    after: CalendarsAfter,
) -> Item:
    """A trigger as the manifest has it. ApiProblem for a horizon that the caller cannot give."""
    tenant_id, name = subject.tenant_id, subject.name
    horizon = wanted_horizon(call, tenant_id, name, body=spec, current=current)
    definition = definition_of(
        spec,
        smear_s=smear_s,
        catchup_horizon_s=horizon.seconds,
        horizon_source=horizon.source,
    )
    put = PutTrigger(
        tenant_id=tenant_id,
        name=name,
        definition=definition,
        held_horizon_s=horizon.held_s,
        expected_revision=_expected(stored, current, after.edited),
    )
    was_paused = stored is not None and stored.state is TriggerState.PAUSED
    standing, fields = _standing(subject, spec, was_paused=was_paused)
    followed = [
        FieldChange(field=f"calendars.{each}", before=revision, after=revision + 1)
        for each, revision in after.edited.items()
        if current is not None and each in current.calendars and each in definition.calendars
    ]
    dates = tuple(after.calendars[each] for each in definition.calendars if each in after.calendars)
    return Item(
        subject=subject,
        revision=0 if stored is None else stored.revision,
        steps=(Step(Phase.TRIGGER, put), *standing),
        fields=(*definition_fields(current, definition), *followed, *fields),
        trigger=TriggerPlan(
            stored=stored,
            current=current,
            wanted=replace(definition, exclusion_calendars=dates),
            is_paused=was_paused if spec.paused is None else spec.paused,
        ),
    )


def trigger_deletion(stored: TriggerRecord, current: TriggerDefinition | None) -> Item:
    """A trigger that the manifests do not name."""
    delete = DeleteTrigger(
        tenant_id=stored.tenant_id,
        name=stored.name,
        note="not in the manifests any more",
        expected_revision=stored.revision,
    )
    return Item(
        subject=Subject("trigger", stored.tenant_id, stored.name),
        revision=stored.revision,
        steps=(Step(Phase.TRIGGER_GOES, delete),),
        trigger=TriggerPlan(stored=stored, current=current, wanted=None),
    )


def _expected(
    stored: TriggerRecord | None, current: TriggerDefinition | None, edited: Collection[str]
) -> int:
    """Each edit of a calendar of it makes a new revision of the trigger, before its own turn."""
    if stored is None:
        return 0
    return stored.revision + len(set(edited).intersection(current.calendars if current else ()))


def _standing(
    subject: Subject, spec: TriggerSpec, *, was_paused: bool
) -> tuple[list[Step], list[FieldChange]]:
    """Pausing or resuming it, where the manifest says so and it does not stand so."""
    if spec.paused is None or spec.paused == was_paused:
        return [], []
    tenant_id, name = subject.tenant_id, subject.name
    fields = [FieldChange(field="paused", before=was_paused, after=spec.paused)]
    if not spec.paused:
        resume = ResumeTrigger(tenant_id=tenant_id, name=name, rule=spec.resume_rule)
        return [Step(Phase.STANDING, resume)], fields
    if spec.pause_note is not None:
        fields.append(FieldChange(field="pause_note", after=spec.pause_note))
    pause = PauseTrigger(tenant_id=tenant_id, name=name, note=spec.pause_note)
    return [Step(Phase.STANDING, pause)], fields
