"""The two ways to a service cranked by hand: the registry itself, and the API over HTTP.

A way says the same to the service and reads the same of it, in rows of its own words.
"""

from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from starlette.testclient import TestClient

from adapters.authenticator_tokens import TokenAuthenticator
from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.ownership_http import HttpOwnership
from adapters.payload_keys_tink import TinkPayloadKeys
from control_api.app import create_app
from control_api.gate import ChangeGate
from control_api.operations.principals import new_token
from control_api.services import ApiSettings, Services
from ports.changes import (
    AddGrant,
    Change,
    CreateToken,
    DeleteTrigger,
    PauseTrigger,
    PutTrigger,
    ResumeTrigger,
)
from ports.errors import ChangeRefused
from ports.principals import GrantKind, GrantRecord
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading
from scheduling.durations import duration_text
from scheduling.instants import from_text
from scheduling.vocabulary import Cause, FireState, Lane, MissedPolicy, OverlapPolicy
from tests.support.definitions import TARGET, TENANT, a_definition, a_target, a_tenant
from tests.support.scripted_target import Report
from tests.support.service import EPSILON_US, Service

PAGE_ROWS: Final = 100  # so few that long rows have pages
HOOK: Final = "http://127.0.0.1:8089/hook"


class Wish(NamedTuple):
    """A trigger as a scenario wants it; everything else is the product's default."""

    expression: str
    zone: str
    missed: MissedPolicy
    overlap: OverlapPolicy
    starts_at: str | None = None
    horizon_s: int | None = None


class Fate(NamedTuple):
    """What became of an instant, or of several through `through_us` that share it."""

    trigger: str
    scheduled_us: int
    due_us: int
    first_dispatched_us: int | None
    lane: Lane
    state: FireState
    cause: Cause | None
    into_us: int | None
    through_us: int | None
    instant_count: int


class Refused(Exception):
    """The service refused a change; the text names the field."""


class Way(Protocol):
    """What people of a tenant and its targets say to a service, and what they ask."""

    def of(self, tenant_id: str) -> "Way":
        """The same service for another tenant, with a target of its own."""

    def put(self, name: str, wish: Wish) -> None:
        """Create or edit. Raises Refused."""

    def pause(self, name: str) -> None: ...

    def resume(self, name: str) -> None: ...

    def delete(self, name: str) -> None: ...

    def names(self) -> list[str]:
        """The triggers that there are."""

    def next_us(self, name: str) -> list[int]:
        """The next instants as far as they are told, one at least."""

    def fates(self, name: str | None = None) -> list[Fate]:
        """All that was decided of a trigger, or of every one that there ever was, oldest first."""


@dataclass(slots=True)
class RegistryWay:
    """As the ports take it."""

    service: Service
    tenant_id: str = TENANT

    def __post_init__(self) -> None:
        self.service.apply(a_tenant(self.tenant_id), a_target(self.tenant_id))

    def of(self, tenant_id: str) -> "RegistryWay":
        return RegistryWay(self.service, tenant_id)

    def put(self, name: str, wish: Wish) -> None:
        horizon = {} if wish.horizon_s is None else {"catchup_horizon_s": wish.horizon_s}
        definition = a_definition(
            wish.expression,
            zone=wish.zone,
            missed_policy=wish.missed,
            overlap_policy=wish.overlap,
            starts_us=None if wish.starts_at is None else from_text(wish.starts_at),
            **horizon,
        )
        self._apply(PutTrigger(tenant_id=self.tenant_id, name=name, definition=definition))

    def pause(self, name: str) -> None:
        self._apply(PauseTrigger(tenant_id=self.tenant_id, name=name))

    def resume(self, name: str) -> None:
        self._apply(ResumeTrigger(tenant_id=self.tenant_id, name=name))

    def delete(self, name: str) -> None:
        self._apply(DeleteTrigger(tenant_id=self.tenant_id, name=name))

    def names(self) -> list[str]:
        return [
            each.name for each in self.service.store.registry.triggers(self.tenant_id, limit=100)
        ]

    def next_us(self, name: str) -> list[int]:
        (trigger,) = self.service.store.registry.find_triggers(name, tenant_id=self.tenant_id)
        return [] if trigger.next_due_us is None else [trigger.next_due_us]

    def fates(self, name: str | None = None) -> list[Fate]:
        rows = self.service.store.history.fires(tenant_id=self.tenant_id, limit=10_000)
        return [
            Fate(
                row.trigger_name,
                row.key.scheduled_us,
                row.due_us,
                row.first_dispatched_us,
                row.lane,
                row.state,
                row.cause,
                row.coalesced_into_us,
                row.through_us,
                row.instant_count,
            )
            for row in reversed(rows)
            if name in (None, row.trigger_name)
        ]

    def _apply(self, change: Change) -> None:
        try:
            self.service.apply(change)
        except ChangeRefused as refused:
            raise Refused(str(refused)) from refused


