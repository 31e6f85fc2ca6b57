"""GET a target's signing secret."""

from ports.principals import GrantKind
from tests.support.api import TENANT, Api, problem
from tests.support.definitions import SECRET
from tests.support.ladder import ReadLadder

PATH = f"/v1/tenants/{TENANT}/targets/shop/secret"


class TestReadSecret(ReadLadder):
    path = "/v1/tenants/{tenant}/targets/shop/secret"
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/targets/nothing/secret"


def test_read_secret_is_the_stored_one(api: Api) -> None:
    assert api.json("GET", PATH) == {"secret": SECRET}


def test_read_secret_of_a_deleted_key_says_what_to_do(api: Api) -> None:
    api.json("POST", f"/v1/tenants/{TENANT}/payload-key:delete")
    answer = api.call("GET", PATH)
    assert problem(answer) == (404, ["secret"])
    assert "put the target again" in answer.json()["detail"]
    api.json(
        "PUT",
        PATH.removesuffix("/secret"),
        {"url": "https://shop.example/hook"},
        headers={"If-Match": "*"},
    )
    assert api.json("GET", PATH)["secret"] != SECRET
