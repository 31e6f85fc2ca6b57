"""GET a target."""

from tests.support.api import HOOK, TENANT, Api
from tests.support.ladder import ReadLadder

PATH = f"/v1/tenants/{TENANT}/targets/shop"


class TestGetTarget(ReadLadder):
    path = "/v1/tenants/{tenant}/targets/shop"
    unknown_path = "/v1/tenants/{tenant}/targets/nothing"


def test_get_target_says_what_to_serve_where(api: Api) -> None:
    target = api.json("GET", PATH)
    assert (target["name"], target["url"]) == ("shop", "https://shop.example/hook")
    ownership = target["ownership"]
    assert (ownership["state"], ownership["is_usable"]) == ("allow_listed", True)
    assert ownership["serve_at"] == "https://shop.example/.well-known/punctual-ownership"
    assert ownership["serve_text"].startswith("punctual-ownership-v1=")


def test_get_target_text_is_of_its_tenant_and_host(api: Api) -> None:
    texts = set()
    for tenant in (TENANT, "bolt"):
        for port in (8089, 8090):
            path = f"/v1/tenants/{tenant}/targets/t{port}"
            api.json("PUT", path, {"url": HOOK.replace("8089", str(port))})
            texts.add(api.json("GET", path)["ownership"]["serve_text"])
    assert len(texts) == 4
