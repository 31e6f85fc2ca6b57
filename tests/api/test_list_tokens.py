"""GET the tokens."""

from ports.principals import GrantKind
from scheduling.instants import SECOND_US
from tests.support.api import Api
from tests.support.ladder import ReadLadder

PATH = "/v1/tokens"


class TestListTokens(ReadLadder):
    path = PATH
    kind = GrantKind.OPERATOR
    is_platform_wide = True


def test_list_tokens_tells_which_are_good(api: Api) -> None:
    grants = [{"kind": "read"}]
    made = {}
    for name, expires in (("good", "1d"), ("expired", "60s"), ("revoked", None)):
        api.clock.advance(1)
        body = {"principal": name, "grants": grants, "expires_in": expires}
        made[name] = api.json("POST", PATH, body)
    api.json("POST", f"{PATH}/{made['revoked']['token_id']}:revoke")
    api.clock.advance(60 * SECOND_US)
    items = api.json("GET", PATH)["items"]
    # Newest first; the builder's own token is the oldest.
    assert [(each["principal"], each["state"]) for each in items] == [
        ("revoked", "revoked"),
        ("expired", "expired"),
        ("good", "good"),
        ("root", "good"),
    ]
    assert [each["token_id"] for each in items[:3]] == [
        made[name]["token_id"] for name in ("revoked", "expired", "good")
    ]
    assert items[0]["revoked_at"] is not None
    assert all(each["created_by"] == "root" for each in items[:3])
