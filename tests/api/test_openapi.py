"""The OpenAPI document: as it is served, as it is committed, and what it has to say."""

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest

from control_api.app import all_routers, create_app
from control_api.openapi import document_of, document_text
from control_api.parts import PARTS
from tests.support.api import Api
from tests.support.repository import text_of

DOCUMENT: Final = document_of(all_routers())
OPERATIONS: Final = {
    f"{method.upper()} {path}": operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
_REMEDY: Final = "run: python -m control_api.openapi > docs/openapi.json"


def test_committed_document_is_the_codes() -> None:
    assert text_of(PurePosixPath("docs/openapi.json")) == document_text(DOCUMENT), _REMEDY


def test_served_document_is_the_committed_one_without_health(api: Api) -> None:
    answer = api.call("GET", "/openapi.json", by=None)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == document_of(all_routers(with_health=False))


@pytest.mark.parametrize("part", PARTS)
def test_process_of_one_part_serves_the_document_of_that_part(tmp_path: Path, part: Any) -> None:
    api = Api(tmp_path, parts=(part,))
    paths = api.call("GET", "/openapi.json", by=None).json()["paths"]
    assert set(paths) == set(document_of(all_routers((part,), with_health=False))["paths"])
    assert set(paths) < set(DOCUMENT["paths"])
    api.close()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_operation_is_described(operation: dict[str, Any]) -> None:
    assert operation["summary"].endswith(".")
    assert len(operation["tags"]) == 1
    is_open = operation["tags"] == ["health"]
    assert ("security" in operation) is not is_open
    for parameter in operation.get("parameters", ()):
        assert "title" not in parameter["schema"]


def test_operation_ids_are_short_and_unique() -> None:
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z_]{3,30}", each) for each in ids)


@pytest.mark.parametrize(
    "name", [name for name in OPERATIONS if not name.startswith("GET ")], ids=str
)
def test_change_takes_the_headers_of_the_rules(name: str) -> None:
    operation = OPERATIONS[name]
    headers = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "header"}
    assert headers <= {"If-Match", "If-None-Match", "Idempotency-Key"}
    if name not in ("POST /v1/preview", "POST /v1/outcomes"):
        assert "Idempotency-Key" in headers
        assert "409" in operation["responses"]
    assert ("412" in operation["responses"]) is ("If-Match" in headers)
    assert ("428" in operation["responses"]) is ("If-None-Match" in headers)
    if "requestBody" in operation:
        assert "415" in operation["responses"]


def test_refusals_are_problem_documents() -> None:
    for name, answer in DOCUMENT["components"]["responses"].items():
        assert list(answer["content"]) == ["application/problem+json"], name
        assert answer["description"].endswith("."), name


def test_every_reference_leads_somewhere() -> None:
    for reference in set(re.findall(r'"#/([^"]+)"', json.dumps(DOCUMENT))):
        node = DOCUMENT
        for step in reference.split("/"):
            assert step in node, reference
            node = node[step]


@pytest.mark.parametrize(
    ("model", "key", "wanted"),
    [
        ("TriggerSpec", "schedule", "anyOf"),
        ("TriggerSpec", "run_timeout", '"default": "1h"'),
        ("TriggerSpec", "run_timeout", '"type": "string"'),
        ("TriggerSpec", "starts_at", '"string", "null"'),
        ("HorizonIn", "horizon", "90s"),
        ("TokenIn", "expires_in", "90s"),
        ("CalendarSpec", "rules", "anyOf"),
        ("TriggerOut", "created_at", "date-time"),
    ],
)
def test_schema_says_what_is_written(model: str, key: str, wanted: str) -> None:
    schema = DOCUMENT["components"]["schemas"][model]["properties"][key]
    assert wanted in json.dumps(schema)


def test_application_has_no_pages_that_load_scripts(api: Api) -> None:
    app: Any = create_app(api.services)
    assert (app._app.docs_url, app._app.redoc_url) == (None, None)
