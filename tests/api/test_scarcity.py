"""Out of room or out of files: 503 with the remedy, never 500, and no word of a change that is
wrong: what was confirmed is there, what was refused is not."""

import errno
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.store_sqlite import open_sqlite_store
from control_api.app import create_app
from control_api.health import Health
from control_api.problems import of_lack
from ports.changes import PauseTrigger
from ports.errors import StoreUnavailable
from ports.store import Store
from scheduling.instants import SECOND_US
from scheduling.vocabulary import TriggerState
from tests.support.api import HOOK, OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.scarcity import fill, forget_zones, make_room, no_file_left

ZONE: Final = "Antarctica/Troll"  # of no other test, so that nothing of it is kept
TRIGGERS: Final = f"/v1/tenants/{TENANT}/triggers"
PREVIEW: Final = {"schedule": "0 9 * * *", "zone": ZONE}


def told(answer: Any) -> tuple[int, str, str]:
    assert problem(answer)[0] == answer.status_code
    document = answer.json()
    return answer.status_code, document["type"].rpartition(":")[2], document["detail"]


def test_full_store_refuses_changes_with_the_remedy_and_loses_none(api: Api) -> None:
    store = api.services.store
    fill(store, pages=40)

    def put(number: int) -> tuple[str, Any]:
        name = f"n{number}"
        body = a_trigger_body(payload={"text": "x" * 2_000})
        return name, api.call("PUT", f"{TRIGGERS}/{name}", body)

    with ThreadPoolExecutor(16) as pool:
        answers = dict(pool.map(put, range(200)))
    statuses = {name: answer.status_code for name, answer in answers.items()}
    assert set(statuses.values()) == {201, 503}
    refused = next(answer for answer in answers.values() if answer.status_code == 503)
    assert told(refused) == (
        503,
        "store_full",
        "the disk of the store is full; nothing was changed: its operator has to make room; then "
        "send the request again",
    )
    assert refused.headers["retry-after"] == "10"
    there = {each.name for each in store.registry.triggers(TENANT, limit=1_000)}
    assert there == {name for name, status in statuses.items() if status == 201}
    make_room(store)
    assert put(0)[1].status_code in (200, 201)
    again = {name: put(int(name[1:]))[1].status_code for name in statuses if name != "n0"}
    assert all(again[n] == (200 if statuses[n] == 201 else 201) for n in again)


def test_full_store_takes_no_part_of_a_change(api: Api) -> None:
    fill(api.services.store, pages=30)
    body = a_trigger_body(payload={"text": "x" * 60_000})
    triggers = {f"n{number}": body for number in range(50)}
    section = {"targets": {body["target"]: {"url": HOOK}}, "triggers": triggers}
    manifest = {"tenants": {TENANT: section}}
    before = api.audit()
    answer = api.call("POST", "/v1/apply", {"manifests": [manifest]})
    assert told(answer)[:2] == (503, "store_full")
    make_room(api.services.store)
    assert api.services.store.registry.triggers(TENANT, limit=9) == []
    assert api.audit() == before


@pytest.fixture
def probed(api: Api) -> Iterator[TestClient]:
    health = Health(api.services)
    headers = {"Authorization": f"Bearer {api.tokens['root']}"}
    with TestClient(
        create_app(api.services, health=health), raise_server_exceptions=False, headers=headers
    ) as client:
        yield client
    health.close()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/preview", PREVIEW),
        ("PUT", f"{TRIGGERS}/new", a_trigger_body(zone=ZONE)),
        ("PUT", f"/v1/tenants/{OTHER}/targets/first", {"url": "http://127.0.0.1:8089/hook"}),
    ],
    ids=["preview", "trigger", "key_of_a_tenant"],
)
def test_request_without_a_file_left_is_refused_and_changes_nothing(
    api: Api, probed: TestClient, method: str, path: str, body: Any
) -> None:
    assert probed.get("/v1/tenants").status_code == 200  # what is opened once is open
    before = api.audit()
    forget_zones()
    with no_file_left():
        answer = probed.request(method, path, json=body)
    status, code, detail = told(answer)
    assert (status, code in ("no_resources", "store_unavailable")) == (503, True)
    assert "nothing was changed" in detail
    assert api.audit() == before
    assert probed.request(method, path, json=body).status_code in (200, 201)


