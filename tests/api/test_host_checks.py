"""Slow hosts hold up no more than a few of the API's threads."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from control_api.app import create_app
from control_api.health import Health
from ports.ownership import OwnershipAnswer, OwnershipPort
from scheduling.limits import HOST_CHECKS_MAX, HOST_CHECKS_OF_TENANT_MAX
from tests.support.api import HOOK, OTHER, TENANT, Api, problem
from tests.support.scripted_ownership import ScriptedOwnership

FOREIGN = {"url": "https://hooks.foreign.example/in"}
PATH = f"/v1/tenants/{TENANT}/targets/foreign"
MANIFEST = {"manifests": [{"tenants": {TENANT: {"targets": {"foreign": FOREIGN}}}}]}
WAIT_S = 10


@dataclass
class SlowOwnership(OwnershipPort):
    """Every host answers when the test says so."""

    asked: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        self.asked.set()
        self.may_answer.wait(WAIT_S)
        return OwnershipAnswer(False, f"{endpoint} does not serve {expected}")


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path, ownership=ScriptedOwnership())
    yield made
    made.close()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("PUT", PATH, FOREIGN, id="put"),
        pytest.param("POST", f"{PATH}:verify", None, id="verify"),
        pytest.param("POST", "/v1/apply", MANIFEST, id="apply"),
    ],
)
def test_check_beyond_the_turns_of_a_tenant_is_429_until_one_is_free(
    api: Api, method: str, path: str, body: dict[str, object] | None
) -> None:
    if body is None:
        api.json("PUT", PATH, FOREIGN)
    with ExitStack() as turns:
        for _ in range(HOST_CHECKS_OF_TENANT_MAX):
            turns.enter_context(api.services.host_checks.turn(TENANT))
        answer = api.call(method, path, body)
        assert problem(answer) == (429, [])
        assert answer.headers["retry-after"] == "5"
        assert "try again" in answer.json()["detail"]
        elsewhere = api.call("PUT", f"/v1/tenants/{OTHER}/targets/foreign", FOREIGN)
        assert elsewhere.status_code == 201
    assert api.call(method, path, body).is_success


def test_check_beyond_all_turns_is_429_and_what_asks_nobody_goes_on(api: Api) -> None:
    with ExitStack() as turns:
        for number in range(HOST_CHECKS_MAX):
            turns.enter_context(api.services.host_checks.turn(f"tenant-{number}"))
        assert problem(api.call("PUT", PATH, FOREIGN)) == (429, [])
        assert api.call("PUT", f"/v1/tenants/{TENANT}/targets/local", {"url": HOOK}).is_success


def test_probes_answer_while_every_thread_of_the_api_waits_for_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("control_api.app.API_THREADS", 1)
    slow = SlowOwnership()
    api = Api(tmp_path, ownership=slow)
    health = Health(api.services)
    with TestClient(create_app(api.services, health=health)) as client:
        sent = {"Authorization": f"Bearer {api.tokens['root']}"}
        waiting = threading.Thread(target=lambda: client.put(PATH, json=FOREIGN, headers=sent))
        waiting.start()
        assert slow.asked.wait(WAIT_S)
        assert client.get("/readyz").status_code in (200, 503)
        assert client.get("/metrics").status_code == 200
        assert waiting.is_alive(), "the probes waited for the host"
        slow.may_answer.set()
        waiting.join()
    health.close()
    api.close()