@dataclass(slots=True)
class ApiWay:
    """As people send it: the application over the same store and the service's true clock."""

    service: Service
    tenant_id: str = TENANT
    token: str = field(init=False)
    client: TestClient | None = None
    stops: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.token = _all_powerful(self.service)
        self.service.tell = self._tell
        self.start()
        self._begin()

    def of(self, tenant_id: str) -> "ApiWay":
        """Of the process of now."""
        other = copy(self)
        other.tenant_id = tenant_id
        other._begin()
        return other

    def _begin(self) -> None:
        self._ask("PUT", f"/v1/tenants/{self.tenant_id}", {})
        self._ask("PUT", f"/v1/tenants/{self.tenant_id}/targets/{TARGET}", {"url": HOOK})

    def start(self) -> None:
        """Serve it, by a process that knows nothing of one before."""
        services = _services(self.service, self.stops)
        self.client = TestClient(create_app(services))
        self.client.headers["Authorization"] = f"Bearer {self.token}"
        self.stops.callback(self.client.close)

    def stop(self) -> None:
        """Nobody serves it any more: every request is refused with ConnectionRefusedError."""
        self.client = None
        self.stops.close()

    def put(self, name: str, wish: Wish) -> None:
        body = {
            "schedule": wish.expression,
            "zone": wish.zone,
            "target": TARGET,
            "missed": wish.missed,
            "overlap": wish.overlap,
            "starts_at": wish.starts_at,
        }
        if wish.horizon_s is not None:
            body["horizon"] = duration_text(wish.horizon_s)
        self.define(name, body)

    def define(self, name: str, body: dict[str, Any]) -> None:
        """Put a trigger as people write it, in place of the one that there is. Raises Refused."""
        path = self._path(name)
        found = self._send("GET", path)
        match = {"If-Match": found.headers["etag"]} if found.is_success else {}
        self._ask("PUT", path, body, headers=match)

    def pause(self, name: str) -> None:
        self._ask("POST", self._path(name) + ":pause", {"note": "as the scenario says"})

    def resume(self, name: str) -> None:
        self._ask("POST", self._path(name) + ":resume", {"policy": "drop"})

    def delete(self, name: str) -> None:
        self._ask("DELETE", self._path(name))

    def names(self) -> list[str]:
        found = self._ask("GET", "/v1/triggers", params={"tenant": self.tenant_id})
        return [each["name"] for each in found["items"]]

    def next_us(self, name: str) -> list[int]:
        told = self._ask("GET", self._path(name) + "/upcoming", params={"count": 3})
        return [from_text(each["scheduled_instant"]) for each in told["items"]]

    def fates(self, name: str | None = None) -> list[Fate]:
        asked: dict[str, Any] = {"tenant": self.tenant_id, "limit": PAGE_ROWS}
        if name is not None:
            asked["trigger"] = name
        found: list[Fate] = []
        while True:
            page = self._ask("GET", "/v1/fires", params=asked)
            found += (_fate(row) for row in page["items"])
            if page["cursor"] is None:
                return found[::-1]
            asked["cursor"] = page["cursor"]

    def _tell(self, report: Report) -> None:
        """The target's own request, with nothing but the token of its attempt."""
        token = {"Authorization": f"Bearer {report.token}"}
        body = {"outcome": report.outcome, "fire_key": str(report.key)}
        taken = self._ask("POST", "/v1/outcomes", body, headers=token)
        assert taken["fire_key"] == str(report.key)

    def _path(self, name: str) -> str:
        return f"/v1/tenants/{self.tenant_id}/triggers/{name}"

    def _ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        answer = self._send(method, path, json=body, **more)
        if 400 <= answer.status_code < 500:
            raise Refused(answer.json()["detail"])
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def _send(self, method: str, path: str, **more: Any) -> Any:
        if self.client is None:
            raise ConnectionRefusedError(f"{method} {path}: connection refused")
        return self.client.request(method, path, **more)


WAYS: Final[dict[str, Callable[[Service], Way]]] = {"registry": RegistryWay, "api": ApiWay}


def _fate(row: dict[str, Any]) -> Fate:
    cause = row["cause"]
    return Fate(
        row["trigger"],
        from_text(row["scheduled_instant"]),
        from_text(row["due_at"]),
        _optional_us(row["first_dispatched_at"]),
        Lane(row["lane"]),
        FireState(row["state"]),
        None if cause is None else Cause(cause),
        _optional_us(row["coalesced_into"]),
        _optional_us(row["through_instant"]),
        row["instant_count"],
    )


def _optional_us(text: str | None) -> int | None:
    return None if text is None else from_text(text)


@dataclass(slots=True)
class _TrueClock(TimeAuthorityPort):
    service: Service

    def now(self) -> ClockReading:
        return ClockReading(self.service.now_us, self.service.now_us, EPSILON_US)


def _services(service: Service, stops: ExitStack) -> Services:
    """`stops` closes what they opened, when the process ends before the service does."""
    store, clock = service.open_store(), _TrueClock(service)
    database = service.open_database()
    stops.callback(store.close)
    stops.callback(database.close)
    return Services(
        store=store,
        lanes=LocalLanes(database),
        events=LocalEvents(database),
        clock=clock,
        gate=ChangeGate(clock),
        authenticator=TokenAuthenticator(store.principals),
        payload_keys=TinkPayloadKeys(service.folder / "keys"),
        attempt_tokens=service.attempt_tokens,
        ownership=HttpOwnership(allow_loopback=True),
        settings=ApiSettings(allow_loopback=True, instance="scenario"),
    )


def _all_powerful(service: Service) -> str:
    """The first token comes from beside the API, as `up` makes one."""
    token, token_id, hashed = new_token()
    service.apply(
        CreateToken(principal_id="root", token_id=token_id, token_hash=hashed),
        *(AddGrant(grant=GrantRecord("root", kind)) for kind in GrantKind),
    )
    return token
