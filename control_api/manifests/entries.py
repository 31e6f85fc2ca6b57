"""What a plan's transaction did, or would do, as it is told: one entry a subject."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from control_api.answers.upcoming import upcoming_instants, upcoming_of_trigger
from control_api.call import Call
from control_api.manifests.definition_fields import CHANGED
from control_api.manifests.items import Item, Plan, TriggerPlan
from ports.changes import AllowHost, ChangeResult, PutTrigger
from ports.errors import ChangeRefused
from ports.records import TriggerRecord
from scheduling import RuleError
from scheduling.rules import Span
from scheduling.versions import rules_of
from scheduling.vocabulary import ChangeKind, SpanKind, TriggerState
from schemas.api.apply import FieldChange, PlanEntry, SubjectKind
from schemas.manifest import TenantSpec

NEXT_SHOWN: Final = 3
_NEVER: Final = "never due again: nothing lies ahead of it"
_DEFINES: Final = frozenset({ChangeKind.CREATED, ChangeKind.EDITED, ChangeKind.DELETED})


def next_before(call: Call, plan: Plan) -> dict[int, list[int]]:
    """The next due times of the triggers that will change, by item; to be asked before it."""
    found = {}
    for number, item in enumerate(plan.items):
        trigger = item.trigger
        if trigger is None or trigger.stored is None:
            continue
        if item.fields or trigger.wanted is None:
            registry = call.services.store.registry
            answer = upcoming_of_trigger(
                registry, trigger.stored, from_us=call.now_us(), count=NEXT_SHOWN
            )
            found[number] = [each.due_us for each in answer.instants]
    return found


def other_payloads(call: Call, plan: Plan) -> set[int]:
    """The items whose trigger gets another payload beside other edits.

    Nobody reads payloads: the store says whether its own is equal, in a change that is undone.
    """
    probes = {
        number: probe
        for number, item in enumerate(plan.items)
        if item.trigger is not None and (probe := _payload_probe(item.trigger, item)) is not None
    }
    while probes:
        numbers = list(probes)
        try:
            results = call.apply(*probes.values(), dry_run=True)
        except ChangeRefused as refused:
            # A definition that could not be put again: whatever it had is replaced.
            for problem in refused.details:
                probes.pop(numbers[problem.change], None)
            continue
        return {
            number
            for number, result in zip(numbers, results, strict=True)
            if result.kind is not ChangeKind.UNCHANGED
        }
    return set()


def entries_of(
    plan: Plan,
    results: Sequence[ChangeResult],
    *,
    before: Mapping[int, list[int]],
    payloads: set[int],
    now_us: int,
) -> list[PlanEntry]:
    """An entry for every item, in the plan's order; `results` are those of `plan.changes`."""
    done: dict[int, list[ChangeResult]] = {number: [] for number in range(len(plan.items))}
    for ordered, result in zip(plan.ordered, results, strict=True):
        if not isinstance(ordered.step.change, AllowHost):
            done[ordered.item].append(result)
    return [
        _entry(
            item,
            done[number],
            next_before=before.get(number, []),
            has_other_payload=number in payloads,
            now_us=now_us,
        )
        for number, item in enumerate(plan.items)
    ]


def replayed_entries(
    tenants: Mapping[str, TenantSpec], results: Sequence[ChangeResult]
) -> list[PlanEntry]:
    """What an earlier request did: kept are the changes alone, so no fields are told.

    Nor is what it deleted beside triggers: whether that was a target or a calendar is not kept.
    """
    entries: list[PlanEntry] = []
    told: set[tuple[str, str, str]] = set()
    for result in results:
        kind = _kind_of(tenants, result, told)
        if kind is not None:
            told.add((kind, result.tenant_id, result.subject))
            entries.append(
                PlanEntry(
                    kind=kind,
                    tenant=result.tenant_id,
                    name=result.subject,
                    change=result.kind,
                    settled_rows=result.settled_rows,
                    stopped_fires=result.stopped_fires,
                )
            )
    return entries


def _kind_of(
    tenants: Mapping[str, TenantSpec], result: ChangeResult, told: set[tuple[str, str, str]]
) -> SubjectKind | None:
    """Of the result of an apply; their order is that of the phases. None for an allowed host."""
    if result.trigger_id is not None:
        return "trigger"
    if result.revision is None or result.kind is ChangeKind.DELETED:
        return None
    key = (result.tenant_id, result.subject)
    if result.subject == result.tenant_id and ("tenant", *key) not in told:
        return "tenant"
    spec = tenants.get(result.tenant_id)
    is_calendar = spec is not None and result.subject in spec.calendars
    return "calendar" if is_calendar and ("calendar", *key) not in told else "target"


