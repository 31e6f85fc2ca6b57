"""Nobody gets further than the grants that were given: the ways that somebody would try."""

from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from control_api.app import create_app
from control_api.gate import ChangeGate
from ports.changes import AddGrant, RemoveGrant, SetHorizon
from ports.principals import GrantKind, GrantRecord
from scheduling.clock_gate import ClockReading
from scheduling.instants import SECOND_US
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.manual_clock import ManualClock

NAME: Final = "digest"
TRIGGER: Final = f"/v1/tenants/{TENANT}/triggers/{NAME}"
DAY: Final = 86_400
LONG: Final = "7d"
ANY: Final = {"If-Match": "*"}


def manifest(**changes: Any) -> dict[str, Any]:
    """An apply of the tenant as it is, with these keys of it changed."""
    members = {
        "targets": {"shop": {"url": "https://shop.example/hook"}},
        "triggers": {NAME: a_trigger_body()},
    }
    return {"manifests": [{"tenants": {TENANT: members | changes}}]}


def horizon_of(api: Api) -> str:
    return str(api.json("GET", TRIGGER)["definition"]["horizon"])


@pytest.fixture
def author(api: Api) -> str:
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    return "author"


@pytest.fixture
def half(api: Api) -> str:
    """An operator of one tenant."""
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    return "half"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", f"/v1/principals/half/grants/read?tenant={OTHER}", 404),
        ("PUT", f"/v1/principals/half/grants/operator?tenant={OTHER}", 404),
        ("PUT", "/v1/principals/half/grants/read", 403),
        ("PUT", "/v1/principals/half/grants/operator", 403),
        ("DELETE", "/v1/principals/root/grants/operator", 403),
        ("DELETE", f"/v1/principals/root/grants/operator?tenant={OTHER}", 404),
        ("PUT", f"/v1/allowed-hosts/evil.example?tenant={OTHER}", 404),
        ("PUT", "/v1/allowed-hosts/evil.example", 403),
        ("POST", f"/v1/tenants/{OTHER}/payload-key:delete", 404),
        ("GET", f"/v1/tenants/{TENANT}/targets/shop/secret", 403),
        ("GET", f"/v1/tenants/{OTHER}/targets/shop/secret", 404),
        ("GET", "/v1/tokens", 403),
        ("GET", "/v1/grants", 403),
        ("GET", "/v1/audit", 403),
        ("GET", f"/v1/audit?tenant={TENANT}", 403),
    ],
)
def test_operator_of_one_tenant_stays_in_it(
    api: Api, half: str, method: str, path: str, status: int
) -> None:
    assert problem(api.call(method, path, by=half))[0] == status
    assert [entry.actor for entry in api.audit("privilege_refused")] == [half]


@pytest.mark.parametrize("who", ["author", "half"])
def test_token_of_others_is_not_revoked(api: Api, author: str, half: str, who: str) -> None:
    token_id = api.json("GET", "/v1/tokens")["items"][0]["token_id"]
    assert problem(api.call("POST", f"/v1/tokens/{token_id}:revoke", by=who)) == (403, ["grant"])
    assert {each["state"] for each in api.json("GET", "/v1/tokens")["items"]} == {"good"}


@pytest.mark.parametrize("kind", ["read", "author", "operator"])
def test_author_makes_no_token_not_even_its_own(api: Api, author: str, kind: str) -> None:
    body = {"principal": "author", "grants": [{"kind": kind, "tenant": TENANT}]}
    assert problem(api.call("POST", "/v1/tokens", body, by=author)) == (403, ["grant"])


@pytest.mark.parametrize("tenant", [None, OTHER])
def test_token_of_a_stronger_principal_is_refused_without_a_word_of_where(
    api: Api, half: str, tenant: str | None
) -> None:
    api.principal("strong", GrantKind.READ, tenant=tenant)
    body = {"principal": "strong", "grants": [{"kind": "read", "tenant": TENANT}]}
    answer = api.call("POST", "/v1/tokens", body, by=half)
    assert problem(answer) == (403, ["grant"])
    assert OTHER not in answer.text


