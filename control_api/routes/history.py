"""History routes: fires, why, what lies ahead, the backlog, events. Reads only."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from control_api.answers.hot_seconds import SECONDS_SHOWN_MAX
from control_api.answers.upcoming import UPCOMING_MAX
from control_api.operations import events, fires, forecasts, why
from control_api.problems import ApiProblem, FieldProblem
from control_api.routes.instants import InstantQuery, plus_again
from control_api.routes.paths import FIRE, TENANT, TRIGGER
from control_api.routes.requests import CursorQuery, LimitQuery, Read, problems, respond
from scheduling.limits import PAGE_ROWS_DEFAULT
from scheduling.vocabulary import Cause, FireState, Lane
from schemas.api.common import Page
from schemas.api.events import EventsOut
from schemas.api.fires import FireDetail, FireOut
from schemas.api.forecasts import BacklogOut, HotSecondsOut, UpcomingOut
from schemas.api.why import WhyOut

router = APIRouter(tags=["history"])
_COUNT_DEFAULT: Final = 10
_SECONDS_DEFAULT: Final = 10
_OFFSET_MAX: Final = 2**53 - 1  # what a JSON number holds exactly
_LEVEL_MAX: Final = 1_000_000
_INSTANT_CHARS_MAX: Final = 64


@router.get("/v1/fires", response_model=Page[FireOut], responses=problems())
def list_fires(
    call: Read,
    response: Response,
    tenant: str | None = None,
    trigger: str | None = None,
    state: Annotated[list[FireState] | None, Query()] = None,
    cause: Annotated[list[Cause] | None, Query()] = None,
    lane: Annotated[list[Lane] | None, Query()] = None,
    since: InstantQuery = None,
    through: InstantQuery = None,
    changed_since: InstantQuery = None,
    expand: bool = False,
    cursor: CursorQuery = None,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """Fires, newest first; with `changed_since` by their last change, oldest first.

    Consecutive instants that share their fate are one row; `expand` shows each of them. A page
    with a rare filter may be short and yet not the last: it is the last when its cursor is null.
    With `changed_since` there is always a cursor; a full page means that there is more already,
    and a row that changed just now may be told twice.
    """
    wanted = fires.Filter(
        tenant_id=tenant, trigger=trigger, states=state or (), causes=cause or (), lanes=lane or ()
    )
    if changed_since is not None:
        _check_following(since=since, through=through, expand=expand)
        changes = fires.list_changes(
            call, wanted, changed_since_us=changed_since, cursor=cursor, limit=limit
        )
        return respond(response, changes)
    reply = fires.list_fires(
        call,
        wanted,
        since_us=since,
        through_us=through,
        is_expanded=expand,
        cursor=cursor,
        limit=limit,
    )
    return respond(response, reply)


@router.get(FIRE, response_model=FireDetail, responses=problems())
def get_fire(call: Read, response: Response, fire_key: str) -> BaseModel:
    """One fire with its attempts, and what it was coalesced into."""
    return respond(response, fires.get_fire(call, fire_key))


@router.get(TRIGGER + "/why", response_model=WhyOut, responses=problems())
def why_trigger(
    call: Read,
    response: Response,
    tenant: str,
    name: str,
    instant: Annotated[str | None, Query(max_length=_INSTANT_CHARS_MAX)] = None,
) -> BaseModel:
    """Why a trigger fired, did not, or has not yet; a deleted one by its id.

    `instant` is RFC 3339, or a local time of the trigger's zone; without it the newest fire and
    the next instant are told.
    """
    text = None if instant is None else plus_again(instant)
    return respond(response, why.why_trigger(call, tenant, name, instant=text))


@router.get(TRIGGER + "/upcoming", response_model=UpcomingOut, responses=problems())
def upcoming_of_trigger(
    call: Read,
    response: Response,
    tenant: str,
    name: str,
    count: Annotated[int, Query(ge=1, le=UPCOMING_MAX)] = _COUNT_DEFAULT,
    since: InstantQuery = None,
) -> BaseModel:
    """A trigger's next instants."""
    reply = forecasts.upcoming_of(call, tenant, name, count=count, since_us=since)
    return respond(response, reply)


@router.get(TENANT + "/upcoming", response_model=UpcomingOut, responses=problems())
def upcoming_of_tenant(
    call: Read,
    response: Response,
    tenant: str,
    count: Annotated[int, Query(ge=1, le=UPCOMING_MAX)] = _COUNT_DEFAULT,
    through: InstantQuery = None,
) -> BaseModel:
    """What is due next in a tenant, by due time."""
    reply = forecasts.upcoming_of_all(call, tenant, count=count, through_us=through)
    return respond(response, reply)


@router.get("/v1/backlog", response_model=BacklogOut, responses=problems())
def read_backlog(
    call: Read, response: Response, tenant: str | None = None, trigger: str | None = None
) -> BaseModel:
    """What waits on each lane, and when it should have gone; of one trigger, what waits."""
    return respond(response, forecasts.read_backlog(call, tenant, trigger=trigger))


@router.get(TENANT + "/hot-seconds", response_model=HotSecondsOut, responses=problems())
def read_hot_seconds(
    call: Read,
    response: Response,
    tenant: str,
    seconds: Annotated[int, Query(ge=1, le=SECONDS_SHOWN_MAX)] = _SECONDS_DEFAULT,
    level: Annotated[int | None, Query(ge=1, le=_LEVEL_MAX)] = None,
) -> BaseModel:
    """The busiest seconds of the next 24 hours, and the smear that would flatten them."""
    reply = forecasts.read_hot_seconds(call, tenant, seconds=seconds, level=level)
    return respond(response, reply)


@router.get("/v1/events", response_model=EventsOut, responses=problems())
def list_events(
    call: Read,
    response: Response,
    tenant: str | None = None,
    after: Annotated[int, Query(ge=0, le=_OFFSET_MAX)] = 0,
    limit: LimitQuery = PAGE_ROWS_DEFAULT,
) -> BaseModel:
    """What a relay published after an offset, oldest first; go on after `next_after`."""
    reply = events.list_events(call, tenant_id=tenant, after=after, limit=limit)
    return respond(response, reply)


def _check_following(*, since: int | None, through: int | None, expand: bool) -> None:
    given = {"since": since is not None, "through": through is not None, "expand": expand}
    detail = "changes have no window and are rows as they are: leave it out with changed_since"
    fields = [FieldProblem(name, detail) for name, is_given in given.items() if is_given]
    if fields:
        raise ApiProblem(422, "invalid", f"{fields[0].field}: {detail}", fields=fields)