def _entry(
    item: Item,
    results: list[ChangeResult],
    *,
    next_before: list[int],
    has_other_payload: bool,
    now_us: int,
) -> PlanEntry:
    kind = _kind(item, results)
    fields = list(item.fields)
    if kind is ChangeKind.EDITED and (has_other_payload or not fields):
        secret = "secret" if item.subject.kind == "target" else "payload"
        fields.append(FieldChange(field=secret, after=CHANGED))
    entry = PlanEntry(
        kind=item.subject.kind,
        tenant=item.subject.tenant_id,
        name=item.subject.name,
        change=kind,
        fields=fields,
        settled_rows=sum(result.settled_rows for result in results),
        stopped_fires=sum(result.stopped_fires for result in results),
        warning=item.warning,
    )
    if item.trigger is None:
        return entry
    more = _of_trigger(item, item.trigger, results, kind=kind, now_us=now_us)
    return entry.model_copy(update={"next_before": next_before, **more})


def _kind(item: Item, results: Sequence[ChangeResult]) -> ChangeKind:
    """The definition's change comes before that of its standing."""
    kinds = [result.kind for result in results if result.kind is not ChangeKind.UNCHANGED]
    found = next((kind for kind in kinds if kind in _DEFINES), next(iter(kinds), None))
    if found is not None:
        return found
    return ChangeKind.EDITED if item.fields else ChangeKind.UNCHANGED


def _of_trigger(
    item: Item,
    trigger: TriggerPlan,
    results: Sequence[ChangeResult],
    *,
    kind: ChangeKind,
    now_us: int,
) -> dict[str, object]:
    definition = trigger.wanted or trigger.current
    told: dict[str, object] = {"zone": None if definition is None else definition.zone}
    if trigger.wanted is None or trigger.is_paused or not results:
        return told
    last = results[-1]
    if kind is ChangeKind.UNCHANGED:
        stored = trigger.stored
        is_over = stored is not None and stored.next_due_us is None
        is_live = stored is not None and stored.state is not TriggerState.QUARANTINED
        return told | ({"warning": _NEVER} if is_over and is_live else {})
    ahead = _next_after(item, trigger, last, now_us=now_us)
    if not ahead and last.next_due_us is None:
        told["warning"] = _NEVER
    is_payload_alone = trigger.stored is not None and not item.fields
    return told if is_payload_alone else told | {"next_after": ahead}


def _next_after(
    item: Item, trigger: TriggerPlan, result: ChangeResult, *, now_us: int
) -> list[int]:
    """By the definition that the transaction has put, from where its span begins."""
    if trigger.wanted is None or result.trigger_id is None:
        return []
    version = result.version or 1
    key = (item.subject.tenant_id, result.trigger_id, version)
    try:
        rules = rules_of(trigger.wanted, key, name=item.subject.name)
    except RuleError:  # told by the store, which cannot use it either
        return []
    from_us = now_us if result.from_us is None else result.from_us
    record = _record(item, trigger, result, from_us=from_us)
    spans = [Span(from_us, SpanKind.LIVE, version)]
    walk = upcoming_instants(record, spans, {version: rules}, from_us=now_us)
    return [each.due_us for each in islice(walk, NEXT_SHOWN)]


def _record(
    item: Item, trigger: TriggerPlan, result: ChangeResult, *, from_us: int
) -> TriggerRecord:
    if trigger.stored is not None:
        return replace(trigger.stored, decided_through_us=from_us)
    return TriggerRecord(
        tenant_id=item.subject.tenant_id,
        trigger_id=result.trigger_id or "",
        name=item.subject.name,
        state=TriggerState.LIVE,
        version=1,
        revision=1,
        partition_id=0,
        pause_note=None,
        quarantine_error=None,
        decided_through_us=from_us,
        next_due_us=result.next_due_us,
        fired_count=0,
        created_us=from_us,
    )


def _payload_probe(trigger: TriggerPlan, item: Item) -> PutTrigger | None:
    """The definition as it is, with the payload that it is to have."""
    current, wanted = trigger.current, trigger.wanted
    if current is None or wanted is None or not current.has_payload or wanted.payload is None:
        return None
    if not item.fields:
        return None
    return PutTrigger(
        tenant_id=item.subject.tenant_id,
        name=item.subject.name,
        definition=replace(current, payload=wanted.payload),
    )
