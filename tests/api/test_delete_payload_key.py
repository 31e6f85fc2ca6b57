"""POST the end of a tenant's payload key."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, a_trigger_body
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/payload-key:delete"


class TestDeletePayloadKey(WriteLadder):
    method = "POST"
    path = "/v1/tenants/{tenant}/payload-key:delete"
    kind = GrantKind.OPERATOR
    unknown_path = "/v1/tenants/nobody/payload-key:delete"
    other: ClassVar[dict[str, Any]] = {"why": "no reader"}
    action = "payload_key_deleted"
    unrevised = "a key has no revision"
    stale = None


def test_payload_is_unreadable_when_its_key_is_gone(api: Api) -> None:
    path = f"/v1/tenants/{TENANT}/triggers/digest"
    api.json("PUT", path, a_trigger_body(payload={"to": "all"}))
    assert api.json("POST", PATH) == {"change": "deleted", "subject": TENANT}
    answer = api.call("PUT", path + "/horizon", {"horizon": "30m"})
    assert answer.status_code == 409
    assert "key is gone" in answer.json()["detail"]
    again = api.call("PUT", path, a_trigger_body(payload={"to": "all"}), headers={"If-Match": "*"})
    assert again.json()["change"] == "edited"


def test_keys_of_other_tenants_stay(api: Api) -> None:
    api.json("POST", "/v1/tenants/bolt/payload-key:delete")
    assert api.json("GET", f"/v1/tenants/{TENANT}/targets/shop/secret")["secret"]
