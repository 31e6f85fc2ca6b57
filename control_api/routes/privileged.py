"""Privileged routes: quotas, horizons, tokens, grants, allowed hosts, the audit, payload keys."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import BaseModel

from control_api.operations import principals, privileged, standing
from control_api.pages import Cursor
from control_api.routes.instants import InstantQuery
from control_api.routes.paths import TENANT, TRIGGER
from control_api.routes.requests import (
    ACTS,
    PLAIN,
    Act,
    CursorQuery,
    LimitQuery,
    Plain,
    Read,
    problems,
    respond,
)
from scheduling.limits import NOTE_CHARS_MAX, PAGE_ROWS_DEFAULT
from schemas.api.common import Page
from schemas.api.principals import (
    PRINCIPAL_PATTERN,
    AuditOut,
    Done,
    GrantIn,
    GrantOut,
    HostIn,
    HostOut,
    Kind,
    QuotaIn,
    TokenCreated,
    TokenIn,
    TokenOut,
)
from schemas.api.tenants import TenantOut
from schemas.api.triggers import HorizonIn, TriggerChanged

router = APIRouter(tags=["privileged"])
_GRANT = "/v1/principals/{principal}/grants/{kind}"
_HOST = "/v1/allowed-hosts/{host}"
_Principal = Annotated[str, Path(pattern=PRINCIPAL_PATTERN)]
_NOTE = Query(min_length=1, max_length=NOTE_CHARS_MAX)


@router.put(TENANT + "/quota", response_model=TenantOut, responses=ACTS)
def set_quota(call: Act, response: Response, tenant: str, body: QuotaIn) -> BaseModel:
    """Set what a tenant may have and send."""
    return respond(response, privileged.set_quota(call, tenant, body))


@router.put(TRIGGER + "/horizon", response_model=TriggerChanged, responses=ACTS)
def set_horizon(
    call: Act, response: Response, tenant: str, name: str, body: HorizonIn
) -> BaseModel:
    """Set how far back catch-up of a trigger may reach."""
    return respond(response, standing.set_horizon(call, tenant, name, body))


@router.get("/v1/tokens", response_model=Page[TokenOut], responses=problems())
def list_tokens(
    call: Read,
    response: Response,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """All tokens without their secrets, newest first."""
    return respond(response, principals.list_tokens(call, cursor=Cursor(cursor, limit)))


@router.post("/v1/tokens", response_model=TokenCreated, status_code=201, responses=PLAIN)
def create_token(call: Plain, response: Response, body: TokenIn) -> BaseModel:
    """Make a token; it is shown this once."""
    return respond(response, principals.create_token(call, body))


@router.post("/v1/tokens/{token_id:word}:revoke", response_model=Done, responses=PLAIN)
def revoke_token(call: Plain, response: Response, token_id: str) -> BaseModel:
    """Revoke a token for good."""
    return respond(response, principals.revoke_token(call, token_id))


@router.get("/v1/grants", response_model=Page[GrantOut], responses=problems())
def list_grants(
    call: Read,
    response: Response,
    principal: str | None = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """Who may do what, by principal, tenant and kind."""
    reply = principals.list_grants(call, principal, cursor=Cursor(cursor, limit))
    return respond(response, reply)


@router.put(_GRANT, response_model=Done, responses=PLAIN)
def add_grant(
    call: Plain, response: Response, principal: _Principal, kind: Kind, tenant: str | None = None
) -> BaseModel:
    """Let a principal do more, on a tenant or on the platform."""
    grant = GrantIn(kind=kind, tenant=tenant)
    return respond(response, principals.add_grant(call, principal, grant))


@router.delete(_GRANT, response_model=Done, responses=PLAIN)
def remove_grant(
    call: Plain, response: Response, principal: str, kind: Kind, tenant: str | None = None
) -> BaseModel:
    """Take a grant away."""
    grant = GrantIn(kind=kind, tenant=tenant)
    return respond(response, principals.remove_grant(call, principal, grant))


@router.get("/v1/allowed-hosts", response_model=Page[HostOut], responses=problems())
def list_hosts(
    call: Read,
    response: Response,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """Hosts that an operator vouches for, by name and tenant."""
    return respond(response, privileged.list_hosts(call, cursor=Cursor(cursor, limit)))


@router.put(_HOST, response_model=Done, responses=PLAIN)
def allow_host(
    call: Plain,
    response: Response,
    host: str,
    tenant: str | None = None,
    body: Annotated[HostIn, Body()] = HostIn(),  # noqa: B008 -- frozen
) -> BaseModel:
    """Vouch for a host, for one tenant or for all."""
    return respond(response, privileged.allow_host(call, host, tenant, body))


@router.delete(_HOST, response_model=Done, responses=PLAIN)
def disallow_host(
    call: Plain,
    response: Response,
    host: str,
    tenant: str | None = None,
    note: Annotated[str | None, _NOTE] = None,
) -> BaseModel:
    """Take it back; targets that rested on it have to be proven."""
    return respond(response, privileged.disallow_host(call, host, tenant, HostIn(note=note)))


@router.get("/v1/audit", response_model=Page[AuditOut], responses=problems())
def list_audit(
    call: Read,
    response: Response,
    tenant: str | None = None,
    subject: str | None = None,
    actor: str | None = None,
    action: Annotated[list[str] | None, Query()] = None,
    since: InstantQuery = None,
    through: InstantQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """Who did what, newest first."""
    reply = privileged.list_audit(
        call,
        tenant_id=tenant,
        subject=subject,
        actor=actor,
        actions=action or [],
        from_us=since,
        through_us=through,
        cursor=Cursor(cursor, limit),
    )
    return respond(response, reply)


@router.post(TENANT + "/payload-key:delete", response_model=Done, responses=PLAIN)
def delete_payload_key(call: Plain, response: Response, tenant: str) -> BaseModel:
    """Make a tenant's payloads and secrets unreadable for good."""
    return respond(response, privileged.delete_payload_key(call, tenant))
