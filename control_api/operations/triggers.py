"""Triggers: put, read, list, delete."""

from collections.abc import Callable, Collection, Sequence

from control_api.answers.expand import Versions
from control_api.call import Call
from control_api.definitions import definition_of, probed_recurrence, refusal_text
from control_api.operations.finding import (
    check_mark,
    check_name,
    needs_match,
    scope_of,
    tenant_of,
    trigger_of,
)
from control_api.operations.horizons import wanted_horizon
from control_api.operations.targets import how_to_prove
from control_api.operations.trigger_views import changed_out, trigger_detail, trigger_shown
from control_api.pages import Cursor
from control_api.problems import ApiProblem, FieldProblem, invalid
from control_api.replies import Reply, etag_after, etag_of
from ports.changes import ChangeKind, ChangeResult, DeleteTrigger, PutTrigger
from ports.errors import ChangeRefused, ProblemKind
from ports.principals import GrantKind
from ports.records import TenantRecord, TriggerDefinition, TriggerRecord
from scheduling import InvalidRecurrence
from scheduling.vocabulary import TriggerState
from schemas.api.common import Page
from schemas.api.triggers import TriggerChanged, TriggerDetail, TriggerShown
from schemas.manifest import TriggerSpec


def put_trigger(call: Call, tenant_id: str, name: str, body: TriggerSpec) -> Reply[TriggerChanged]:
    """Create the trigger, or replace its definition by a new version.

    Without If-Match it creates, or confirms what is there already; a definition that differs is
    then refused with 428. A horizon beyond the one that holds needs the grant `policy`: that of the
    trigger; of a new one the default, or a lower one that the last of that name was deleted with.
    """
    call.require(GrantKind.AUTHOR, tenant_id, act="put a trigger")
    check_name("name", name)
    tenant = tenant_of(call, tenant_id)
    _check_pause(body)
    (result,) = call.earlier() or [_put_anew(call, tenant, name, body)]
    created = result.kind is ChangeKind.CREATED
    return Reply(
        body=changed_out(call, result),
        status=201 if created else 200,
        etag=etag_after(result),
        location=f"/v1/tenants/{tenant_id}/triggers/{name}" if created else None,
        replayed=result.replayed,
    )


def get_trigger(call: Call, tenant_id: str, name: str) -> Reply[TriggerDetail]:
    """One trigger by name or id."""
    trigger = trigger_of(call, tenant_id, name)
    return Reply(
        body=trigger_detail(call, trigger),
        etag=etag_of(trigger.revision, mark=trigger.trigger_id),
    )


def list_triggers(
    call: Call,
    *,
    tenant_id: str | None,
    states: Collection[TriggerState],
    target_id: str | None,
    name_prefix: str,
    name: str | None = None,
    cursor: Cursor,
) -> Reply[Page[TriggerShown]]:
    """Undeleted triggers by tenant and name; without a tenant those of all.

    A `name`, or an id, finds what bears it in every tenant that the caller may read.
    """
    if name is not None:
        if states or target_id is not None or name_prefix:
            raise invalid("name", "it says which already: leave out state, target and prefix")
        return _named(call, tenant_id, name, cursor=cursor)
    tenant_id = scope_of(call, tenant_id, act="list the triggers of all tenants")
    cursor = cursor.of("triggers")
    after = cursor.place(2)
    found = call.services.store.registry.triggers(
        tenant_id,
        states=states,
        target_id=target_id,
        name_prefix=name_prefix,
        after=None if after is None else (after[0], after[1]),
        limit=cursor.limit,
    )
    return Reply(body=_page(call, found, cursor, lambda each: (each.tenant_id, each.name)))


def _named(
    call: Call, tenant_id: str | None, name: str, *, cursor: Cursor
) -> Reply[Page[TriggerShown]]:
    if tenant_id is not None:
        tenant_of(call, tenant_id)
    cursor = cursor.of("named")
    tenant_after, trigger_after = cursor.place(2) or ("", "")
    found = call.services.store.registry.find_triggers(
        name,
        tenant_id=tenant_id,
        tenants=call.principal.tenants(),
        after=(tenant_after, trigger_after),
        limit=cursor.limit,
    )
    return Reply(body=_page(call, found, cursor, lambda each: (each.tenant_id, each.trigger_id)))


def _page(
    call: Call,
    found: Sequence[TriggerRecord],
    cursor: Cursor,
    place_of: Callable[[TriggerRecord], Sequence[str]],
) -> Page[TriggerShown]:
    versions = Versions(call.services.store.registry)
    return cursor.page(found, lambda each: trigger_shown(call, each, versions), place_of)


