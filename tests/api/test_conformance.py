"""Generated requests against the document: no fault, no undocumented answer, bodies as described.

Schemathesis makes them from the OpenAPI document, valid ones and broken ones; always the same.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error
from schemathesis.config import (
    GenerationConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.python import asgi

from control_api.app import all_routers, create_app
from control_api.openapi import document_of
from ports.principals import GrantKind
from scheduling.keys import FireKey
from tests.support.api import HOOK, TENANT, Api, a_trigger_body

load_all_checks()
_CHECKS: Final[list[Any]] = [
    not_a_server_error,
    *CHECKS.get_by_names(
        [
            "status_code_conformance",
            "content_type_conformance",
            "response_schema_conformance",
            "response_headers_conformance",
            "negative_data_rejection",
        ]
    ),
]
# Tokens are tried by the walk over all routes and by the ladders.
_GENERATION: Final = GenerationConfig(with_security_parameters=False)
_SCHEMA: Final = schemathesis.openapi.from_dict(
    document_of(all_routers(with_health=False)),
    config=SchemathesisConfig(
        projects=ProjectsConfig(default=ProjectConfig(generation=_GENERATION))
    ),
)


def operations_of(schema: Any) -> dict[str, Any]:
    """Every operation by its method and path."""
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found}


_OPERATIONS: Final = operations_of(_SCHEMA)
_EDGES_MAX: Final = 60  # cases at the bounds of one operation's parameters
_VALID: Final = GenerationMode.POSITIVE
_BROKEN: Final = GenerationMode.NEGATIVE


class Installation:
    """One with something of everything, and a connection to it."""

    def __init__(self, api: Api, client: Any) -> None:
        self._client = client
        api.principal("reader", GrantKind.READ)
        place = f"/v1/tenants/{TENANT}"
        api.json("PUT", f"{place}/calendars/works", {"dates": ["2026-12-24"]})
        api.json("PUT", f"{place}/targets/spare", {"url": HOOK})
        api.json("PUT", f"{place}/triggers/digest", a_trigger_body(calendars=["works"]))
        run = api.json("POST", f"{place}/triggers/digest:run")
        token = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": [{"kind": "read"}]})
        api.json("PUT", "/v1/allowed-hosts/hook.example")
        attempt = api.services.attempt_tokens.mint(
            FireKey.parse(run["fire_key"]),
            1,
            audience="https://shop.example",
            now_us=api.now_us,
            expires_us=api.now_us + 1_000_000,
        )
        self.tokens = {"root": api.tokens["root"], "reader": api.tokens["reader"]}
        self.attempt = attempt
        self.names = {
            "tenant": TENANT,
            "target": "spare",
            "calendar": "works",
            "name": "digest",
            "fire_key": run["fire_key"],
            "principal": "ci",
            "kind": "read",
            "host": "hook.example",
            "token_id": token["token_id"],
        }

    def names_in(self, path: str) -> dict[str, str]:
        """What the parameters of a path may stand for."""
        return {name: text for name, text in self.names.items() if f"{{{name}}}" in path}

    def check(self, case: Case[Any], *, by: str = "root") -> int:
        """Send it, and hold the answer against the document; its status."""
        token = self.attempt if case.path == "/v1/outcomes" else self.tokens[by]
        answer = case.call(session=self._client, headers={"Authorization": f"Bearer {token}"})
        case.validate_response(answer, checks=_CHECKS)
        return answer.status_code


@pytest.fixture
def installation(api: Api) -> Iterator[Installation]:
    with asgi.get_client(create_app(api.services)) as client:
        yield Installation(api, client)


def _try(
    installation: Installation,
    operation: Any,
    mode: GenerationMode,
    *,
    count: int,
    named: bool,
    by: str = "root",
) -> list[int]:
    """The statuses of generated cases of an operation, on what is there or on anything."""
    statuses: list[int] = []
    names = installation.names_in(operation.path) if named else {}
    strategy = operation.as_strategy(
        generation_mode=mode, **({"path_parameters": names} if names else {})
    )

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=strategy)
    def each(case: Case[Any]) -> None:
        statuses.append(installation.check(case, by=by))

    each()
    return statuses


@pytest.mark.parametrize("label", _OPERATIONS)
def test_generated_requests_are_answered_as_documented(
    installation: Installation, label: str
) -> None:
    operation = _OPERATIONS[label]
    statuses = _try(installation, operation, _VALID, count=8, named=True)
    statuses += _try(installation, operation, _VALID, count=4, named=False)
    statuses += _try(installation, operation, _VALID, count=4, named=True, by="reader")
    is_beyond_names = bool(operation.query or operation.headers or operation.body)
    if is_beyond_names or operation.path_parameters:
        statuses += _try(installation, operation, _BROKEN, count=8, named=is_beyond_names)
    assert statuses
    assert max(statuses) < 500


@pytest.mark.parametrize("label", _OPERATIONS)
def test_requests_at_the_bounds_are_answered_as_documented(
    installation: Installation, label: str
) -> None:
    operation = _OPERATIONS[label]
    names = installation.names_in(operation.path)
    cases = operation.schema.iter_coverage_cases(
        operation, generation_modes=[_VALID, _BROKEN], generation_config=_GENERATION
    )
    statuses: list[int] = []
    for number, case in enumerate(islice(cases, _EDGES_MAX)):
        if number % 3:
            for name in names.keys() & (case.path_parameters or {}).keys():
                case.path_parameters[name] = names[name]
        statuses.append(installation.check(case))
    assert statuses
    assert max(statuses) < 500


def test_an_answer_that_is_not_as_documented_fails(api: Api) -> None:
    """The checks above can fail: here the document promises another body."""
    document = document_of(all_routers(with_health=False))
    tenant = document["components"]["schemas"]["TenantOut"]
    tenant["properties"]["smear_s"] = {"type": "string"}
    operation = operations_of(schemathesis.openapi.from_dict(document))["GET /v1/tenants"]
    with asgi.get_client(create_app(api.services)) as client:
        installation = Installation(api, client)
        with pytest.raises(FailureGroup):
            _try(installation, operation, _VALID, count=1, named=False)
