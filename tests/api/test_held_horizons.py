"""A horizon that policy lowered: no way of an author's to have it longer again.

Every way is tried over HTTP: PUT, apply, deletion and creation, another name and back.
"""

from dataclasses import replace
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from control_api.app import create_app
from control_api.gate import ChangeGate
from ports.changes import DeleteTrigger, PutTrigger, SetHorizon
from ports.principals import GrantKind
from scheduling.clock_gate import ClockReading
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.definitions import a_definition
from tests.support.manual_clock import ManualClock

NAME: Final = "digest"
TRIGGERS: Final = f"/v1/tenants/{TENANT}/triggers"
TRIGGER: Final = f"{TRIGGERS}/{NAME}"
ANY: Final = {"If-Match": "*"}
LOWERED: Final = ("1m", "chosen by root")
DEFAULT: Final = ("1h", "default")


def applying(*, name: str = NAME, prune: bool = False, **changes: Any) -> dict[str, Any]:
    """An apply of the tenant with this trigger alone."""
    tenant = {
        "targets": {"shop": {"url": "http://127.0.0.1:8089/hook"}},
        "triggers": {name: a_trigger_body(**changes)},
    }
    return {"manifests": [{"tenants": {TENANT: tenant}}], "prune": prune}


def horizon_of(api: Api, name: str = NAME) -> tuple[str, str]:
    """How long it is, and whose it is."""
    shown = api.json("GET", f"{TRIGGERS}/{name}")
    return shown["definition"]["horizon"], shown["horizon_source"]


def refused_acts(api: Api) -> list[tuple[str | None, ...]]:
    entries = api.audit("privilege_refused")
    return [(each.actor, each.tenant_id, each.subject, each.note) for each in entries]


@pytest.fixture
def author(api: Api) -> str:
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    return "author"


@pytest.fixture
def lowered(api: Api, author: str) -> str:
    """The author, once policy has lowered the horizon of its trigger to a minute."""
    api.json("PUT", TRIGGER, a_trigger_body(), by=author)
    api.json("PUT", TRIGGER + "/horizon", {"horizon": "60s"})
    return author


def refusal(name: str = NAME, beyond: str = "1m") -> str:
    return f"extend the horizon of {name} beyond {beyond}"


@pytest.mark.parametrize("horizon", ["61s", "30m", "1h", "7d"])
@pytest.mark.parametrize("way", ["put", "apply", "dry_run"])
def test_longer_one_is_refused_by_its_name_and_audited(
    api: Api, lowered: str, way: str, horizon: str
) -> None:
    if way == "put":
        body = a_trigger_body(horizon=horizon)
        answer = api.call("PUT", TRIGGER, body, by=lowered, headers=ANY)
    else:
        wanted = applying(horizon=horizon) | {"dry_run": way == "dry_run"}
        answer = api.call("POST", "/v1/apply", wanted, by=lowered)
    assert problem(answer) == (403, ["grant"])
    assert answer.json()["detail"] == (
        f"to {refusal()} needs the grant policy on tenant {TENANT}: ask an operator for it"
    )
    assert refused_acts(api) == [(lowered, TENANT, refusal(), f"needs policy on tenant {TENANT}")]
    assert horizon_of(api) == LOWERED


@pytest.mark.parametrize("way", ["put", "apply"])
@pytest.mark.parametrize(
    ("horizon", "left"),
    [(None, LOWERED), ("60s", LOWERED), ("30s", ("30s", "chosen by author"))],
    ids=["left_out", "the_same", "shorter"],
)
def test_edit_that_extends_nothing_takes_no_policy(
    api: Api, lowered: str, way: str, horizon: str | None, left: tuple[str, str]
) -> None:
    changes: dict[str, Any] = {"horizon": horizon, "zone": "Europe/Paris"}
    if way == "put":
        api.json("PUT", TRIGGER, a_trigger_body(**changes), by=lowered, headers=ANY)
    else:
        api.json("POST", "/v1/apply", applying(**changes), by=lowered)
    assert api.json("GET", TRIGGER)["definition"]["zone"] == "Europe/Paris"
    assert horizon_of(api) == left


def test_null_is_no_word_for_the_default(api: Api, lowered: str) -> None:
    body = a_trigger_body() | {"horizon": None, "zone": "Europe/Paris"}
    api.json("PUT", TRIGGER, body, by=lowered, headers=ANY)
    assert horizon_of(api) == LOWERED


@pytest.mark.parametrize("way", ["put", "apply"])
@pytest.mark.parametrize("generations", [1, 3])
def test_name_made_again_starts_with_what_it_was_deleted_with(
    api: Api, lowered: str, way: str, generations: int
) -> None:
    for _ in range(generations):
        api.json("DELETE", TRIGGER, by=lowered)
        body = a_trigger_body(horizon="1h")
        assert problem(api.call("PUT", TRIGGER, body, by=lowered)) == (403, ["grant"])
        answer = api.call("POST", "/v1/apply", applying(horizon="61s"), by=lowered)
        assert problem(answer) == (403, ["grant"])
        assert api.call("GET", TRIGGER).status_code == 404
        if way == "put":
            made = api.json("PUT", TRIGGER, a_trigger_body(), by=lowered)
            assert made["change"] == "created"
        else:
            api.json("POST", "/v1/apply", applying(), by=lowered)
        assert horizon_of(api) == LOWERED
    assert [act[2] for act in refused_acts(api)] == [refusal()] * 2 * generations


