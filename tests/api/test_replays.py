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


def check_replayed(
    api: Api,
    again: Callable[[], Any],
    *,
    status: int = 200,
    kind: GrantKind = GrantKind.AUTHOR,
) -> None:
    answer = again()
    assert (answer.status_code, answer.headers.get("idempotent-replayed")) == (status, "true"), (
        answer.text
    )
    assert not api.audit("privilege_refused")
    without(api, kind)
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


CALENDAR = f"/v1/tenants/{TENANT}/calendars/works"


def _trigger(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())


def _paused(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    api.json("POST", TRIGGER + ":pause")


def _target(api: Api) -> None:
    api.json("PUT", TARGET, {"url": HOOK})


def _proven(api: Api) -> None:
    api.json("PUT", TARGET, SHOP)


def _calendar(api: Api) -> None:
    api.json("PUT", CALENDAR, {"dates": ["2026-12-25"]})


def _nothing(api: Api) -> None:
    return


@pytest.mark.parametrize(
    ("prepare", "method", "path", "body", "status"),
    [
        pytest.param(_nothing, "PUT", TRIGGER, a_trigger_body(), 201, id="create_trigger"),
        pytest.param(_trigger, "PUT", TRIGGER, a_trigger_body(zone="UTC"), 200, id="put_trigger"),
        pytest.param(_trigger, "PUT", TRIGGER + "/horizon", {"horizon": "2d"}, 200, id="horizon"),
        pytest.param(_trigger, "POST", TRIGGER + ":pause", {}, 200, id="pause"),
        pytest.param(_paused, "POST", TRIGGER + ":resume", {}, 200, id="resume"),
        pytest.param(_trigger, "POST", TRIGGER + ":run", {}, 202, id="run"),
        pytest.param(_trigger, "DELETE", TRIGGER, None, 200, id="delete_trigger"),
        pytest.param(_nothing, "PUT", TARGET, {"url": HOOK}, 201, id="create_target"),
        pytest.param(_target, "PUT", TARGET, {"url": HOOK, "timeout_s": 7}, 200, id="put_target"),
        pytest.param(_proven, "POST", TARGET + ":verify", None, 200, id="verify_target"),
        pytest.param(_target, "DELETE", TARGET, None, 200, id="delete_target"),
        pytest.param(
            _nothing, "PUT", CALENDAR, {"dates": ["2026-12-26"]}, 201, id="create_calendar"
        ),
        pytest.param(_calendar, "PUT", CALENDAR, {"dates": ["2026-12-26"]}, 200, id="put_calendar"),
        pytest.param(_calendar, "DELETE", CALENDAR, None, 200, id="delete_calendar"),
    ],
)
def test_replay_on_what_is_deleted_since_is_answered(
    api: Api,
    prepare: Callable[[Api], None],
    method: str,
    path: str,
    body: Any,
    status: int,
) -> None:
    prepare(api)
    subject = path.partition(":")[0].removesuffix("/horizon")
    is_act = ":" in path or method == "DELETE" or path.endswith("/horizon")
    match = "*" if method == "PUT" and status == 200 and not is_act else None

    def send() -> Any:
        return sent(api, method, path, body, etag=match)

    first = send()
    assert first.status_code == status, first.text
    api.clock.advance(1_000_000)
    api.call("DELETE", subject)
    assert api.call("GET", subject).status_code == 404
    again = send()
    assert again.status_code == status, again.text
    wanted = dict(first.json())
    if wanted.keys() >= {"trigger", "revision"}:
        wanted["trigger"] = None  # as it is now, which is not at all
    assert again.json() == wanted
    for header in ("etag", "location"):
        assert again.headers.get(header) == first.headers.get(header)
    kind = GrantKind.POLICY if path.endswith("/horizon") else GrantKind.AUTHOR
    check_replayed(api, send, status=status, kind=kind)


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        pytest.param(TARGET, {"url": HOOK}, {"url": HOOK, "timeout_s": 7}, id="target"),
        pytest.param(CALENDAR, {"dates": []}, {"dates": ["2026-12-25"]}, id="calendar"),
        pytest.param("/v1/tenants/new", {"smear_s": 1}, {"smear_s": 2}, id="tenant"),
        pytest.param(
            f"/v1/tenants/{TENANT}/quota", {"quota_inflight": 5}, {"quota_inflight": 6}, id="quota"
        ),
    ],
)
def test_replay_tells_what_its_request_left_though_it_was_edited_since(
    api: Api, path: str, body: Any, other: Any
) -> None:
    first = sent(api, "PUT", path, body, by="root")
    assert first.is_success, first.text
    assert api.call("PUT", path, other, headers={"If-Match": "*"}).status_code == 200
    again = sent(api, "PUT", path, body, by="root")
    assert (again.status_code, again.headers["idempotent-replayed"]) == (first.status_code, "true")
    assert (again.json(), again.headers["etag"]) == (first.json(), first.headers["etag"])


def test_replay_of_an_apply_whose_tenants_things_are_all_deleted_is_answered(api: Api) -> None:
    members = {
        "targets": {"front": SHOP},
        "calendars": {"works": {"dates": ["2026-12-25"]}},
        "triggers": {"job": a_trigger_body(target="front", calendars=["works"])},
    }
    body = {"manifests": [{"tenants": {TENANT: members}}]}
    first = sent(api, "POST", "/v1/apply", body)
    assert first.status_code == 200, first.text
    for path in (TRIGGER, TARGET, CALENDAR):
        api.json("DELETE", path)
    check_replayed(api, lambda: sent(api, "POST", "/v1/apply", body))


def test_replay_of_a_fire_cancelled_is_answered_though_its_trigger_is_deleted(api: Api) -> None:
    api.json("PUT", TRIGGER, a_trigger_body())
    key = api.json("POST", TRIGGER + ":run")["fire_key"]

    def send() -> Any:
        return sent(api, "POST", f"/v1/fires/{key}:cancel", {})

    first = send()
    api.json("DELETE", TRIGGER)
    assert send().json() == first.json()
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
