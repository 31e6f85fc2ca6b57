"""GET the allowed hosts."""

from ports.principals import GrantKind
from tests.support.api import TENANT, Api
from tests.support.ladder import ReadLadder

PATH = "/v1/allowed-hosts"


class TestListHosts(ReadLadder):
    path = PATH
    kind = GrantKind.OPERATOR
    is_platform_wide = True


def test_list_hosts_tells_who_vouched_for_whom(api: Api) -> None:
    api.json("PUT", f"{PATH}/shop.example", {"note": "ours"}, tenant=TENANT)
    api.json("PUT", f"{PATH}/Hook.Example.", {})
    at = "2026-03-02T00:00:00Z"
    assert api.json("GET", PATH)["items"] == [
        {"host": "hook.example", "tenant": None, "allowed_by": "root", "allowed_at": at},
        {"host": "shop.example", "tenant": TENANT, "allowed_by": "root", "allowed_at": at},
    ]