def delete_trigger(
    call: Call, tenant_id: str, name: str, *, note: str | None
) -> Reply[TriggerChanged]:
    """End the trigger for good; its rows stay, what waits is stopped."""
    call.require(GrantKind.AUTHOR, tenant_id, act="delete a trigger")
    (result,) = call.earlier() or call.apply(
        DeleteTrigger(
            tenant_id=tenant_id,
            name=_name_for_change(call, tenant_id, name),
            note=note,
            expected_revision=call.match.revision,
        )
    )
    return Reply(body=changed_out(call, result), replayed=result.replayed)


def _name_for_change(call: Call, tenant_id: str, name: str) -> str:
    """The trigger's name, its ETag looked at; one sent twice at a time may find it gone by now."""
    try:
        trigger = trigger_of(call, tenant_id, name)
    except ApiProblem:
        if call.request is None:
            raise
        return name
    check_mark(call, "trigger", mark=trigger.trigger_id)
    return trigger.name


def _put_anew(call: Call, tenant: TenantRecord, name: str, body: TriggerSpec) -> ChangeResult:
    tenant_id = tenant.tenant_id
    stored, current = _stored(call, tenant_id, name)
    if stored is not None:
        check_mark(call, "trigger", mark=stored.trigger_id)
    horizon = wanted_horizon(call, tenant_id, name, body=body, current=current)
    definition = definition_of(
        body,
        smear_s=tenant.smear_s,
        catchup_horizon_s=horizon.seconds,
        horizon_source=horizon.source,
    )
    _check_payload(body, current)
    try:
        probed_recurrence(definition, tenant_id=tenant_id, name=name, now_us=call.now_us())
    except InvalidRecurrence as refused:
        raise invalid(*refusal_text(refused)) from None
    change = PutTrigger(
        tenant_id=tenant_id,
        name=name,
        definition=definition,
        held_horizon_s=horizon.held_s,
        expected_revision=call.expected_revision if call.match.is_given else 0,
        must_exist=call.match.anything,
    )
    return _put(call, change)


def _put(call: Call, change: PutTrigger) -> ChangeResult:
    tenant_id, name, definition = change.tenant_id, change.name, change.definition
    try:
        (result,) = call.apply(change)
    except ChangeRefused as refused:
        reasons = {(each.kind, each.field) for each in refused.details}
        if call.match.is_given or reasons != {(ProblemKind.STALE, "revision")}:
            raise _with_proof(call, tenant_id, definition.target_id, refused) from None
        # There is one already: confirm it where it says the same, which changes nothing.
        (result,) = call.apply(
            PutTrigger(tenant_id=tenant_id, name=name, definition=definition), dry_run=True
        )
        if result.kind is not ChangeKind.UNCHANGED:
            raise needs_match(f"the trigger {tenant_id}/{name}") from None
    return result


def _with_proof(
    call: Call, tenant_id: str, target_id: str, refused: ChangeRefused
) -> ChangeRefused:
    """Where the target is not proven, what is to be served where."""
    told = (
        problem._replace(text=f"{problem.text}; {how_to_prove(call, tenant_id, target_id)}")
        if (problem.field, problem.kind) == ("target", ProblemKind.CONFLICT)
        else problem
        for problem in refused.details
    )
    return ChangeRefused(tuple(told))


def _stored(
    call: Call, tenant_id: str, name: str
) -> tuple[TriggerRecord | None, TriggerDefinition | None]:
    registry = call.services.store.registry
    for trigger in registry.find_triggers(name, tenant_id=tenant_id):
        if trigger.name == name:
            key = (tenant_id, trigger.trigger_id)
            return trigger, registry.definition(*key, version=trigger.version)
    return None, None


def _check_payload(body: TriggerSpec, current: TriggerDefinition | None) -> None:
    """What is never shown cannot be sent back: leaving it out must not delete it unnoticed."""
    if current is None or not current.has_payload or "payload_json" in body.model_fields_set:
        return
    raise invalid(
        "payload",
        "this trigger has one, which is never shown: send it again, or send null to remove it",
    )


def _check_pause(body: TriggerSpec) -> None:
    keys = {"paused": "paused", "pause_note": "pause_note", "resume_rule": "resume"}
    given = [key for field, key in keys.items() if field in body.model_fields_set]
    if not given:
        return
    detail = "pausing is an act of its own: POST .../{name}:pause or :resume"
    fields = [FieldProblem(field, detail) for field in given]
    raise ApiProblem(422, "invalid", f"{given[0]}: {detail}", fields=fields)