@pytest.mark.parametrize("tenant", [None, OTHER])
def test_token_kept_by_its_maker_gains_nothing_later(
    api: Api, half: str, tenant: str | None
) -> None:
    """Made while its principal could do little, it would act with all that comes later."""
    body = {"principal": "ci", "grants": [{"kind": "author", "tenant": TENANT}]}
    kept = api.json("POST", "/v1/tokens", body, by=half)
    params: dict[str, Any] = {} if tenant is None else {"tenant": tenant}
    path = "/v1/principals/ci/grants/operator"
    answer = api.call("PUT", path, **params)
    assert problem(answer) == (409, ["principal"])
    assert kept["token_id"] in answer.json()["detail"]
    more = {"principal": "ci", "grants": [{"kind": "operator", **params}]}
    assert problem(api.call("POST", "/v1/tokens", more)) == (409, ["principal"])
    # Its maker losing its grants does not make it lose the token.
    api.apply(RemoveGrant(grant=GrantRecord(half, GrantKind.OPERATOR, TENANT)))
    assert problem(api.call("PUT", path, **params))[0] == 409
    api.json("POST", f"/v1/tokens/{kept['token_id']}:revoke")
    api.json("PUT", path, **params)


@pytest.fixture
def chain(api: Api, half: str) -> str:
    """A token of `ci` that was made with one that an operator of one tenant had made of it."""
    grants = [{"kind": kind, "tenant": TENANT} for kind in ("author", "operator")]
    first = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": grants}, by=half)
    api.tokens["ci"] = first["token"]
    second = api.json("POST", "/v1/tokens", {"principal": "ci"}, by="ci")
    api.json("POST", f"/v1/tokens/{first['token_id']}:revoke")
    return str(second["token_id"])


@pytest.mark.parametrize("tenant", [None, OTHER])
def test_token_made_with_a_token_that_somebody_kept_gains_nothing_later(
    api: Api, chain: str, tenant: str | None
) -> None:
    """The operator revoked what it knew to be another's, and not what was made with it."""
    params: dict[str, Any] = {} if tenant is None else {"tenant": tenant}
    path = "/v1/principals/ci/grants/operator"
    answer = api.call("PUT", path, **params)
    assert problem(answer) == (409, ["principal"])
    detail = answer.json()["detail"]
    assert chain in detail
    assert "may be half's" in detail
    more = {"principal": "ci", "grants": [{"kind": "operator", **params}]}
    assert problem(api.call("POST", "/v1/tokens", more)) == (409, ["principal"])
    api.json("POST", f"/v1/tokens/{chain}:revoke")
    api.json("PUT", path, **params)


def test_token_made_by_way_of_a_third_principal_gains_nothing_later(api: Api, half: str) -> None:
    """`half` acts as `aid`, whose maker it was, and makes as `aid` a token of `ci`."""
    grants = [{"kind": "operator", "tenant": TENANT}]
    kept = api.json("POST", "/v1/tokens", {"principal": "aid", "grants": grants}, by=half)
    api.tokens["aid"] = kept["token"]
    api.json("POST", "/v1/tokens", {"principal": "ci", "grants": grants}, by="aid")
    api.json("POST", f"/v1/tokens/{kept['token_id']}:revoke")
    api.json("PUT", "/v1/principals/aid/grants/operator")
    answer = api.call("PUT", "/v1/principals/ci/grants/operator")
    assert problem(answer) == (409, ["principal"])
    assert "may be half's" in answer.json()["detail"]


def test_token_made_long_after_the_kept_one_ended_is_nobodys(api: Api, half: str) -> None:
    grants = [{"kind": "operator", "tenant": TENANT}]
    kept = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": grants}, by=half)
    api.json("POST", f"/v1/tokens/{kept['token_id']}:revoke")
    api.clock.advance(61 * SECOND_US)
    good = api.json("POST", "/v1/tokens", {"principal": "ci"})
    api.tokens["ci"] = good["token"]
    api.json("POST", "/v1/tokens", {"principal": "ci"}, by="ci")
    assert api.json("PUT", "/v1/principals/ci/grants/operator")["change"] == "created"