def test_name_pruned_and_applied_again_starts_with_what_it_was_deleted_with(
    api: Api, lowered: str
) -> None:
    api.json("POST", "/v1/apply", applying(name="other", prune=True), by=lowered)
    assert api.call("GET", TRIGGER).status_code == 404
    body = applying(prune=True)
    (made,) = (
        each
        for each in api.json("POST", "/v1/apply", body, by=lowered)["entries"]
        if (each["kind"], each["name"]) == ("trigger", NAME)
    )
    told = {each["field"]: each["after"] for each in made["fields"]}
    assert told["horizon"] == "1m"
    assert horizon_of(api) == LOWERED


def test_other_name_has_the_default_and_is_bound_by_it(api: Api, lowered: str) -> None:
    """Another name is another trigger; the old one is bound still, however long it was away."""
    other = f"{TRIGGERS}/other"
    api.json("DELETE", TRIGGER, by=lowered)
    answer = api.call("PUT", other, a_trigger_body(horizon="61m"), by=lowered)
    assert problem(answer) == (403, ["grant"])
    assert refused_acts(api)[-1][2] == refusal("other", "1h")
    api.json("PUT", other, a_trigger_body(), by=lowered)
    assert horizon_of(api, "other") == DEFAULT
    api.json("DELETE", other, by=lowered)
    api.json("PUT", TRIGGER, a_trigger_body(), by=lowered)
    assert horizon_of(api) == LOWERED


def test_longer_one_is_not_inherited(api: Api, author: str) -> None:
    api.json("PUT", TRIGGER, a_trigger_body(horizon="6h"))
    api.json("DELETE", TRIGGER, by=author)
    api.json("PUT", TRIGGER, a_trigger_body(), by=author)
    assert horizon_of(api) == DEFAULT


def test_policy_lifts_it_and_then_it_is_the_default_again(api: Api, lowered: str) -> None:
    api.principal("both", GrantKind.AUTHOR, GrantKind.POLICY, tenant=TENANT)
    api.json("DELETE", TRIGGER, by=lowered)
    api.json("PUT", TRIGGER, a_trigger_body(horizon="2h"), by="both")
    assert horizon_of(api) == ("2h", "chosen by both")
    api.json("PUT", TRIGGER + "/horizon", {"horizon": None}, by="both")
    api.json("DELETE", TRIGGER, by=lowered)
    api.json("PUT", TRIGGER, a_trigger_body(horizon="1h"), by=lowered)
    assert horizon_of(api) == DEFAULT


def test_policy_elsewhere_is_of_no_use(api: Api, lowered: str) -> None:
    api.principal("elsewhere", GrantKind.AUTHOR, tenant=TENANT)
    api.json("PUT", "/v1/principals/elsewhere/grants/policy", tenant="bolt")
    body = a_trigger_body(horizon="1h")
    assert problem(api.call("PUT", TRIGGER, body, by="elsewhere", headers=ANY))[0] == 403


class LoweredMeanwhile(ManualClock):
    """After a request's look at what holds, and before its change, policy lowers the horizon.

    That is when it reads the clock for the first time after its caller was proven.
    """

    def __init__(self, api: Api, *, is_deleted: bool) -> None:
        super().__init__(api.clock.wall_us, api.clock.boot_us, 0)
        self._api = api
        self._is_deleted = is_deleted
        self._readings = 0
        self.is_done = False

    def now(self) -> ClockReading:
        self._readings += 1
        if self._readings > 2 and not self.is_done:
            self.is_done = True
            self._lower()
        return super().now()

    def _lower(self) -> None:
        if self._is_deleted:
            definition = a_definition()
            self._api.apply(PutTrigger(tenant_id=TENANT, name=NAME, definition=definition))
        self._api.apply(SetHorizon(tenant_id=TENANT, name=NAME, catchup_horizon_s=60))
        if self._is_deleted:
            self._api.apply(DeleteTrigger(tenant_id=TENANT, name=NAME))


@pytest.mark.parametrize("horizon", [None, "1h"], ids=["left_out", "stated"])
@pytest.mark.parametrize("is_new", [False, True], ids=["replace", "create"])
def test_put_on_what_was_lowered_meanwhile_is_412_and_undoes_nothing(
    api: Api, author: str, horizon: str | None, is_new: bool
) -> None:
    if not is_new:
        api.json("PUT", TRIGGER, a_trigger_body())
    clock = LoweredMeanwhile(api, is_deleted=is_new)
    client = TestClient(create_app(replace(api.services, clock=clock, gate=ChangeGate(clock))))
    answer = client.put(
        TRIGGER,
        json=a_trigger_body(schedule="@daily", horizon=horizon),
        headers={"Authorization": f"Bearer {api.tokens[author]}", **({} if is_new else ANY)},
    )
    client.close()
    assert clock.is_done
    assert problem(answer) == (412, ["horizon"])
    assert "was set to 1m meanwhile" in answer.json()["detail"]
    if is_new:
        assert api.call("GET", TRIGGER).status_code == 404
        api.json("PUT", TRIGGER, a_trigger_body(), by=author)
    assert horizon_of(api)[0] == "1m"
