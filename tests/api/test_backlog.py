"""GET backlog: what waits on each lane, of a tenant or of all."""

from typing import Any, ClassVar

from ports.changes import RunTrigger
from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.definitions import a_target, a_trigger
from tests.support.ladder import ReadLadder
from tests.support.served import Served


class TestBacklog(ReadLadder):
    path = "/v1/backlog"
    params: ClassVar[dict[str, Any]] = {"tenant": TENANT}


class TestBacklogOfThePlatform(ReadLadder):
    path = "/v1/backlog"
    is_platform_wide = True
    is_of_the_caller = True


def waiting(api: Api, **params: Any) -> dict[str, int]:
    answer = api.json("GET", "/v1/backlog", **params)
    return {each["lane"]: each["waiting"] for each in answer["lanes"]}


def a_run(api: Api, tenant: str) -> None:
    api.apply(
        a_target(tenant),
        a_trigger("job", "0 6 * * *", tenant_id=tenant),
        RunTrigger(tenant_id=tenant, name="job"),
    )


def test_backlog_of_nothing_has_gone_already(api: Api) -> None:
    answer = api.json("GET", "/v1/backlog", tenant=TENANT)
    assert answer["tenant"] == TENANT
    assert answer["lanes"][0] == {
        "lane": "on_time",
        "waiting": 0,
        "ends_at": "2026-03-02T00:00:00Z",
        "assumption": "nothing waits",
    }


def test_backlog_of_catch_up_tells_when_it_should_have_gone(served: Served) -> None:
    served.put(missed="fire_all", horizon="1d")
    served.plant("UPDATE tenant SET quota_dispatch_per_s = 1, catchup_rate_pct = 10")
    served.start().to("00:01:30")
    served.stop()
    served.to("01:01:30")
    served.start()
    lanes = {
        each["lane"]: each for each in served.api.json("GET", "/v1/backlog", tenant=TENANT)["lanes"]
    }
    # 59 were missed; one of them goes each eleven seconds, the first of them at once.
    assert (lanes["on_time"]["waiting"], lanes["catch_up"]["waiting"]) == (0, 58)
    assert lanes["catch_up"]["ends_at"] == "2026-03-02T01:12:08Z"
    assert lanes["catch_up"]["assumption"].startswith(
        "catch-up at 10 % of 1 fires a second, 1 in 11 s at most"
    )


def test_backlog_of_one_tenant_counts_no_other(api: Api) -> None:
    a_run(api, TENANT)
    a_run(api, OTHER)
    assert waiting(api, tenant=TENANT)["on_time"] == 1
    assert waiting(api)["on_time"] == 2


def test_backlog_of_an_unknown_tenant_is_404(api: Api) -> None:
    assert problem(api.call("GET", "/v1/backlog", tenant="acne")) == (404, ["tenant"])


def test_backlog_that_names_no_tenant_is_of_the_readers_only_one(api: Api) -> None:
    a_run(api, TENANT)
    a_run(api, OTHER)
    api.principal("reader", GrantKind.READ, tenant=TENANT)
    mine = api.json("GET", "/v1/backlog", by="reader")
    assert mine == api.json("GET", "/v1/backlog", by="reader", tenant=TENANT)
    assert mine["tenant"] == TENANT


def test_backlog_of_a_trigger_counts_its_own(api: Api) -> None:
    a_run(api, TENANT)
    api.apply(a_trigger("other", "0 6 * * *"), RunTrigger(tenant_id=TENANT, name="other"))
    assert waiting(api, tenant=TENANT, trigger="other")["on_time"] == 1
    assert waiting(api, tenant=TENANT)["on_time"] == 2
    assert problem(api.call("GET", "/v1/backlog", trigger="other")) == (422, ["trigger"])
