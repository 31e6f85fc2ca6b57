"""Generated requests against the document: no fault, no undocumented answer, bodies as described.

Schemathesis makes them from the OpenAPI document, valid ones and broken ones; always the same.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error
from schemathesis.config import (
    ChecksConfig,
    GenerationConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.config._checks import (
    NEGATIVE_DATA_REJECTION_EXPECTED_STATUSES,
    NegativeDataRejectionConfig,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.python import asgi

from control_api.app import all_routers, create_app
from control_api.health import Health
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
_REFUSED: Final = [*NEGATIVE_DATA_REJECTION_EXPECTED_STATUSES, "413"]  # broken by its size
_CONFIG: Final = SchemathesisConfig(
    projects=ProjectsConfig(
        default=ProjectConfig(
            generation=_GENERATION,
            checks=ChecksConfig(
                negative_data_rejection=NegativeDataRejectionConfig(expected_statuses=_REFUSED)
            ),
        )
    )
)
_SCHEMA: Final = schemathesis.openapi.from_dict(document_of(all_routers()), config=_CONFIG)


def operations_of(schema: Any) -> dict[str, Any]:
    """Every operation by its method and path."""
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found}


_OPERATIONS: Final = operations_of(_SCHEMA)
_VALID: Final = GenerationMode.POSITIVE
_BROKEN: Final = GenerationMode.NEGATIVE
_PLACE: Final = f"/v1/tenants/{TENANT}"
# What no generator guesses: values of a body's keys, at any depth, that mean something here.
_SOUND: Final[dict[str, Any]] = {
    "schedule": "0 9 * * MON-FRI",
    "zone": "Europe/Berlin",
    "target": a_trigger_body()["target"],
    "url": HOOK,
    "secret": "whsec_" + "c291bmQ" * 8,
    "tenant": TENANT,
    "calendars": ["works"],
    "starts_at": "2026-01-01T00:00",
    "ends_at": "2030-01-01T00:00",
    "from": "2026-06-01T00:00",
    "quota_triggers": 100,
    "quota_dispatch_per_s": 10,
    "quota_inflight": 5,
    "catchup_rate_pct": 50,
}
_PAUSING: Final = {"paused", "pause_note", "resume"}  # of manifests; elsewhere acts of their own
_ASKED: Final = {"tenant": TENANT, "trigger": "digest", "instant": "2026-03-02T08:00:00Z"}
# What a deletion takes is made anew before each: its parameter and its definition.
_DELETED: Final[dict[str, tuple[str, Any]]] = {
    "DELETE /v1/tenants/{tenant}/calendars/{calendar}": ("calendar", {"dates": ["2026-12-31"]}),
    "DELETE /v1/tenants/{tenant}/targets/{target}": ("target", {"url": HOOK}),
    "DELETE /v1/tenants/{tenant}/triggers/{name}": ("name", a_trigger_body()),
}


class Installation:
    """One with something of everything, and a connection to it."""

    def __init__(self, api: Api, client: Any) -> None:
        self._client = client
        self._api = api
        api.principal("reader", GrantKind.READ)
        api.json("PUT", f"{_PLACE}/calendars/works", {"dates": ["2026-12-24"]})
        api.json("PUT", f"{_PLACE}/targets/spare", {"url": HOOK})
        api.json("PUT", f"{_PLACE}/triggers/digest", a_trigger_body(calendars=["works"]))
        run = api.json("POST", f"{_PLACE}/triggers/digest:run")
        grants = [{"kind": "read"}, {"kind": "read", "tenant": TENANT}]
        token = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": grants})
        api.json("PUT", "/v1/allowed-hosts/hook.example")
        api.decide()  # so that the service is ready
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

    def names_in(self, operation: Any) -> dict[str, str]:
        """What the parameters of a path may stand for."""
        names = {n: text for n, text in self.names.items() if f"{{{n}}}" in operation.path}
        deleted = _DELETED.get(operation.label)
        return names if deleted is None else names | {deleted[0]: "idle"}

    def check(self, case: Case[Any], *, by: str = "root") -> int:
        """Send it, and hold the answer against the document; its status."""
        if case.operation.label in _DELETED:
            kind = case.path.split("/")[4]
            _, definition = _DELETED[case.operation.label]
            self._api.json("PUT", f"{_PLACE}/{kind}/idle", definition)
        token = self.attempt if case.path == "/v1/outcomes" else self.tokens[by]
        answer = case.call(session=self._client, headers={"Authorization": f"Bearer {token}"})
        case.validate_response(answer, checks=_CHECKS)
        return answer.status_code


@pytest.fixture
def installation(api: Api) -> Iterator[Installation]:
    health = Health(api.services)
    with asgi.get_client(create_app(api.services, health=health)) as client:
        yield Installation(api, client)
    health.close()


def _make_sound(case: Case[Any]) -> None:
    """Let what is valid mean something: a body's values, and no condition on what is there."""
    assert case.meta is not None
    modes = {place: each.mode for place, each in case.meta.components.items()}
    if modes.get(ParameterLocation.BODY) is _VALID and isinstance(case.body, dict):
        case.body = _sound(case.body)
    if modes.get(ParameterLocation.QUERY) is _VALID and case.query:
        case.query = {k: _ASKED.get(k, v) for k, v in case.query.items() if k != "cursor"}
    headers = case.headers
    if modes.get(ParameterLocation.HEADER, _VALID) is _VALID and headers is not None:
        for name in ("If-None-Match", "Idempotency-Key"):
            headers.pop(name, None)
        if any(each.name == "If-Match" for each in case.operation.headers):
            headers["If-Match"] = "*"


