"""From an HTTP request to a `Call`, and from a `Reply` to an HTTP response."""

from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from control_api.call import Call, read_match
from control_api.edge import checked_key
from control_api.problems import MEDIA_TYPE
from control_api.replies import Reply
from control_api.services import Services
from ports.authenticator import Principal
from ports.changes import IdempotentRequest
from schemas.api.common import Problem

_WHAT = {
    400: "The request cannot be read.",
    401: "No valid token.",
    403: "The token's principal lacks the grant.",
    404: "There is no such thing, or none that this principal may know of.",
    405: "Wrong method.",
    409: "The state of things forbids this now.",
    412: "The ETag is of another revision.",
    413: "The body is too big.",
    415: "The body is not declared as JSON.",
    422: "A field is wrong, or an idempotency key came with another request.",
    428: "A replacement has to say what it replaces.",
    429: "Too many requests.",
    503: "The store cannot serve now, or the clock is uncertain; nothing was changed.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented refusals of a route; those that any route may answer are always among them."""
    always = (400, 401, 403, 404, 422, 429, 503)
    return {
        status: {
            "description": _WHAT[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            "model": Problem,
        }
        for status in sorted({*always, *statuses})
    }


WRITES = problems(409, 412, 413, 415, 428)


async def _read_call(request: Request) -> Call:
    services: Services = request.app.state.services
    principal: Principal = request.state.principal
    return Call(services=services, principal=principal)


async def _write_call(
    request: Request,
    if_match: Annotated[str | None, Header(description="The ETag that is replaced, or *")] = None,
    if_none_match: Annotated[str | None, Header(description="* to create only")] = None,
    idempotency_key: Annotated[
        str | None, Header(description="Makes the request repeatable for a day")
    ] = None,
) -> Call:
    services: Services = request.app.state.services
    principal: Principal = request.state.principal
    key = checked_key(idempotency_key)
    repeatable = None
    if key is not None:
        repeatable = IdempotentRequest(
            principal_id=principal.principal_id, key=key, fingerprint=request.state.fingerprint
        )
    return Call(
        services=services,
        principal=principal,
        match=read_match(if_match, if_none_match),
        request=repeatable,
    )


Read = Annotated[Call, Depends(_read_call)]
Write = Annotated[Call, Depends(_write_call)]


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
