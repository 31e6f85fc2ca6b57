"""A repeated request is answered as before, whatever has become of its subject since."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ports.changes import AddGrant, CreateToken, RemoveGrant
from ports.principals import GrantKind, GrantRecord
from tests.support.api import HOOK, TENANT, Api, a_trigger_body, problem
from tests.support.scripted_ownership import ScriptedOwnership

TRIGGER = f"/v1/tenants/{TENANT}/triggers/job"
TARGET = f"/v1/tenants/{TENANT}/targets/front"
SHOP = {"url": "https://shop.example/in"}
BEYOND = "2d"  # what the default allows


@pytest.fixture
def ownership() -> ScriptedOwnership:
    return ScriptedOwnership(is_proven=True)


@pytest.fixture
def api(tmp_path: Path, ownership: ScriptedOwnership) -> Iterator[Api]:
    made = Api(tmp_path, ownership=ownership)
    made.principal("ann", GrantKind.AUTHOR, GrantKind.POLICY, tenant=TENANT)
    yield made
    made.close()


def sent(
    api: Api, method: str, path: str, body: Any = None, *, etag: str | None = None, by: str = "ann"
) -> Any:
    match = {} if etag is None else {"If-Match": etag}
    return api.call(method, path, body, by=by, headers={"Idempotency-Key": "once"} | match)


def etag_of(api: Api, path: str) -> str:
    return str(api.call("GET", path).headers["etag"])


def made_anew(api: Api, path: str, body: dict[str, Any]) -> None:
    """Another thing of the same name."""
    api.call("DELETE", path, headers={"If-Match": "*"})
    api.clock.advance(1_000_000)
    api.json("PUT", path, body)


def without(api: Api, kind: GrantKind) -> None:
    api.apply(RemoveGrant(grant=GrantRecord("ann", kind, TENANT)))
    assert api.services.authenticator is not None
    api.services.authenticator.forget()


def check_replayed(api: Api, again: Callable[[], Any], *, status: int = 200) -> None:
    answer = again()
    assert (answer.status_code, answer.headers.get("idempotent-replayed")) == (status, "true"), (
        answer.text
    )
    assert not api.audit("privilege_refused")
    without(api, GrantKind.AUTHOR)
    assert again().status_code in (403, 404)  # authorisation is of now, all the same


@pytest.mark.parametrize(
    ("method", "act", "body"),
    [
        pytest.param("PUT", "", a_trigger_body(schedule="0 7 * * *"), id="put"),
        pytest.param("POST", ":pause", {}, id="pause"),
        pytest.param("POST", ":run", {}, id="run"),
        pytest.param("DELETE", "", None, id="delete"),
    ],
)
def test_replay_on_a_trigger_that_was_made_anew_is_answered(
    api: Api, method: str, act: str, body: Any
) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    etag = etag_of(api, TRIGGER)

    def send() -> Any:
        return sent(api, method, TRIGGER + act, body, etag=etag)

    status = send().status_code
    assert status in (200, 202)
    made_anew(api, TRIGGER, a_trigger_body())
    check_replayed(api, send, status=status)


@pytest.mark.parametrize(
    ("method", "body"),
    [
        pytest.param("PUT", {"url": HOOK, "timeout_s": 7}, id="put"),
        pytest.param("DELETE", None, id="delete"),
    ],
)
def test_replay_on_a_target_that_was_made_anew_is_answered(
    api: Api, method: str, body: Any
) -> None:
    api.json("PUT", TARGET, {"url": HOOK})
    etag = etag_of(api, TARGET)

    def send() -> Any:
        return sent(api, method, TARGET, body, etag=etag)

    assert send().status_code == 200
    made_anew(api, TARGET, {"url": HOOK})
    check_replayed(api, send)


def test_replay_without_the_payload_that_came_since_is_answered(api: Api) -> None:
    def send() -> Any:
        return sent(api, "PUT", TRIGGER, a_trigger_body())

    assert send().status_code == 201
    body = a_trigger_body(payload={"a": 1})
    api.json("PUT", TRIGGER, body, headers={"If-Match": "*"})
    check_replayed(api, send, status=201)


def test_replay_of_a_horizon_whose_chooser_lost_policy_is_answered(api: Api) -> None:
    def send() -> Any:
        return sent(api, "PUT", TRIGGER, a_trigger_body(horizon=BEYOND))

    assert send().status_code == 201
    api.json("PUT", TRIGGER, a_trigger_body(horizon="1h"), headers={"If-Match": "*"})
    without(api, GrantKind.POLICY)
    check_replayed(api, send, status=201)


def test_replay_of_a_target_or_its_check_asks_no_host(
    api: Api, ownership: ScriptedOwnership
) -> None:
    assert sent(api, "PUT", TARGET, SHOP).status_code == 201
    assert api.call("POST", f"{TARGET}:verify", headers={"Idempotency-Key": "two"}).is_success
    asked = len(ownership.asked)
    again = api.call("POST", f"{TARGET}:verify", headers={"Idempotency-Key": "two"})
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    check_replayed(api, lambda: sent(api, "PUT", TARGET, SHOP), status=201)
    assert len(ownership.asked) == asked


def test_replay_of_an_apply_whose_host_is_lost_since_is_answered(
    api: Api, ownership: ScriptedOwnership
) -> None:
    tenant = {"targets": {"front": SHOP}, "triggers": {"job": a_trigger_body(target="front")}}

    def send() -> Any:
        return sent(api, "POST", "/v1/apply", {"manifests": [{"tenants": {TENANT: tenant}}]})

    assert send().status_code == 200
    ownership.is_proven = False
    api.json("DELETE", TRIGGER, headers={"If-Match": "*"})
    api.json("DELETE", TARGET, headers={"If-Match": "*"})
    check_replayed(api, send)


def test_replay_of_a_grant_or_a_token_is_answered_though_its_makers_are_weaker_now(
    api: Api,
) -> None:
    api.principal("chief", GrantKind.OPERATOR)
    api.principal("weak", GrantKind.OPERATOR, tenant=TENANT)
    once = {"Idempotency-Key": "once"}
    grant = "/v1/principals/ci/grants/operator"
    body = {"principal": "ci", "grants": [{"kind": "operator"}]}
    assert api.call("PUT", grant, headers=once).is_success
    assert api.call("POST", "/v1/tokens", body, headers={"Idempotency-Key": "two"}).is_success
    api.services.store.registry.apply(
        [
            CreateToken(principal_id="ci", token_id="k1", token_hash="h1"),
            AddGrant(grant=GrantRecord("ci", GrantKind.READ, TENANT)),
        ],
        now_us=api.now_us,
        actor="weak",
    )
    again = api.call("PUT", grant, headers=once)
    assert (again.status_code, again.headers.get("idempotent-replayed")) == (200, "true")
    answer = api.call("POST", "/v1/tokens", body, headers={"Idempotency-Key": "two"})
    assert problem(answer) == (409, ["Idempotency-Key"])