def _sound(node: Any) -> Any:
    if isinstance(node, list):
        return [_sound(each) for each in node]
    if isinstance(node, dict):
        return {
            key: _SOUND.get(key) or _sound(value)
            for key, value in node.items()
            if key not in _PAUSING
        }
    return node


def _try(
    installation: Installation,
    operation: Any,
    mode: GenerationMode,
    *,
    count: int,
    named: bool,
    sound: bool = False,
    by: str = "root",
) -> list[int]:
    """The statuses of generated cases of an operation, on what is there or on anything."""
    statuses: list[int] = []
    names = installation.names_in(operation) if named else {}
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
        if sound:
            _make_sound(case)
        statuses.append(installation.check(case, by=by))

    each()
    return statuses


def _has_input(operation: Any) -> bool:
    return bool(_has_more_than_names(operation) or operation.path_parameters)


def _has_more_than_names(operation: Any) -> bool:
    return bool(operation.query or operation.headers or operation.body)


def _assert_both_ways(operation: Any, statuses: list[int]) -> None:
    """Some were answered, some were refused where anything can be refused, and none failed."""
    found = {status // 100 for status in statuses if status != 405}
    assert found == ({2, 4} if _has_input(operation) else {2}), sorted(set(statuses))


@pytest.mark.parametrize("label", _OPERATIONS)
def test_generated_requests_are_answered_as_documented(
    installation: Installation, label: str
) -> None:
    operation = _OPERATIONS[label]
    statuses = _try(installation, operation, _VALID, count=4, named=True)
    statuses += _try(installation, operation, _VALID, count=8, named=True, sound=True)
    statuses += _try(installation, operation, _VALID, count=4, named=False)
    statuses += _try(installation, operation, _VALID, count=4, named=True, by="reader")
    if _has_input(operation):
        named = _has_more_than_names(operation)
        statuses += _try(installation, operation, _BROKEN, count=8, named=named)
    _assert_both_ways(operation, statuses)


@pytest.mark.parametrize("label", _OPERATIONS)
def test_requests_at_the_bounds_are_answered_as_documented(
    installation: Installation, label: str
) -> None:
    operation = _OPERATIONS[label]
    names = installation.names_in(operation)
    cases = operation.schema.iter_coverage_cases(
        operation, generation_modes=[_VALID, _BROKEN], generation_config=_GENERATION
    )
    statuses: list[int] = []
    for number, case in enumerate(cases):
        if number % 3:
            for name in names.keys() & (case.path_parameters or {}).keys():
                case.path_parameters[name] = names[name]
        if number % 2:
            _make_sound(case)
        statuses.append(installation.check(case))
    _assert_both_ways(operation, statuses)


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
