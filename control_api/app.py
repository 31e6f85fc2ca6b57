"""The application: the routers that one process serves, and how refusals are told."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from control_api.call import Progress
from control_api.edge import Edge
from control_api.health import Health
from control_api.openapi import TITLE, VERSION, document_of
from control_api.parts import PARTS, Part
from control_api.problems import (
    MEDIA_TYPE,
    ApiProblem,
    FieldProblem,
    of_lack,
    of_port_error,
    sentence_of,
)
from control_api.routes import (
    apply,
    calendars,
    fires,
    history,
    outcomes,
    preview,
    privileged,
    tenants,
    triggers,
)
from control_api.routes import health as health_routes
from control_api.services import Services
from ports.errors import PortError
from scheduling.limits import API_THREADS, PROBE_THREADS, PROBLEMS_TOLD_MAX
from schemas.refusals import message_of, parameter_message, shown_key

ROUTERS: Final[dict[Part, tuple[APIRouter, ...]]] = {
    "management": (
        tenants.router,
        calendars.router,
        triggers.router,
        preview.router,
        fires.router,
        apply.router,
    ),
    "history": (history.router,),
    "privileged": (privileged.router,),
    "outcomes": (outcomes.router,),
}


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Made once, when it is first asked for."""
        if self.openapi_schema is None:
            self.openapi_schema = document_of(self.state.routers)
        return self.openapi_schema


def create_app(
    services: Services, parts: Collection[Part] = PARTS, *, health: Health | None = None
) -> Any:
    """An ASGI application that serves these parts of the API, and its health if that is given."""
    app = _App(
        title=TITLE,
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_bounded_threads,
        exception_handlers={
            ApiProblem: _tell_problem,
            PortError: _tell_port_error,
            OSError: _tell_lack,
            MemoryError: _tell_lack,
            RequestValidationError: _tell_validation,
            HTTPException: _tell_http,
            Exception: _tell_fault,
        },
    )
    app.state.services = services
    app.state.health = health
    app.state.probes = CapacityLimiter(PROBE_THREADS)
    routers = all_routers(parts, with_health=health is not None)
    app.state.routers = routers
    app.state.routes = [route for router in routers for route in router.routes]
    for router in routers:
        app.include_router(router)
    return Edge(app, services=services)


def all_routers(parts: Collection[Part] = PARTS, *, with_health: bool = True) -> list[APIRouter]:
    """The routers of these parts, in the order of the document."""
    routers = [router for part in PARTS if part in parts for router in ROUTERS[part]]
    return [*routers, health_routes.router] if with_health else routers


@asynccontextmanager
async def _bounded_threads(app: FastAPI) -> AsyncIterator[None]:
    """Routes run on so many threads; the limiter belongs to the server's loop."""
    current_default_thread_limiter().total_tokens = API_THREADS
    yield


def _document(problem: ApiProblem) -> JSONResponse:
    return JSONResponse(
        problem.document(),
        status_code=problem.status,
        headers=problem.headers,
        media_type=MEDIA_TYPE,
    )


async def _tell_problem(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, ApiProblem)  # noqa: S101 -- what the table registers
    request.state.is_refused = problem.is_refusal
    return _document(problem)


async def _tell_port_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PortError)  # noqa: S101
    return _document(of_port_error(error, is_made=_is_made(request)))


async def _tell_lack(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, (OSError, MemoryError))  # noqa: S101
    problem = of_lack(error, is_made=_is_made(request))
    if problem is None:
        raise error  # a fault
    return _document(problem)


def _is_made(request: Request) -> bool:
    progress: Progress | None = getattr(request.state, "progress", None)
    return progress is not None and progress.is_made


async def _tell_validation(request: Request, error: Exception) -> JSONResponse:
    """Pydantic's findings in our words, each at its field."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    model = _body_model(request)
    fields = []
    findings = error.errors()
    # On the event loop: what is not told is not put into words.
    for finding in findings[:PROBLEMS_TOLD_MAX]:
        where, *loc = finding["loc"]
        name = _field_name(loc, is_known=finding["type"] != "extra_forbidden") or str(where)
        told = {**finding, "loc": tuple(loc)}
        if where == "body" and model is not None:
            text = message_of(model, told)
        else:
            text = parameter_message(told)
        fields.append(FieldProblem(name, text))
    left_out = len(findings) - len(fields)
    detail = sentence_of([f"{each.field}: {each.detail}" for each in fields], left_out)
    return _document(ApiProblem(422, "invalid", detail, fields=fields, left_out=left_out))


def _field_name(loc: Sequence[int | str], *, is_known: bool) -> str:
    """The dotted path. A key that nobody reads may be a secret that slipped out of its place."""
    steps = [str(step) for step in loc]
    if not is_known:
        steps[-1] = shown_key(steps[-1])
    return ".".join(steps)


async def _tell_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        return _document(ApiProblem(404, "no_route", f"there is no {request.url.path} here"))
    if error.status_code == 405:
        allowed = ", ".join(_methods(request))
        detail = f"{request.method} is not for this path; it takes {allowed}"
        return _document(ApiProblem(405, "wrong_method", detail, headers={"Allow": allowed}))
    return _document(ApiProblem(400, "bad_request", str(error.detail)[:200]))


async def _tell_fault(request: Request, error: Exception) -> JSONResponse:
    """What no rule foresaw; the server's log has the traceback."""
    detail = "the service failed at this request: it may or may not have been carried out"
    return _document(ApiProblem(500, "fault", detail))


def _methods(request: Request) -> list[str]:
    """What the path takes: the framework's own answer names the methods of one route only."""
    return sorted(
        method
        for route in request.app.state.routes
        if (pattern := getattr(route, "path_regex", None)) and pattern.match(request.url.path)
        for method in getattr(route, "methods", None) or ()
    )


def _body_model(request: Request) -> type[BaseModel] | None:
    route = request.scope.get("route")
    body = getattr(route, "body_field", None)
    kind = None if body is None else body.field_info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
