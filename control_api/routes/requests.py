"""From an HTTP request to a `Call`, and from a `Reply` to an HTTP response."""

from typing import Annotated, Any, get_args, get_origin

from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel

from control_api.call import Call, Match, read_match
from control_api.edge import checked_key
from control_api.problems import MEDIA_TYPE, ApiProblem, FieldProblem
from control_api.replies import Reply
from control_api.services import Services
from ports.authenticator import Principal
from ports.changes import IdempotentRequest
from scheduling.limits import PAGE_ROWS_MAX, PARAMETERS_TOLD_MAX
from schemas.refusals import did_you_mean, shown_key

_OTHER_WORDS = {"from": "since", "to": "through", "until": "through", "name": "trigger"}
_WHAT = {
    400: "The request cannot be read.",
    401: "No valid token.",
    403: "The token's principal lacks the grant.",
    404: "There is no such thing, or none that this principal may know of.",
    405: "Wrong method.",
    408: "The body came too slowly.",
    409: "The state of things forbids this now.",
    412: "The ETag is of another revision.",
    413: "The body is too big.",
    415: "The body is not declared as JSON.",
    422: "A field is wrong, or an idempotency key came with another request.",
    428: "A replacement has to say what it replaces.",
    429: "Too many requests.",
    503: "The service cannot do this now; the detail says whether anything was changed.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented refusals of a route; those that any route may answer are always among them."""
    always = (400, 401, 403, 404, 408, 413, 422, 429, 503)
    return {
        status: {
            "description": _WHAT[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({*always, *statuses})
    }


WRITES = problems(409, 412, 415, 428)
ACTS = problems(409, 412, 415)
PLAIN = problems(409, 415)
_IfMatch = Annotated[str | None, Header(description="The ETag that is replaced, or *")]
_IfNoneMatch = Annotated[str | None, Header(description="* to create only")]
_Key = Annotated[str | None, Header(description="Makes the request repeatable for a day")]


async def _read_call(request: Request) -> Call:
    check_query(request)
    services: Services = request.app.state.services
    principal: Principal = request.state.principal
    return _told(request, Call(services=services, principal=principal))


async def _write_call(
    request: Request,
    if_match: _IfMatch = None,
    if_none_match: _IfNoneMatch = None,
    idempotency_key: _Key = None,
) -> Call:
    _check_once(request, "If-Match", "If-None-Match")
    return _changing(request, idempotency_key, match=read_match(if_match, if_none_match))


async def _act_call(
    request: Request, if_match: _IfMatch = None, idempotency_key: _Key = None
) -> Call:
    _check_once(request, "If-Match")
    _check_without(request, "If-None-Match")
    return _changing(request, idempotency_key, match=read_match(if_match, None))


async def _plain_call(request: Request, idempotency_key: _Key = None) -> Call:
    _check_without(request, "If-Match", "If-None-Match")
    return _changing(request, idempotency_key, match=Match())


def _changing(request: Request, idempotency_key: str | None, *, match: Match) -> Call:
    check_query(request)
    _check_once(request, "Idempotency-Key")
    services: Services = request.app.state.services
    principal: Principal = request.state.principal
    key = checked_key(idempotency_key)
    repeatable = None
    if key is not None:
        repeatable = IdempotentRequest(
            principal_id=principal.principal_id, key=key, fingerprint=request.state.fingerprint
        )
    call = Call(services=services, principal=principal, match=match, request=repeatable)
    return _told(request, call)


def _told(request: Request, call: Call) -> Call:
    """A refusal of the request says how far it came."""
    request.state.progress = call.progress
    return call


def _check_without(request: Request, *names: str) -> None:
    """A precondition that nobody looks at must not be taken for one that held."""
    for name in names:
        if name in request.headers:
            detail = f"{name}: this route does not look at it: leave it out"
            raise ApiProblem(400, "bad_precondition", detail, fields=[FieldProblem(name, detail)])


def _check_once(request: Request, *names: str) -> None:
    for name in names:
        if len(request.headers.getlist(name)) > 1:
            detail = f"{name}: it came twice: send one"
            raise ApiProblem(400, "bad_header", detail, fields=[FieldProblem(name, detail)])


def check_query(request: Request) -> None:
    """Refuse a parameter that nobody reads: a slip in a filter must not widen the answer.

    Of one that came twice only one would be read, whichever was meant.
    """
    if not request.query_params:
        return
    known = {field.alias: field for field in request.scope["route"].dependant.query_params}
    unknown = sorted(set(request.query_params) - known.keys())
    if unknown:
        told = unknown[:PARAMETERS_TOLD_MAX]
        words = sorted(known)
        fields = [FieldProblem(shown_key(key), _unknown_parameter(key, words)) for key in told]
        detail = "; ".join(each.detail for each in fields)
        raise ApiProblem(422, "invalid", detail, fields=fields)
    repeated = sorted(
        key
        for key, field in known.items()
        if len(request.query_params.getlist(key)) > 1
        and not _takes_several(field.field_info.annotation)
    )
    if repeated:
        text = "it came more than once, and this path takes one: send the one that you mean"
        detail = "; ".join(f"{key}: {text}" for key in repeated)
        fields = [FieldProblem(key, text) for key in repeated]
        raise ApiProblem(422, "invalid", detail, fields=fields)


def _takes_several(annotation: Any) -> bool:
    """Whether a parameter is a list, which is sent as several of its name."""
    return any(get_origin(each) is list for each in (annotation, *get_args(annotation)))


def _unknown_parameter(key: str, known: list[str]) -> str:
    text = f"unknown parameter {shown_key(key)!r}"
    if not known:
        return f"{text}: this path takes none"
    meant = _OTHER_WORDS.get(key)
    close = [meant] if meant in known else did_you_mean(key, known)
    if close:
        return f"{text}: did you mean `{close[0]}`?"
    return f"{text}: this path takes {', '.join(known)}"


CursorQuery = Annotated[str | None, Query(description="That of the page before")]
LimitQuery = Annotated[int, Query(ge=1, le=PAGE_ROWS_MAX)]
Read = Annotated[Call, Depends(_read_call)]
Write = Annotated[Call, Depends(_write_call)]
"""For PUT of something that has an ETag."""
Act = Annotated[Call, Depends(_act_call)]
"""For what is done to something that has an ETag."""
Plain = Annotated[Call, Depends(_plain_call)]
"""For what takes no precondition."""


def respond(response: Response, reply: Reply[Any]) -> BaseModel:
    """Set status and headers; the body goes through the route's model."""
    response.status_code = reply.status
    if reply.etag is not None:
        response.headers["ETag"] = reply.etag
    if reply.location is not None:
        response.headers["Location"] = reply.location
    if reply.replayed:
        response.headers["Idempotent-Replayed"] = "true"
    body: BaseModel = reply.body
    return body