def test_preview_without_a_file_left_says_what_to_raise(probed: TestClient) -> None:
    assert probed.get("/v1/tenants").status_code == 200
    forget_zones()
    with no_file_left():
        answer = probed.post("/v1/preview", json=PREVIEW)
    assert told(answer) == (
        503,
        "no_resources",
        "the service has no file left; nothing was changed: its operator has to raise its limit "
        "of open files (LimitNOFILE=, ulimit -n); then send the request again",
    )


def test_service_without_a_file_left_is_not_ready_and_says_why(
    api: Api, probed: TestClient
) -> None:
    api.services.store.leases.heartbeat(
        "decider", now_us=api.now_us, ttl_us=60 * SECOND_US, epsilon_us=0
    )
    assert probed.get("/readyz").status_code == 200
    api.clock.advance(SECOND_US)
    with no_file_left():
        answer = probed.get("/readyz")
    assert answer.status_code == 503
    (failed,) = (each for each in answer.json()["checks"] if not each["ok"])
    assert failed["name"] == "files"
    assert "raise the limit of open files" in failed["detail"]
    api.clock.advance(SECOND_US)
    assert probed.get("/readyz").status_code == 200


@pytest.mark.parametrize("key", [None, "one-key"])
def test_change_whose_answer_fails_is_told_as_made(
    api: Api, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    registry: Any = api.services.store.registry
    find = registry.find_triggers

    def away(*found: Any, **wanted: Any) -> Any:
        if registry.triggers(TENANT, limit=1):
            raise StoreUnavailable("another process holds the store")
        return find(*found, **wanted)

    headers = {} if key is None else {"Idempotency-Key": key}
    with monkeypatch.context() as failing:
        failing.setattr(registry, "find_triggers", away)
        answer = api.call("PUT", f"{TRIGGERS}/new", a_trigger_body(), headers=headers)
    assert told(answer) == (
        503,
        "store_unavailable",
        "the store cannot serve just now; the change was made all the same: read what it brought, "
        "or send it again under its Idempotency-Key",
    )
    again = api.call("PUT", f"{TRIGGERS}/new", a_trigger_body(), headers=headers)
    assert again.status_code == (200 if key is None else 201)
    assert again.headers.get("idempotent-replayed") == (None if key is None else "true")


@pytest.mark.parametrize("is_settled", [False, True], ids=["decided", "settled"])
def test_trigger_whose_zone_cannot_be_read_for_want_of_a_file_is_not_quarantined(
    tmp_path: Path, is_settled: bool
) -> None:
    api = Api(tmp_path)
    api.json("PUT", f"{TRIGGERS}/new", a_trigger_body(zone=ZONE, schedule="* * * * *"))
    api.close()
    store = open_sqlite_store(
        tmp_path / "store.db", payload_keys=TinkPayloadKeys(tmp_path / "keys"), synchronous="OFF"
    )
    now_us = api.now_us + 200 * SECOND_US
    held = store.leases.heartbeat("decider", now_us=now_us, ttl_us=SECOND_US, epsilon_us=0).held

    def act() -> None:
        if is_settled:
            _pause(store, now_us)
            return
        for partition_id, epoch in held.items():
            store.due_index.commit_due(partition_id, epoch, now_us=now_us, row_limit=100)

    forget_zones()
    store.history.fires(limit=1)
    with no_file_left(), pytest.raises(StoreUnavailable, match="the zone data cannot be read"):
        act()
    (trigger,) = store.registry.triggers(TENANT, limit=9)
    assert trigger.state is TriggerState.LIVE
    act()
    (trigger,) = store.registry.triggers(TENANT, limit=9)
    assert trigger.state is (TriggerState.PAUSED if is_settled else TriggerState.LIVE)
    store.close()


def _pause(store: Store, now_us: int) -> None:
    change = PauseTrigger(tenant_id=TENANT, name="new", note=None)
    store.registry.apply([change], now_us=now_us, actor="test")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENFILE, "x"), "no_resources"),
        (OSError(errno.ENOSPC, "x"), "no_resources"),
        (MemoryError(), "no_resources"),
        (FileNotFoundError(errno.ENOENT, "x"), None),
        (OSError("of no number"), None),
    ],
)
def test_lack_is_told_apart_from_a_fault(error: OSError | MemoryError, code: str | None) -> None:
    found = of_lack(error)
    assert (found and found.code) == code
