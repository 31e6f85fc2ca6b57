"""POST a revocation."""

from typing import Any, ClassVar

from ports.principals import GrantKind
from tests.support.api import Api, problem
from tests.support.ladder import WriteLadder


class TestRevokeToken(WriteLadder):
    method = "POST"
    kind = GrantKind.OPERATOR
    is_platform_wide = True
    unknown_path = "/v1/tokens/k000000000000:revoke"
    other: ClassVar[dict[str, Any]] = {"why": "no reader"}
    action = "token_revoked"
    unrevised = "a token has no revision: it is revoked once, for good"
    stale = None
    path = "/v1/tokens/{token}:revoke"

    def prepare(self, api: Api) -> None:
        body = {"principal": "ci", "grants": [{"kind": "read"}]}
        self.token_id = api.json("POST", "/v1/tokens", body)["token_id"]

    def call(self, api: Api, **changes: Any) -> Any:
        path = changes.pop("path", self.path).replace("{token}", self.token_id)
        return super().call(api, path=path, **changes)


def test_revoked_token_is_refused_at_once(api: Api) -> None:
    made = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": [{"kind": "read"}]})
    api.tokens["ci"] = made["token"]
    api.json("GET", "/v1/tenants", by="ci")
    done = api.json("POST", f"/v1/tokens/{made['token_id']}:revoke")
    assert done == {"change": "revoked", "subject": made["token_id"]}
    assert problem(api.call("GET", "/v1/tenants", by="ci"))[0] == 401


def test_revoking_again_changes_nothing(api: Api) -> None:
    made = api.json("POST", "/v1/tokens", {"principal": "ci", "grants": [{"kind": "read"}]})
    path = f"/v1/tokens/{made['token_id']}:revoke"
    api.json("POST", path)
    assert api.json("POST", path)["change"] == "unchanged"
    assert len(api.audit("token_revoked")) == 1


def test_token_sent_in_place_of_its_id_is_not_repeated(api: Api) -> None:
    token = api.tokens["root"]
    answer = api.call("POST", f"/v1/tokens/{token}:revoke")
    assert problem(answer) == (422, ["token_id"])
    assert token not in answer.text