def test_token_that_anybody_made_gains_nothing_once_tokens_are_asked_for(api: Api) -> None:
    """Without an authenticator everybody on the machine could make it, and keep it."""
    services = replace(api.services, authenticator=None)
    with TestClient(create_app(services), base_url="http://127.0.0.1") as anybody:
        body = {"principal": "ci", "grants": [{"kind": "read", "tenant": TENANT}]}
        made = anybody.post("/v1/tokens", json=body).json()
        # As long as nobody is asked, nobody is weaker.
        body = {"principal": "ci", "grants": [{"kind": "author", "tenant": TENANT}]}
        assert anybody.post("/v1/tokens", json=body).status_code == 201
    path = "/v1/principals/ci/grants/operator"
    answer = api.call("PUT", path)
    assert problem(answer) == (409, ["principal"])
    assert "made by anonymous, who is no operator of the platform" in answer.json()["detail"]
    for token in api.json("GET", "/v1/tokens")["items"]:
        if token["created_by"] == "anonymous":
            api.json("POST", f"/v1/tokens/{token['token_id']}:revoke")
    assert made["token_id"]
    api.json("PUT", path)


def test_grant_taken_away_is_gone_for_a_repeated_request(api: Api, author: str) -> None:
    headers = {"Idempotency-Key": "once"}
    api.json("PUT", TRIGGER, a_trigger_body(), by=author, headers=headers)
    api.json("DELETE", f"/v1/principals/{author}/grants/author", tenant=TENANT)
    assert problem(api.call("PUT", TRIGGER, a_trigger_body(), by=author, headers=headers))[0] == 404


class TestHorizon:
    def test_author_creates_none_over_the_default(self, api: Api, author: str) -> None:
        answer = api.call("PUT", TRIGGER, a_trigger_body(horizon=LONG), by=author)
        assert problem(answer) == (403, ["grant"])

    def test_author_raises_none_once_it_was_lowered(self, api: Api, author: str) -> None:
        api.json("PUT", TRIGGER, a_trigger_body(horizon=LONG))
        for horizon in ("2d", "30m"):
            body = a_trigger_body(horizon=horizon)
            api.json("PUT", TRIGGER, body, by=author, headers=ANY)
        for horizon in ("31m", "1h", "2d", LONG):
            body = a_trigger_body(horizon=horizon)
            assert problem(api.call("PUT", TRIGGER, body, by=author, headers=ANY))[0] == 403
        assert horizon_of(api) == "30m"

    def test_author_gets_none_by_deleting_and_making_it_again(self, api: Api, author: str) -> None:
        api.json("PUT", TRIGGER, a_trigger_body(horizon=LONG))
        api.json("DELETE", TRIGGER, by=author)
        body = a_trigger_body(horizon=LONG)
        assert problem(api.call("PUT", TRIGGER, body, by=author))[0] == 403
        api.json("PUT", TRIGGER, a_trigger_body(), by=author)
        assert horizon_of(api) == "1h"

    @pytest.mark.parametrize(
        "body",
        [
            manifest(triggers={NAME: a_trigger_body(horizon=LONG)}),
            manifest(triggers={NAME: a_trigger_body(horizon=LONG)}) | {"dry_run": True},
            manifest(triggers={"other": a_trigger_body(horizon=LONG)}) | {"prune": True},
            manifest(defaults={"horizon": LONG}),
        ],
        ids=["put", "dry_run", "under_another_name", "defaults"],
    )
    def test_author_applies_none_over_the_default(
        self, api: Api, author: str, body: dict[str, Any]
    ) -> None:
        api.json("PUT", TRIGGER, a_trigger_body())
        answer = api.call("POST", "/v1/apply", body, by=author)
        assert problem(answer)[0] in (403, 422), answer.text
        assert horizon_of(api) == "1h"
        listed = api.json("GET", "/v1/triggers", tenant=TENANT)["items"]
        assert [each["name"] for each in listed] == [NAME]

    def test_author_does_not_set_it_where_it_is_set(self, api: Api, author: str) -> None:
        api.json("PUT", TRIGGER, a_trigger_body())
        for horizon in ("30m", LONG, None):
            answer = api.call("PUT", TRIGGER + "/horizon", {"horizon": horizon}, by=author)
            assert problem(answer) == (403, ["grant"])

    def test_policy_alone_sets_it_and_changes_nothing_else(self, api: Api) -> None:
        api.principal("policy", GrantKind.POLICY, tenant=TENANT)
        api.json("PUT", TRIGGER, a_trigger_body())
        api.json("PUT", TRIGGER + "/horizon", {"horizon": LONG}, by="policy")
        assert horizon_of(api) == LONG
        assert problem(api.call("DELETE", TRIGGER, by="policy")) == (403, ["grant"])

    def test_author_brings_none_back_that_was_lowered_meanwhile(
        self, api: Api, author: str
    ) -> None:
        """What was read as justified is not put once it is not any more, `*` or not."""
        api.json("PUT", TRIGGER, a_trigger_body(horizon=LONG))
        clock = Meanwhile(api)
        services = replace(api.services, clock=clock, gate=ChangeGate(clock))
        client = TestClient(create_app(services))
        answer = client.put(
            TRIGGER,
            json=a_trigger_body(schedule="@daily"),
            headers={"Authorization": f"Bearer {api.tokens[author]}", **ANY},
        )
        client.close()
        assert clock.is_done
        assert problem(answer)[0] == 412
        assert horizon_of(api) == "1h"


