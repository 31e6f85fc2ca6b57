"""The OpenAPI document: what the framework derives from the routes, and what only we know.

`python -m control_api.openapi > docs/openapi.json` writes the committed file; CI compares.
"""

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from control_api.call import ETAG_PATTERN
from control_api.problems import MEDIA_TYPE
from scheduling.limits import HEADER_CHARS_MAX
from schemas.api.common import Problem
from schemas.manifest_fields import NAME_SCHEMA

TITLE: Final = "Punctual"
VERSION: Final = "1"
DESCRIPTION: Final = (
    "Decides when, commits, and hands over. Every change is one transaction; every refusal is an "
    "RFC 9457 problem that names the field and the remedy. What holds for all routes stands in "
    "docs/api.md."
)
TAGS: Final = {
    "tenants": "Tenants, their targets and the proof of who owns a target's host.",
    "calendars": "Dates on which the triggers that name a calendar are not due.",
    "triggers": "What is due when, and acts on it.",
    "preview": "What a schedule means, before there is a trigger.",
    "fires": "One fire: cancel it.",
    "apply": "A whole manifest as one transaction.",
    "history": "What was decided, what became of it, why, and what lies ahead.",
    "privileged": "What authorship does not imply: quotas, horizons, tokens, grants, the audit.",
    "outcomes": "What the work of a fire came to, told by its target.",
    "health": "For probes, scrapes and receivers; without a token.",
}
_SCHEMES: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of a principal, made by `punctual token create` or POST /v1/tokens",
    },
    "attempt": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The token that came with the attempt, in its Authorization header",
    },
}
_PATH_SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    **dict.fromkeys(("tenant", "target", "calendar", "name"), NAME_SCHEMA),
    "fire_key": {
        "type": "string",
        "pattern": r"^[a-z0-9._-]{1,128}~t[0-9a-f]{1,64}~(0|-?[1-9]\d{0,17})~(0|[1-9]\d{0,8})$",
        "example": "acme~t4f0c1d2e3f4a5b6c7d8e~1798131600000000~0",
    },
}
_HEADERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "if-match": ("If-Match", {"type": "string", "pattern": f"^({ETAG_PATTERN}|[*])$"}),
    "if-none-match": ("If-None-Match", {"type": "string", "enum": ["*"]}),
    "idempotency-key": (
        "Idempotency-Key",
        {"type": "string", "pattern": "^[ -~]+$", "minLength": 1, "maxLength": HEADER_CHARS_MAX},
    ),
}
_ETAG: Final = {"description": "For If-Match", "schema": {"type": "string"}}
_LOCATION: Final = {"description": "Of what was made", "schema": {"type": "string"}}
_REPLAYED: Final = {
    "description": "An earlier request with this key did it",
    "schema": {"const": "true"},
}
_RETRY_AFTER: Final = {"description": "Seconds", "schema": {"type": "integer", "minimum": 0}}
_AUTHENTICATE: Final = {"required": True, "schema": {"const": "Bearer"}}


def document_of(routers: Sequence[APIRouter]) -> dict[str, Any]:
    """The document of these routers, in their order."""
    routes = [route for router in routers for route in router.routes]
    document = get_openapi(
        title=TITLE,
        version=VERSION,
        description=DESCRIPTION,
        routes=routes,
        tags=[{"name": name, "description": text} for name, text in TAGS.items()],
    )
    components = document["components"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= problem.pop("$defs") | {"Problem": problem}
    components["schemas"] = dict(sorted(components["schemas"].items()))
    components["securitySchemes"] = _SCHEMES
    used: set[str] = set()
    refusals: dict[str, Any] = {}
    for route in routes:
        if isinstance(route, APIRoute):
            for method in route.methods or ():
                operation = document["paths"][route.path_format][method.lower()]
                _complete(operation, route, refusals)
                used |= set(operation["tags"])
    components["responses"] = dict(sorted(refusals.items()))
    document["tags"] = [tag for tag in document["tags"] if tag["name"] in used]
    _tidy(document)
    return document


def document_text(document: dict[str, Any]) -> str:
    """As it is committed."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _complete(operation: dict[str, Any], route: APIRoute, refusals: dict[str, Any]) -> None:
    """`refusals` collects what is the same for all routes."""
    operation["operationId"] = route.name
    summary, _, rest = (route.endpoint.__doc__ or "").strip().partition("\n")
    operation["summary"] = summary
    operation.pop("description", None)
    if rest.strip():
        operation["description"] = "\n".join(line.strip() for line in rest.strip().splitlines())
    for parameter in operation.get("parameters", ()):
        _complete_parameter(parameter)
    if route.tags == ["outcomes"]:
        operation["security"] = [{"attempt": []}]
    elif route.tags != ["health"]:
        operation["security"] = [{"token": []}]
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    for status, answer in operation["responses"].items():
        headers = dict(_headers_of(status, names))
        if headers:
            answer["headers"] = headers
        if MEDIA_TYPE in answer.get("content", ()):
            name = f"Problem{status}"
            refusals[name] = answer
            operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _complete_parameter(parameter: dict[str, Any]) -> None:
    schema = parameter["schema"]
    if parameter["in"] == "header":
        parameter["name"], parameter["schema"] = _HEADERS[parameter["name"]]
    elif parameter["in"] == "path" and parameter["name"] in _PATH_SCHEMAS:
        parameter["schema"] = dict(_PATH_SCHEMAS[parameter["name"]])
    elif parameter["in"] == "query" and "anyOf" in schema:
        # Left out is what null means here: nobody can send one.
        given = [each for each in schema["anyOf"] if each != {"type": "null"}]
        (parameter["schema"],) = given


def _headers_of(status: str, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    if status in ("429", "503"):
        yield "Retry-After", _RETRY_AFTER
    if status == "401":
        yield "WWW-Authenticate", _AUTHENTICATE
    if not status.startswith("2"):
        return
    if "If-Match" in names:
        yield "ETag", _ETAG
    if status in ("201", "202"):
        yield "Location", _LOCATION
    if "Idempotency-Key" in names:
        yield "Idempotent-Replayed", _REPLAYED


def _tidy(node: Any) -> None:
    """Leave out titles that repeat a key, and bounds of durations, which are texts here."""
    if isinstance(node, list):
        for each in node:
            _tidy(each)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("title"), str) and "version" not in node:
        del node["title"]
    if node.get("type") == "string":
        node.pop("ge", None)
        node.pop("le", None)
    for name in ("maximum", "minimum"):
        if isinstance(node.get(name), float) and node[name].is_integer():
            node[name] = int(node[name])
    for each in node.values():
        _tidy(each)


if __name__ == "__main__":
    from control_api.app import all_routers

    sys.stdout.write(document_text(document_of(all_routers())))
