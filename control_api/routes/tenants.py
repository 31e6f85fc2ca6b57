"""Management routes of tenants and their targets."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from control_api.operations import targets, tenants
from control_api.pages import Cursor
from control_api.routes.paths import TENANT
from control_api.routes.requests import (
    ACTS,
    PLAIN,
    WRITES,
    Act,
    CursorQuery,
    LimitQuery,
    Plain,
    Read,
    Write,
    problems,
    respond,
)
from scheduling.limits import PAGE_ROWS_DEFAULT
from schemas.api.common import Page
from schemas.api.principals import Done
from schemas.api.tenants import SecretOut, TargetIn, TargetOut, TenantIn, TenantOut

router = APIRouter(tags=["tenants"])
_TARGET = TENANT + "/targets/{target:word}"


@router.get("/v1/tenants", response_model=Page[TenantOut], responses=problems())
def list_tenants(
    call: Read,
    response: Response,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """The tenants that the caller may read, by name."""
    return respond(response, tenants.list_tenants(call, cursor=Cursor(cursor, limit)))


@router.get(TENANT, response_model=TenantOut, responses=problems())
def get_tenant(call: Read, response: Response, tenant: str) -> BaseModel:
    """One tenant with its quotas."""
    return respond(response, tenants.get_tenant(call, tenant))


@router.put(
    TENANT,
    response_model=TenantOut,
    responses=WRITES | {201: {"model": TenantOut, "description": "Created"}},
)
def put_tenant(call: Write, response: Response, tenant: str, body: TenantIn) -> BaseModel:
    """Create a tenant, or set its default smear (If-Match)."""
    return respond(response, tenants.put_tenant(call, tenant, body))


@router.get(TENANT + "/targets", response_model=Page[TargetOut], responses=problems())
def list_targets(
    call: Read,
    response: Response,
    tenant: str,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """A tenant's targets, by name."""
    reply = targets.list_targets(call, tenant, cursor=Cursor(cursor, limit))
    return respond(response, reply)


@router.get(_TARGET, response_model=TargetOut, responses=problems())
def get_target(call: Read, response: Response, tenant: str, target: str) -> BaseModel:
    """One target and what is known of its host's owner."""
    return respond(response, targets.get_target(call, tenant, target))


@router.put(
    _TARGET,
    response_model=TargetOut,
    responses=WRITES | {201: {"model": TargetOut, "description": "Created"}},
)
def put_target(
    call: Write, response: Response, tenant: str, target: str, body: TargetIn
) -> BaseModel:
    """Create a target, or replace it (If-Match)."""
    return respond(response, targets.put_target(call, tenant, target, body))


@router.delete(_TARGET, response_model=Done, responses=ACTS)
def delete_target(call: Act, response: Response, tenant: str, target: str) -> BaseModel:
    """Delete a target that no trigger uses."""
    return respond(response, targets.delete_target(call, tenant, target))


@router.post(_TARGET + ":verify", response_model=TargetOut, responses=PLAIN)
def verify_target(call: Plain, response: Response, tenant: str, target: str) -> BaseModel:
    """Ask the target's host now whose it is."""
    return respond(response, targets.verify_target(call, tenant, target))


@router.get(_TARGET + "/secret", response_model=SecretOut, responses=problems())
def read_secret(call: Read, response: Response, tenant: str, target: str) -> BaseModel:
    """The signing secret, for the receiver."""
    return respond(response, targets.read_secret(call, tenant, target))
