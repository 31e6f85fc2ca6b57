"""Management routes of exclusion calendars."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from control_api.operations import calendars
from control_api.pages import Cursor
from control_api.routes.paths import TENANT
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
from scheduling.limits import PAGE_ROWS_DEFAULT
from schemas.api.calendars import CalendarOut, CalendarShown
from schemas.api.common import Page
from schemas.api.principals import Done
from schemas.manifest import CalendarSpec

router = APIRouter(tags=["calendars"])
_CALENDAR = TENANT + "/calendars/{calendar:word}"


@router.get(TENANT + "/calendars", response_model=Page[CalendarShown], responses=problems())
def list_calendars(
    call: Read,
    response: Response,
    tenant: str,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """A tenant's exclusion calendars, by name."""
    reply = calendars.list_calendars(call, tenant, cursor=Cursor(cursor, limit))
    return respond(response, reply)


@router.get(_CALENDAR, response_model=CalendarOut, responses=problems())
def get_calendar(call: Read, response: Response, tenant: str, calendar: str) -> BaseModel:
    """One calendar with every date that it excludes."""
    return respond(response, calendars.get_calendar(call, tenant, calendar))


@router.put(
    _CALENDAR,
    response_model=CalendarOut,
    responses=WRITES | {201: {"model": CalendarOut, "description": "Created"}},
)
def put_calendar(
    call: Write, response: Response, tenant: str, calendar: str, body: CalendarSpec
) -> BaseModel:
    """Create a calendar, or replace it (If-Match); its triggers follow at once."""
    return respond(response, calendars.put_calendar(call, tenant, calendar, body))


@router.delete(_CALENDAR, response_model=Done, responses=ACTS)
def delete_calendar(call: Act, response: Response, tenant: str, calendar: str) -> BaseModel:
    """Delete a calendar that no trigger uses."""
    return respond(response, calendars.delete_calendar(call, tenant, calendar))
