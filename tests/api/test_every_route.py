"""Every route of the application has a ladder of its own, a document, and a guard at its door."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from fastapi.routing import APIRoute

from control_api.app import ROUTERS, all_routers
from control_api.openapi import document_of
from control_api.routes import health
from tests.support.api import TENANT, Api, problem
from tests.support.ladder import STEPS, ReadLadder, Step, WriteLadder

_OF_ITS_OWN: Final = {("POST", "/v1/outcomes"): "test_report_outcome"}  # no principal, no ladder
# How each step of it is climbed, by a test of its file, or why there is no such step.
_STEPS_OF_ITS_OWN: Final[dict[str, dict[Step, str]]] = {
    "POST /v1/outcomes": {
        "works": "test_outcome_of_a_fire_is_taken_once",
        "wrong method": "test_wrong_method_is_405",
        "no token": "test_no_token_of_an_attempt_is_401",
        "wrong grant": "test_token_of_an_attempt_opens_nothing_else",
        "other tenant": "test_token_of_another_fire_is_403",
        "unknown id": "test_fire_that_is_not_there_is_404",
        "missing field": "test_bad_field_is_422",
        "stale ETag": "a fire has no ETag: its end is told once",
        "repeated key": "the token is of one attempt: a repeated report finds the fire ended",
        "side effects": "test_outcome_does_not_touch_audit_or_outbox",
    }
}
_DOCUMENT: Final = document_of(all_routers())
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


def _operations() -> dict[str, dict[str, Any]]:
    """Every operation of the OpenAPI document by its method and path, but for those of probes."""
    return {
        f"{method.upper()} {path}": operation
        for path, operations in _DOCUMENT["paths"].items()
        for method, operation in operations.items()
        if operation["tags"] != ["health"]
    }


def _required_keys(operation: dict[str, Any]) -> set[str]:
    """The keys that its body must have, out of the document."""
    content = operation.get("requestBody", {}).get("content", {})
    keys: set[str] = set()
    for each in content.values():
        schema = each["schema"]
        while "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = _DOCUMENT["components"]["schemas"][name]
        keys |= set(schema.get("required", ()))
    return keys


def _parameters(operation: dict[str, Any], where: str) -> set[str]:
    return {each["name"] for each in operation.get("parameters", ()) if each["in"] == where}


def _applies(operation: dict[str, Any]) -> dict[Step, bool]:
    """Which steps there are by the document, where it says so."""
    headers = _parameters(operation, "header")
    return {
        "missing field": bool(_required_keys(operation)),
        "stale ETag": "If-Match" in headers,
        "repeated key": "Idempotency-Key" in headers,
        "side effects": "Idempotency-Key" in headers,
    }


@pytest.mark.parametrize("name", sorted(_operations()))
def test_ladder_of_a_route_has_all_ten_steps_or_says_why_not(
    name: str, ladders: list[type[ReadLadder]]
) -> None:
    operation = _operations()[name]
    if name in _STEPS_OF_ITS_OWN:
        method, path = name.split(" ")
        module = import_module(f"tests.api.{_OF_ITS_OWN[method, path]}")
        climbed = {step: hasattr(module, how) for step, how in _STEPS_OF_ITS_OWN[name].items()}
        assert set(climbed) == set(STEPS)
        assert {step for step, is_test in climbed.items() if not is_test} == {
            step for step, how in _STEPS_OF_ITS_OWN[name].items() if " " in how
        }
        return
    route = next(each for each in _ROUTES if _name(each) == name)
    climbing = [ladder for ladder in ladders if _climbs(ladder, route)]
    assert climbing, f"{name} has no ladder"
    climbed_steps: set[Step] = set()
    for ladder in climbing:
        reasons = ladder.reasons()
        assert all(reasons.values()), f"{ladder.__name__}: a reason that says nothing"
        left = set(STEPS) - set(reasons)
        climbed_steps |= left
        for step in left:
            for test in STEPS[step]:
                assert callable(getattr(ladder, test, None)), f"{ladder.__name__} lacks {test}"
    for step, is_step in _applies(operation).items():
        assert (step in climbed_steps) is is_step, f"{name}: {step}"
    required = _required_keys(operation)
    assert {frozenset(each.required) for each in climbing} == {frozenset(required)}, name
    if _parameters(operation, "path"):
        assert "unknown id" in climbed_steps, f"{name}: name an unknown id"


def _shows_a_revision(operation: dict[str, Any]) -> bool:
    """Whether an answer of success tells the revision that its subject has now."""
    for status, answer in operation["responses"].items():
        for each in answer.get("content", {}).values() if status.startswith("2") else ():
            name = each["schema"].get("$ref", "").rpartition("/")[2]
            if "revision" in _DOCUMENT["components"]["schemas"].get(name, {}).get("properties", ()):
                return True
    return False


@pytest.mark.parametrize("name", sorted(_operations()))
def test_ladder_of_a_change_that_tells_a_revision_sees_it_rise(
    name: str, ladders: list[type[ReadLadder]]
) -> None:
    route = next(each for each in _ROUTES if _name(each) == name)
    for ladder in ladders:
        if not _climbs(ladder, route) or not issubclass(ladder, WriteLadder):
            continue
        assert (ladder.revised is None) is bool(ladder.unrevised), ladder.__name__
        assert ladder.revised or not _shows_a_revision(_operations()[name]), ladder.__name__


def test_every_route_of_the_document_is_served_by_a_router() -> None:
    assert set(_operations()) == {_name(route) for route in _ROUTES}


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
