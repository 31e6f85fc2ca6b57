"""The API on a real store: served in this process, called over ASGI as any principal."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from starlette.testclient import TestClient

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.authenticator_tokens import TokenAuthenticator
from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.ownership_http import HttpOwnership
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from control_api.app import create_app
from control_api.gate import ChangeGate
from control_api.operations.principals import new_token
from control_api.parts import PARTS, Part
from control_api.services import ApiSettings, Services
from ports.changes import AddGrant, Change, ChangeResult, CreateToken
from ports.outbox import OutboxEvent
from ports.ownership import OwnershipPort
from ports.principals import GrantKind, GrantRecord
from ports.records import AuditRecord
from scheduling.instants import SECOND_US, from_text
from tests.support.definitions import TENANT, a_target, a_tenant
from tests.support.manual_clock import ManualClock

OTHER: Final = "bolt"
START: Final = "2026-03-02T00:00:00Z"
ALL: Final = tuple(GrantKind)
HOOK: Final = "http://127.0.0.1:8089/hook"


@dataclass(slots=True)
class Api:
    """One installation with the tenant of the builders and its target; the clock stands still."""

    folder: Path
    parts: tuple[Part, ...] = PARTS
    ownership: OwnershipPort = field(default_factory=lambda: HttpOwnership(allow_loopback=True))
    services: Services = field(init=False)
    clock: ManualClock = field(init=False)
    client: TestClient = field(init=False)
    tokens: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        now_us = from_text(START)
        self.clock = ManualClock(now_us, now_us, 0)
        database = SqliteDatabase(self.folder / "store.db", synchronous="OFF")
        keys = TinkPayloadKeys(self.folder / "keys")
        store = open_sqlite_store(
            self.folder / "store.db", payload_keys=keys, now_us=now_us, synchronous="OFF"
        )
        self.services = Services(
            store=store,
            lanes=LocalLanes(database),
            events=LocalEvents(database),
            clock=self.clock,
            gate=ChangeGate(self.clock),
            authenticator=TokenAuthenticator(store.principals),
            payload_keys=keys,
            attempt_tokens=LocalAttemptTokens(self.folder / "keys"),
            ownership=self.ownership,
            settings=ApiSettings(allow_loopback=True, instance="test"),
        )
        self.apply(a_tenant(), a_target(), a_tenant(OTHER))
        self.client = TestClient(
            create_app(self.services, self.parts), raise_server_exceptions=False
        )
        self.client.__enter__()  # one event loop for all requests: starting one takes its time
        self.principal("root", *ALL)

    @property
    def now_us(self) -> int:
        return self.clock.wall_us

    def apply(self, *changes: Change) -> list[ChangeResult]:
        """Changes behind the API's back."""
        return self.services.store.registry.apply(changes, now_us=self.now_us, actor="builder")

    def principal(self, name: str, *kinds: GrantKind, tenant: str | None = None) -> str:
        """A principal with these grants, on the platform or one tenant; its token, made by itself.

        Nobody else may have kept it, so that it may be given more.
        """
        token, token_id, hashed = new_token()
        create = CreateToken(principal_id=name, token_id=token_id, token_hash=hashed)
        self.services.store.registry.apply([create], now_us=self.now_us, actor=name)
        if kinds:
            self.apply(*(AddGrant(grant=GrantRecord(name, kind, tenant)) for kind in kinds))
        self.tokens[name] = token
        return token

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        by: str | None = "root",
        headers: dict[str, Any] | None = None,
        **params: Any,
    ) -> Any:
        """One request by a principal, or by nobody; the answer as it came."""
        sent = dict(headers or {})
        if by is not None:
            sent["Authorization"] = f"Bearer {self.tokens[by]}"
        return self.client.request(method, path, json=body, headers=sent, params=params or None)

    def json(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The body of an answer that must be a success."""
        answer = self.call(method, path, body, **more)
        assert answer.is_success, f"{answer.status_code}: {answer.text}"
        return answer.json()

    def audit(self, *actions: str) -> list[AuditRecord]:
        """The entries of these actions, or all, oldest first."""
        return self.services.store.audit.entries(actions=actions, limit=1_000)[::-1]

    def outbox(self) -> list[OutboxEvent]:
        return self.services.store.outbox.pending(limit=1_000)

    def decide(self) -> None:
        """Let a decider commit what is due now, in every partition."""
        now_us, store = self.now_us, self.services.store
        held = store.leases.heartbeat("decider", now_us=now_us, ttl_us=SECOND_US, epsilon_us=0).held
        for partition_id, epoch in held.items():
            store.due_index.commit_due(partition_id, epoch, now_us=now_us, row_limit=1_000)

    def files(self) -> Iterable[Path]:
        """Every file of the installation."""
        return (path for path in self.folder.rglob("*") if path.is_file())

    def close(self) -> None:
        self.client.__exit__(None, None, None)
        self.services.store.close()


def a_trigger_body(**changes: Any) -> dict[str, Any]:
    """What a developer sends for a trigger; None leaves a key out."""
    body = {
        "schedule": "0 9 * * MON-FRI",
        "zone": "Europe/Berlin",
        "target": a_target().target.target_id,
    } | changes
    return {key: value for key, value in body.items() if value is not None}


def problem(answer: Any) -> tuple[int, list[str]]:
    """A refusal's status and the fields it names; its document must be one of RFC 9457."""
    document = answer.json()
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert document["status"] == answer.status_code
    assert document["type"].startswith("urn:punctual:problem:"), document
    assert document["title"], document
    assert document["detail"], document
    return answer.status_code, [error["field"] for error in document.get("errors", ())]


__all__ = ["ALL", "HOOK", "OTHER", "START", "TENANT", "Api", "a_trigger_body", "problem"]