@dataclass
class Meanwhile(ManualClock):
    """Between a request's look at the trigger and its change somebody lowers the horizon.

    That is when it reads the clock for the first time after its caller was proven.
    """

    def __init__(self, api: Api) -> None:
        super().__init__(api.clock.wall_us, api.clock.boot_us, 0)
        self._api = api
        self._readings = 0
        self.is_done = False

    def now(self) -> ClockReading:
        self._readings += 1
        if self._readings > 2 and not self.is_done:
            self.is_done = True
            self._api.apply(SetHorizon(tenant_id=TENANT, name=NAME, catchup_horizon_s=None))
        return super().now()


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"quota_triggers": 9}, "policy"),
        ({"quota_dispatch_per_s": 900}, "policy"),
        ({"quota_inflight": 9}, "policy"),
        ({"catchup_rate_pct": 100}, "policy"),
        ({"smear_s": 60}, "operator"),
    ],
)
def test_author_applies_no_quota_and_no_smear_of_the_tenant(
    api: Api, author: str, changes: dict[str, int], kind: str
) -> None:
    before = api.json("GET", f"/v1/tenants/{TENANT}")
    answer = api.call("POST", "/v1/apply", manifest(**changes), by=author)
    assert problem(answer) == (403, ["grant"])
    assert f"the grant {kind}" in answer.json()["detail"]
    assert api.json("GET", f"/v1/tenants/{TENANT}") == before


def test_author_vouches_for_no_host(api: Api, author: str) -> None:
    body = manifest(targets={"evil": {"url": "https://evil.example/"}}, triggers={})
    answer = api.call("POST", "/v1/apply", body | {"allow_targets": True}, by=author)
    assert problem(answer) == (403, ["grant"])
    assert api.json("GET", "/v1/allowed-hosts")["items"] == []


def test_author_applies_nothing_to_another_tenant_or_a_new_one(api: Api, author: str) -> None:
    for tenant in (OTHER, "new"):
        answer = api.call(
            "POST", "/v1/apply", {"manifests": [{"tenants": {tenant: {}}}]}, by=author
        )
        assert problem(answer)[0] == 404
    assert {each["tenant"] for each in api.json("GET", "/v1/tenants")["items"]} == {TENANT, OTHER}


def test_preview_tells_nothing_of_a_tenant_that_is_none_of_ones_business(
    api: Api, author: str
) -> None:
    texts = []
    for tenant in (OTHER, "nosuch"):
        body = {"schedule": "0 9 * * *", "zone": "UTC", "tenant": tenant}
        answer = api.call("POST", "/v1/preview", body, by=author)
        assert problem(answer)[0] == 404
        texts.append(answer.text.replace(tenant, "T"))
    assert texts[0] == texts[1]


def test_grant_of_another_tenant_is_of_no_use_beside_ones_own(api: Api) -> None:
    """Kinds do not add up over tenants: author of one, reader of the other."""
    api.principal("both", GrantKind.AUTHOR, tenant=OTHER)
    api.apply(AddGrant(grant=GrantRecord("both", GrantKind.READ, TENANT)))
    assert problem(api.call("PUT", TRIGGER, a_trigger_body(), by="both")) == (403, ["grant"])
    assert problem(api.call("GET", "/v1/fires", by="both")) == (403, ["grant"])
