"""DELETE a trigger."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from scheduling.instants import from_text
from scheduling.keys import trigger_id_of
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/triggers/digest"


class TestDeleteTrigger(WriteLadder):
    method = "DELETE"
    path = "/v1/tenants/{tenant}/triggers/digest"
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/triggers/nothing"
    other_params: ClassVar[dict[str, Any]] = {"note": "on second thoughts"}
    action = "trigger_deleted"
    revised = "/v1/tenants/{tenant}/triggers/digest"
    event = "TriggerChanged"

    def prepare(self, api: Api) -> None:
        api.json("PUT", PATH, a_trigger_body())

    def revision(self, api: Api) -> int:
        """Of a deleted one, whose name finds nothing any more."""
        trigger_id = trigger_id_of(TENANT, "digest", generation=0)
        (trigger,) = api.services.store.registry.find_triggers(
            trigger_id, tenant_id=TENANT, deleted=True
        )
        return trigger.revision


def test_delete_ends_it_and_keeps_its_rows(api: Api) -> None:
    put = api.call("PUT", PATH, a_trigger_body(schedule="* * * * *"))
    api.clock.advance(from_text("2026-03-02T00:01:30Z") - api.now_us)
    answer = api.call(
        "DELETE", PATH, headers={"If-Match": put.headers["etag"]}, note="not needed any more"
    )
    changed = answer.json()
    assert (answer.status_code, changed["change"], changed["trigger"]) == (200, "deleted", None)
    assert (changed["version"], changed["revision"], changed["settled_rows"]) == (1, 2, 1)
    assert changed["trigger_id"] == put.json()["trigger_id"]
    (entry,) = api.audit("trigger_deleted")
    assert (entry.subject, entry.note) == ("digest", "not needed any more")
    rows = api.services.store.history.fires(tenant_id=TENANT, limit=10)
    assert [row.cause for row in rows] == ["deleted"]


def test_delete_by_id_works(api: Api) -> None:
    trigger_id = api.json("PUT", PATH, a_trigger_body())["trigger_id"]
    assert api.json("DELETE", f"/v1/tenants/{TENANT}/triggers/{trigger_id}")["name"] == "digest"


def test_delete_with_an_etag_of_a_namesake_is_412(api: Api) -> None:
    first = api.call("PUT", PATH, a_trigger_body())
    api.json("DELETE", PATH)
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call("DELETE", PATH, headers={"If-Match": first.headers["etag"]})
    assert problem(answer) == (412, ["If-Match"])


def test_delete_again_by_another_request_is_404(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    api.json("DELETE", PATH, headers={"Idempotency-Key": "a"})
    assert problem(api.call("DELETE", PATH, headers={"Idempotency-Key": "b"}))[0] == 404


def test_delete_note_that_is_too_long_is_422(api: Api) -> None:
    api.json("PUT", PATH, a_trigger_body())
    assert problem(api.call("DELETE", PATH, note="x" * 501)) == (422, ["note"])
