"""Every route of the API, each with a request that does what it is for.

What a request names is of the builders' tenant.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi.routing import APIRoute

from control_api.app import ROUTERS
from control_api.grants_reference import Route
from control_api.operations.principals import new_token
from control_api.routes import health
from ports.changes import AddGrant, AllowHost, CreateToken, PauseTrigger, PutCalendar, RunTrigger
from ports.principals import GrantKind, GrantRecord
from scheduling.keys import FireKey
from tests.support.api import HOOK, OTHER, TENANT, Api, a_trigger_body
from tests.support.definitions import a_target, a_trigger

HOST: Final = "hooks.example"
HOLDER: Final = "holder"
NAME: Final = "digest"
_TENANT: Final = "/v1/tenants/{tenant}"
_TARGET: Final = _TENANT + "/targets/{target}"
_CALENDAR: Final = _TENANT + "/calendars/{calendar}"
_TRIGGER: Final = _TENANT + "/triggers/{name}"
_FIRE: Final = "/v1/fires/{fire_key}"
_GRANT: Final = "/v1/principals/{principal}/grants/{kind}"
_HOST: Final = "/v1/allowed-hosts/{host}"


@dataclass(slots=True)
class Prepared:
    """What the path's parameters stand for, and the token of an attempt where one is needed."""

    names: dict[str, str] = field(default_factory=dict)
    bearer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One route's request.

    is_named_in_query:  the tenant, because the path does not name it
    prepare:            makes what must be there before
    action:             of the audit entry that it leaves; None where it leaves none
    subject:            of that entry; empty for an id that is drawn
    prior:              part of its prior value; None where there was nothing before
    """

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_named_in_query: bool = False
    prepare: Callable[[Api, Prepared], None] = lambda api, prepared: None
    action: str | None = None
    subject: str = ""
    prior: str | None = None


def _trigger(api: Api, prepared: Prepared) -> None:
    api.apply(a_trigger(NAME))


def _paused(api: Api, prepared: Prepared) -> None:
    api.apply(a_trigger(NAME), PauseTrigger(tenant_id=TENANT, name=NAME))


def _fire(api: Api, prepared: Prepared) -> None:
    api.apply(a_trigger(NAME))
    (run,) = api.apply(RunTrigger(tenant_id=TENANT, name=NAME))
    prepared.names["fire_key"] = str(run.fire_key)


def _attempt(api: Api, prepared: Prepared) -> None:
    _fire(api, prepared)
    key = FireKey.parse(prepared.names["fire_key"])
    prepared.bearer = api.services.attempt_tokens.mint(
        key,
        1,
        audience="https://shop.example",
        now_us=api.now_us,
        expires_us=api.now_us + 1_000_000,
    )


def _calendar(api: Api, prepared: Prepared) -> None:
    api.apply(PutCalendar(tenant_id=TENANT, calendar_id="works", dates=("2026-12-25",)))


def _idle_target(api: Api, prepared: Prepared) -> None:
    """A second one, of which the host is not asked."""
    api.json("PUT", f"/v1/tenants/{TENANT}/targets/spare", {"url": HOOK})
    prepared.names["target"] = "spare"


def _token(api: Api, prepared: Prepared) -> None:
    _, token_id, hashed = new_token()
    api.apply(
        CreateToken(principal_id=HOLDER, token_id=token_id, token_hash=hashed),
        AddGrant(grant=GrantRecord(HOLDER, GrantKind.READ, TENANT)),
    )
    prepared.names["token_id"] = token_id


def _holder(api: Api, prepared: Prepared) -> None:
    """Holds already what its token is to be given: that is not told again."""
    api.apply(AddGrant(grant=GrantRecord(HOLDER, GrantKind.READ, TENANT)))


def _grant(api: Api, prepared: Prepared) -> None:
    api.apply(AddGrant(grant=GrantRecord(HOLDER, GrantKind.READ, TENANT)))
    api.apply(AddGrant(grant=GrantRecord(HOLDER, GrantKind.READ)))


def _allowed(api: Api, prepared: Prepared) -> None:
    api.apply(AllowHost(tenant_id=TENANT, host=HOST), AllowHost(tenant_id=None, host=HOST))


_MEMBERS: Final = {
    "targets": {"shop": {"url": "https://shop.example/hook"}},
    "triggers": {NAME: a_trigger_body()},
}
_MANIFEST: Final = {"manifests": [{"tenants": {TENANT: _MEMBERS}}]}
_ANY: Final = {"If-Match": "*"}

EXAMPLES: Final[dict[Route, Example]] = {
    ("GET", "/v1/tenants"): Example(),
    ("GET", _TENANT): Example(),
    ("PUT", _TENANT): Example(
        body={"smear_s": 7}, headers=_ANY, action="tenant_put", subject=TENANT, prior='"smear_s": 0'
    ),
    ("PUT", _TENANT + "/quota"): Example(
        body={"quota_inflight": 7}, action="tenant_put", subject=TENANT, prior='"quota_inflight"'
    ),
    ("POST", _TENANT + "/payload-key:delete"): Example(
        action="payload_key_deleted", subject=TENANT
    ),
    ("GET", _TENANT + "/targets"): Example(),
    ("GET", _TARGET): Example(),
    ("PUT", _TARGET): Example(
        body={"url": "https://shop.example/hook", "timeout_s": 3},
        headers=_ANY,
        action="target_put",
        subject="shop",
        prior='"timeout_s": 10',
    ),
    ("DELETE", _TARGET): Example(
        prepare=_idle_target, action="target_deleted", subject="spare", prior=f'"{HOOK}"'
    ),
    # Of a host that needs no proof nothing is asked, and there is nothing to tell.
    ("POST", _TARGET + ":verify"): Example(prepare=_idle_target),
    ("GET", _TARGET + "/secret"): Example(action="secret_shown", subject="shop"),
    ("GET", _TENANT + "/calendars"): Example(prepare=_calendar),
    ("GET", _CALENDAR): Example(prepare=_calendar),
    ("PUT", _CALENDAR): Example(
        body={"dates": ["2026-12-26"]},
        headers=_ANY,
        prepare=_calendar,
        action="calendar_put",
        subject="works",
        prior="2026-12-25",
    ),
    ("DELETE", _CALENDAR): Example(
        prepare=_calendar, action="calendar_deleted", subject="works", prior="2026-12-25"
    ),
    ("GET", "/v1/triggers"): Example(is_named_in_query=True),
    ("GET", _TRIGGER): Example(prepare=_trigger),
    ("PUT", _TRIGGER): Example(
        body=a_trigger_body(),
        headers=_ANY,
        prepare=_trigger,
        action="trigger_edited",
        subject=NAME,
        prior='"* * * * *"',
    ),
    ("DELETE", _TRIGGER): Example(
        prepare=_trigger, action="trigger_deleted", subject=NAME, prior='"live"'
    ),
    ("POST", _TRIGGER + ":pause"): Example(
        prepare=_trigger, action="trigger_paused", subject=NAME, prior='"live"'
    ),
    ("POST", _TRIGGER + ":resume"): Example(
        prepare=_paused, action="trigger_resumed", subject=NAME, prior='"paused"'
    ),
    ("POST", _TRIGGER + ":run"): Example(
        prepare=_trigger, action="trigger_run", subject=NAME, prior='"live"'
    ),
    ("PUT", _TRIGGER + "/horizon"): Example(
        body={"horizon": "2d"},
        prepare=_trigger,
        action="trigger_edited",
        subject=NAME,
        prior='"catchup_horizon_s": 3600',
    ),
    ("POST", "/v1/preview"): Example(body={"schedule": "0 9 * * *", "zone": "UTC"}),
    ("POST", "/v1/apply"): Example(body=_MANIFEST, action="trigger_created", subject=NAME),
    ("GET", "/v1/fires"): Example(is_named_in_query=True),
    ("GET", _FIRE): Example(prepare=_fire),
    ("POST", _FIRE + ":cancel"): Example(
        prepare=_fire, action="fire_cancelled", subject=NAME, prior='"held"'
    ),
    ("GET", _TRIGGER + "/why"): Example(prepare=_trigger),
    ("GET", _TRIGGER + "/upcoming"): Example(prepare=_trigger),
    ("GET", _TENANT + "/upcoming"): Example(),
    ("GET", "/v1/backlog"): Example(is_named_in_query=True),
    ("GET", _TENANT + "/hot-seconds"): Example(),
    ("GET", "/v1/events"): Example(is_named_in_query=True),
    ("GET", "/v1/tokens"): Example(),
    ("POST", "/v1/tokens"): Example(
        body={"principal": HOLDER, "grants": [{"kind": "read", "tenant": TENANT}]},
        prepare=_holder,
        action="token_created",
    ),
    ("POST", "/v1/tokens/{token_id}:revoke"): Example(
        prepare=_token, action="token_revoked", prior=f'"{HOLDER}"'
    ),
    ("GET", "/v1/grants"): Example(),
    ("PUT", _GRANT): Example(is_named_in_query=True, action="grant_added", subject=HOLDER),
    ("DELETE", _GRANT): Example(
        is_named_in_query=True,
        prepare=_grant,
        action="grant_removed",
        subject=HOLDER,
        prior='"read"',
    ),
    ("GET", "/v1/allowed-hosts"): Example(),
    ("PUT", _HOST): Example(is_named_in_query=True, action="host_allowed", subject=HOST),
    ("DELETE", _HOST): Example(
        is_named_in_query=True, prepare=_allowed, action="host_disallowed", subject=HOST
    ),
    ("GET", "/v1/audit"): Example(is_named_in_query=True),
    ("POST", "/v1/outcomes"): Example(prepare=_attempt, body={"outcome": "succeeded"}),
    ("GET", "/healthz"): Example(),
    ("GET", "/readyz"): Example(),
    ("GET", "/metrics"): Example(),
    ("GET", "/openapi.json"): Example(),
    ("GET", "/.well-known/jwks.json"): Example(),
}
_NAMES: Final = {
    "tenant": TENANT,
    "target": a_target().target.target_id,
    "calendar": "works",
    "name": NAME,
    "principal": HOLDER,
    "kind": "read",
    "host": HOST,
}


def served_routes() -> set[Route]:
    """What the application has, and the document of it that the framework adds."""
    routers = [router for part in ROUTERS.values() for router in part] + [health.router]
    return {
        (method, route.path_format)
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    } | {("GET", "/openapi.json")}


def prepared(api: Api, route: Route) -> Prepared:
    """Make what the example needs."""
    found = Prepared()
    EXAMPLES[route].prepare(api, found)
    return found


def send(
    api: Api,
    route: Route,
    ready: Prepared,
    *,
    by: str | None,
    tenant: str = TENANT,
    is_named: bool = True,
) -> Any:
    """The example's request by a principal; with an attempt's token where that is what it takes.

    tenant:    to be named in place of the builders'
    is_named:  whether the query names it where the path does not
    """
    method, path = route
    example = EXAMPLES[route]
    headers = dict(example.headers)
    if ready.bearer is not None and by is not None:
        headers["Authorization"] = f"Bearer {ready.bearer}"
        by = None
    params = {"tenant": tenant} if example.is_named_in_query and is_named else {}
    names = _NAMES | ready.names | {"tenant": tenant}
    if "fire_key" in names:
        names["fire_key"] = names["fire_key"].replace(TENANT, tenant, 1)
    body = json.loads(json.dumps(example.body).replace(f'"{TENANT}"', f'"{tenant}"'))
    return api.call(method, path.format(**names), body, by=by, headers=headers, **params)


__all__ = [
    "EXAMPLES",
    "HOLDER",
    "HOST",
    "NAME",
    "OTHER",
    "Example",
    "Prepared",
    "prepared",
    "send",
    "served_routes",
]
