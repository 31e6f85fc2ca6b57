"""Finding what a call names, or saying that it is not there."""

from control_api.call import Call
from control_api.problems import (
    ApiProblem,
    FieldProblem,
    invalid,
    no_tenant,
    not_found,
    shown,
)
from ports.principals import GrantKind
from ports.records import TenantRecord, TriggerRecord
from schemas.manifest_fields import name_problem
from schemas.refusals import did_you_mean

_NAMES_SEARCHED_MAX = 1_000


def tenant_of(call: Call, tenant_id: str) -> TenantRecord:
    """The tenant, for a caller that may read it; 404 otherwise."""
    call.require(GrantKind.READ, tenant_id, act="read")
    for tenant in call.services.store.registry.tenants(tenant_id):
        return tenant
    raise no_tenant(tenant_id)


def scope_of(
    call: Call, tenant_id: str | None, *, act: str, kind: GrantKind = GrantKind.READ
) -> str | None:
    """The tenant that a list is of; None for all, which takes the grant on the platform.

    Where none is named by a caller that holds the grant on one tenant alone, it is of that one.
    """
    if tenant_id is None:
        tenant_id = _only_tenant(call, kind)
    if tenant_id is None or kind is not GrantKind.READ:
        call.require(kind, tenant_id, act=act)
    return None if tenant_id is None else tenant_of(call, tenant_id).tenant_id


def _only_tenant(call: Call, kind: GrantKind) -> str | None:
    """On which it is held alone; where it is held on none, the only one that may be read."""
    held = call.principal.tenants(kind)
    if held is not None and not held:
        held = call.principal.tenants()
    return next(iter(held)) if held is not None and len(held) == 1 else None


def trigger_of(call: Call, tenant_id: str, name: str, *, deleted: bool = False) -> TriggerRecord:
    """The undeleted trigger of that name or id; 404 with the closest name otherwise.

    With `deleted` also a deleted one, by its id.
    """
    call.require(GrantKind.READ, tenant_id, act="read")
    registry = call.services.store.registry
    found = registry.find_triggers(name, tenant_id=tenant_id, deleted=deleted)
    for trigger in found:
        if trigger.name == name:
            return trigger
    if found:
        return found[0]
    known = [each.name for each in registry.triggers(tenant_id, limit=_NAMES_SEARCHED_MAX)]
    close = did_you_mean(name, known)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise not_found("trigger", f"{shown(tenant_id)} has no trigger {shown(name)}{hint}")


def check_name(field: str, text: str) -> None:
    """Refuse what cannot be the name of something new."""
    problem = name_problem(text)
    if problem is not None:
        raise invalid(field, problem)


def check_mark(call: Call, what: str, *, mark: str) -> None:
    """An ETag of another thing that had the name before is stale."""
    if call.match.mark not in (None, mark):
        detail = f"If-Match: this ETag is of a deleted {what} of the same name: read it again"
        raise ApiProblem(412, "stale", detail, fields=[FieldProblem("If-Match", detail)])


def needs_match(what: str) -> ApiProblem:
    """A replacement that does not say what it replaces."""
    detail = f"If-Match: {what} exists and differs: send its ETag, or `*` to replace it as it is"
    return ApiProblem(428, "match_missing", detail, fields=[FieldProblem("If-Match", detail)])
