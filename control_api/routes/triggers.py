"""Management routes of triggers."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response
from pydantic import BaseModel

from control_api.operations import standing, triggers
from control_api.pages import Cursor
from control_api.routes.paths import TRIGGER
from control_api.routes.requests import (
    ACTS,
    WRITES,
    Act,
    CursorQuery,
    LimitQuery,
    Read,
    Write,
    problems,
    respond,
)
from scheduling.limits import NAME_CHARS_MAX, NOTE_CHARS_MAX, PAGE_ROWS_DEFAULT
from scheduling.vocabulary import TriggerState
from schemas.api.common import Page
from schemas.api.triggers import (
    PauseIn,
    ResumeIn,
    RunIn,
    RunOut,
    TriggerChanged,
    TriggerDetail,
    TriggerShown,
)
from schemas.manifest import TriggerSpec

router = APIRouter(tags=["triggers"])
_NAME_OR_ID_CHARS_MAX = 2 * NAME_CHARS_MAX


@router.get("/v1/triggers", response_model=Page[TriggerShown], responses=problems())
def list_triggers(
    call: Read,
    response: Response,
    tenant: str | None = None,
    state: Annotated[list[TriggerState] | None, Query()] = None,
    target: str | None = None,
    prefix: Annotated[str, Query(max_length=NAME_CHARS_MAX)] = "",
    name: Annotated[str | None, Query(max_length=_NAME_OR_ID_CHARS_MAX)] = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """Triggers by tenant and name; `name` finds one by its name or id, in any tenant."""
    reply = triggers.list_triggers(
        call,
        tenant_id=tenant,
        states=state or (),
        target_id=target,
        name_prefix=prefix,
        name=name,
        cursor=Cursor(cursor, limit),
    )
    return respond(response, reply)


@router.get(TRIGGER, response_model=TriggerDetail, responses=problems())
def get_trigger(call: Read, response: Response, tenant: str, name: str) -> BaseModel:
    """One trigger, by name or id, with its odd nights of the next 12 months."""
    return respond(response, triggers.get_trigger(call, tenant, name))


@router.put(
    TRIGGER,
    response_model=TriggerChanged,
    responses=WRITES | {201: {"model": TriggerChanged, "description": "Created"}},
)
def put_trigger(
    call: Write, response: Response, tenant: str, name: str, body: TriggerSpec
) -> BaseModel:
    """Create a trigger, or replace its definition (If-Match)."""
    return respond(response, triggers.put_trigger(call, tenant, name, body))


@router.delete(TRIGGER, response_model=TriggerChanged, responses=ACTS)
def delete_trigger(
    call: Act,
    response: Response,
    tenant: str,
    name: str,
    note: Annotated[str | None, Query(min_length=1, max_length=NOTE_CHARS_MAX)] = None,
) -> BaseModel:
    """End a trigger; its rows stay, what waits is stopped."""
    return respond(response, triggers.delete_trigger(call, tenant, name, note=note))


@router.post(TRIGGER + ":pause", response_model=TriggerChanged, responses=ACTS)
def pause_trigger(
    call: Act,
    response: Response,
    tenant: str,
    name: str,
    body: Annotated[PauseIn, Body()] = PauseIn(),  # noqa: B008 -- frozen
) -> BaseModel:
    """Stop deciding until the trigger is resumed."""
    return respond(response, standing.pause_trigger(call, tenant, name, body))


@router.post(TRIGGER + ":resume", response_model=TriggerChanged, responses=ACTS)
def resume_trigger(
    call: Act,
    response: Response,
    tenant: str,
    name: str,
    body: Annotated[ResumeIn, Body()] = ResumeIn(),  # noqa: B008 -- frozen
) -> BaseModel:
    """End a pause or a quarantine; the policy says what becomes of the paused time."""
    return respond(response, standing.resume_trigger(call, tenant, name, body))


@router.post(
    TRIGGER + ":run",
    response_model=RunOut,
    status_code=202,
    responses=ACTS,
)
def run_trigger(
    call: Act,
    response: Response,
    tenant: str,
    name: str,
    body: Annotated[RunIn, Body()] = RunIn(),  # noqa: B008 -- frozen
) -> BaseModel:
    """One fire now, beside the schedule."""
    return respond(response, standing.run_trigger(call, tenant, name, body))
