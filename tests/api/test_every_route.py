"""Every route of the application has a ladder of its own, a document, and a guard at its door."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from fastapi.routing import APIRoute

from control_api.app import ROUTERS
from control_api.routes import health
from tests.support.api import TENANT, Api, problem
from tests.support.ladder import ReadLadder, WriteLadder

_OF_ITS_OWN: Final = {("POST", "/v1/outcomes"): "test_report_outcome"}  # no principal, no ladder
_ROUTES: Final = [
    route
    for routers in ROUTERS.values()
    for router in routers
    for route in router.routes
    if isinstance(route, APIRoute)
]


def _method(route: APIRoute) -> str:
    (method,) = sorted(route.methods or {})
    return method


def _name(route: APIRoute) -> str:
    return f"{_method(route)} {route.path_format}"


def _ladders() -> list[type[ReadLadder]]:
    """Every class of a ladder in this folder."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        if "Ladder" in path.read_text():
            import_module(f"tests.api.{path.stem}")
    found: list[type[ReadLadder]] = []
    waiting: list[type[ReadLadder]] = [ReadLadder]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found += (each for each in below if each is not WriteLadder)
    return found


def _climbs(ladder: type[ReadLadder], route: APIRoute) -> bool:
    if not hasattr(ladder, "path") or ladder.method != _method(route):
        return False
    path = re.sub(r"\{[a-z]+\}", "x", ladder.path.replace("{tenant}", TENANT))
    return route.path_regex.match(path) is not None


@pytest.fixture(scope="module")
def ladders() -> list[type[ReadLadder]]:
    return _ladders()


@pytest.mark.parametrize("route", _ROUTES, ids=_name)
def test_route_has_a_ladder(route: APIRoute, ladders: list[type[ReadLadder]]) -> None:
    own = _OF_ITS_OWN.get((_method(route), route.path_format))
    if own is not None:
        assert (Path(__file__).parent / f"{own}.py").exists()
        return
    climbing = [ladder for ladder in ladders if _climbs(ladder, route)]
    assert climbing, f"write tests/api/test_{route.name}.py with a class of tests/support/ladder.py"
    is_change = any(name == "idempotency-key" for name in _header_names(route))
    assert not is_change or any(issubclass(each, WriteLadder) for each in climbing)


@pytest.mark.parametrize("route", _ROUTES, ids=_name)
def test_route_documents_its_refusals(route: APIRoute) -> None:
    assert {400, 401, 403, 413, 422, 429, 503} <= set(route.responses)
    assert route.endpoint.__doc__, "its summary"
    if route.body_field is not None:
        assert 415 in route.responses


@pytest.mark.parametrize("route", _ROUTES, ids=_name)
def test_route_answers_nobody(api: Api, route: APIRoute) -> None:
    path = re.sub(r"\{[a-z_]+\}", "x", route.path_format)
    for headers in ({}, {"Authorization": "Bearer pun_x"}, {"Authorization": "Basic cm9vdDo="}):
        for body in (None, {}, {"x": 1}):
            answer = api.call(_method(route), path, body, by=None, headers=headers)
            assert problem(answer) == (401, [])
            assert answer.headers["www-authenticate"] == "Bearer"


def test_only_health_answers_without_a_token(api: Api) -> None:
    served = {route.path for route in health.router.routes if isinstance(route, APIRoute)}
    assert served == {"/healthz", "/readyz", "/metrics", "/.well-known/jwks.json"}
    assert api.call("GET", "/openapi.json", by=None).status_code == 200
    for path in ("/", "/docs", "/redoc", "/v1", "/nothing", "/openapi.json/", "//healthz"):
        assert problem(api.call("GET", path, by=None)) == (401, [])


def _header_names(route: APIRoute) -> set[str]:
    found: set[str] = set()
    waiting: list[Any] = [route.dependant]
    while waiting:
        dependant = waiting.pop()
        found |= {each.alias for each in dependant.header_params}
        waiting += dependant.dependencies
    return found
