"""GET a trigger."""

from ports.changes import PauseTrigger
from ports.principals import GrantKind
from scheduling.instants import from_text
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.ladder import ReadLadder
from tests.support.served import Served

PATH = f"/v1/tenants/{TENANT}/triggers/digest"


class TestGetTrigger(ReadLadder):
    path = "/v1/tenants/{tenant}/triggers/digest"
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing"

    def prepare(self, api: Api) -> None:
        api.json("PUT", PATH, a_trigger_body())


def test_get_says_everything_that_was_put(api: Api) -> None:
    put = api.call("PUT", PATH, a_trigger_body(payload={"to": "all"}, max_fires=3, smear_s=30))
    answer = api.call("GET", PATH)
    found = answer.json()
    assert answer.headers["etag"] == put.headers["etag"]
    more = {"newest_fire": None, "odd_nights": found["odd_nights"]}
    assert found == put.json()["trigger"] | more
    assert found["has_payload"] is True
    assert "payload" not in found["definition"]
    assert (found["definition"]["max_fires"], found["definition"]["smear_s"]) == (3, 30)
    assert found["created_at"] == "2026-03-02T00:00:00Z"


def test_get_by_id_is_the_same(api: Api) -> None:
    found = api.json("PUT", PATH, a_trigger_body())["trigger"]
    path = f"/v1/tenants/{TENANT}/triggers/{found['trigger_id']}"
    assert api.json("GET", path) == api.json("GET", PATH)


def test_get_names_the_odd_nights_of_the_next_12_months(api: Api) -> None:
    # Europe/Berlin 2026-03-29: 02:00 -> 03:00 local, at 01:00Z; 2026-10-25: 03:00 -> 02:00
    api.json("PUT", PATH, a_trigger_body(schedule="30 2 * * *"))
    gap, fold = api.json("GET", PATH)["odd_nights"]
    assert (gap["date"], gap["kind"], gap["times"]) == (
        "2026-03-29",
        "gap",
        [{"local": "02:30", "instants": ["2026-03-29T01:00:00Z"]}],
    )
    assert (fold["date"], fold["kind"], fold["changes_at"]) == (
        "2026-10-25",
        "fold",
        "2026-10-25T01:00:00Z",
    )
    assert fold["text"].startswith("Sun 2026-10-25: the clock repeats 02:00 to 03:00; ")


def test_get_and_list_tell_what_was_decided_last(served: Served) -> None:
    served.after_an_outage(missed="skip")
    shown = served.api.json("GET", served.path())["newest_fire"]
    assert (shown["scheduled_instant"], shown["state"]) == ("2026-03-02T00:41:00Z", "succeeded")
    assert shown["fire_key"] == served.api.json("GET", "/v1/fires")["items"][0]["fire_key"]
    (listed,) = served.api.json("GET", "/v1/triggers", tenant=TENANT)["items"]
    assert listed["newest_fire"] == shown


def test_get_of_another_tenants_trigger_id_is_404(api: Api) -> None:
    found = api.json("PUT", PATH, a_trigger_body())["trigger"]
    answer = api.call("GET", f"/v1/tenants/{OTHER}/triggers/{found['trigger_id']}")
    assert problem(answer) == (404, ["trigger"])


def test_get_slip_of_the_name_is_told(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call("GET", f"/v1/tenants/{TENANT}/triggers/digst")
    assert "did you mean digest" in answer.json()["detail"]


def test_get_of_an_unknown_tenant_does_not_tell_from_a_foreign_one(api: Api) -> None:
    api.principal("reader", GrantKind.READ, tenant=TENANT)
    foreign = api.call("GET", f"/v1/tenants/{OTHER}/triggers/x", by="reader")
    unknown = api.call("GET", "/v1/tenants/nobody/triggers/x", by="reader")
    assert foreign.json()["detail"].replace(OTHER, "nobody") == unknown.json()["detail"]


def test_get_paused_trigger_has_its_note_and_nothing_ahead(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    api.apply(PauseTrigger(tenant_id=TENANT, name="digest", note="over the holidays"))
    found = api.json("GET", PATH)
    assert (found["state"], found["pause_note"], found["next"]) == (
        "paused",
        "over the holidays",
        [],
    )


def test_get_counts_on_from_what_is_decided(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body(schedule="0 0 * * *", zone="UTC", max_fires=1))
    api.clock.advance(from_text("2026-03-02T12:00:00Z") - api.now_us)
    assert api.json("GET", PATH)["next"][0] == "2026-03-03T00:00:00Z"


def test_get_deleted_trigger_is_404(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    api.json("DELETE", PATH)
    assert problem(api.call("GET", PATH)) == (404, ["trigger"])
