"""POST a verification of a target, against a real host."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from adapters.ownership_http import HttpOwnership
from control_api.ownership import recheck_all
from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, a_trigger_body, problem
from tests.support.http_receiver import LoopThread
from tests.support.ladder import WriteLadder

PATH = f"/v1/tenants/{TENANT}/targets/hook"
TRIGGER = f"/v1/tenants/{TENANT}/triggers/digest"
DAY_US = 86_400_000_000
NAMES = ("shop.test", "moved.test")


class _Names(AbstractResolver):
    """The two names are this machine; no other resolves."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        if host not in NAMES:
            raise OSError(f"{host} does not resolve")
        return [
            ResolveResult(
                hostname=host,
                host=str(ip_address("127.0.0.1")),
                port=port,
                family=2,
                proto=0,
                flags=0,
            )
        ]

    async def close(self) -> None:
        """Nothing is held."""


@dataclass
class Host:
    """A real HTTP server; it serves `text` under the well-known path, 404 without one."""

    port: int = 0
    text: str | None = None
    asked: list[str] = field(default_factory=list)

    def url(self, name: str = "shop.test") -> str:
        return f"http://{name}:{self.port}/hook"

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.headers["Host"])
        if self.text is None or request.path != "/.well-known/punctual-ownership":
            return web.Response(status=404)
        return web.Response(text=self.text)


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    with LoopThread() as thread:
        yield thread


@pytest.fixture
def host(loop: LoopThread) -> Iterator[Host]:
    found = Host()
    app = web.Application()
    app.router.add_get("/{tail:.*}", found.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()

    loop.run(start())
    found.port = runner.addresses[0][1]
    yield found
    loop.run(runner.cleanup())


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """Names of hosts lead to this machine, which is nobody's by itself."""
    ownership = HttpOwnership(allow_loopback=True, resolver=_Names(), timeout_s=5.0)
    made = Api(tmp_path, ownership=ownership)
    yield made
    made.close()


class TestVerifyTarget(WriteLadder):
    method = "POST"
    path = "/v1/tenants/{tenant}/targets/hook:verify"
    kind = GrantKind.AUTHOR
    unknown_path = "/v1/tenants/{tenant}/targets/nothing:verify"
    other: ClassVar[dict[str, str]] = {"why": "no reader"}
    action = "target_ownership"
    revised = "/v1/tenants/{tenant}/targets/hook"
    stale = None

    @pytest.fixture(autouse=True)
    def _host(self, host: Host) -> None:
        self.host = host

    def prepare(self, api: Api) -> None:
        target = api.json("PUT", PATH, {"url": self.host.url()})
        assert target["ownership"]["state"] == "pending"
        self.host.text = target["ownership"]["serve_text"]


def test_put_on_an_unproven_host_says_why_and_what_to_serve(api: Api, host: Host) -> None:
    ownership = api.json("PUT", PATH, {"url": host.url()})["ownership"]
    assert (ownership["state"], ownership["is_usable"]) == ("pending", False)
    assert "answered 404" in ownership["detail"]
    assert ownership["serve_text"] in ownership["detail"]
    assert ownership["serve_at"] == host.url().replace("/hook", "/.well-known/punctual-ownership")
    assert ownership["checked_at"] == "2026-03-02T00:00:00Z"
    assert host.asked == [f"shop.test:{host.port}"]


def test_put_on_a_name_that_does_not_resolve_says_so(api: Api) -> None:
    ownership = api.json("PUT", PATH, {"url": "https://nowhere.test/hook"})["ownership"]
    assert ownership["state"] == "pending"
    assert "does not resolve" in ownership["detail"]


def test_target_goes_from_pending_over_its_proof_to_use(api: Api, host: Host) -> None:
    api.json("PUT", PATH, {"url": host.url()})
    refused = api.call("PUT", TRIGGER, a_trigger_body(target="hook"))
    assert problem(refused) == (409, ["target"])
    detail = refused.json()["detail"]
    pending = api.json("GET", PATH)["ownership"]
    assert pending["serve_at"] in detail
    assert pending["serve_text"] in detail
    assert "operator" in detail
    host.text = f"# ours\n{pending['serve_text']}\n"
    api.clock.advance(60_000_000)
    answer = api.call("POST", PATH + ":verify")
    proven = answer.json()["ownership"]
    assert (proven["state"], proven["is_usable"]) == ("proven", True)
    assert proven["verified_at"] == "2026-03-02T00:01:00Z"
    assert answer.headers["etag"] == api.call("GET", PATH).headers["etag"]
    assert api.call("PUT", TRIGGER, a_trigger_body(target="hook")).status_code == 201
    # A second target on the same host needs its own check, and passes it when it is put.
    beside = api.json("PUT", PATH + "-2", {"url": host.url() + "/2"})
    assert beside["ownership"]["state"] == "proven"


def test_text_of_another_tenant_proves_nothing(api: Api, host: Host) -> None:
    api.json("PUT", f"/v1/tenants/{OTHER}/targets/hook", {"url": host.url()})
    other = api.json("GET", f"/v1/tenants/{OTHER}/targets/hook")["ownership"]
    host.text = other["serve_text"]
    api.json("PUT", PATH, {"url": host.url()})
    assert api.json("POST", PATH + ":verify")["ownership"]["state"] == "pending"


def test_failed_verification_keeps_the_state_and_tells_why(api: Api, host: Host) -> None:
    api.json("PUT", PATH, {"url": host.url()})
    host.text = "something else"
    answer = api.call("POST", PATH + ":verify")
    assert answer.status_code == 200
    ownership = answer.json()["ownership"]
    assert (ownership["state"], ownership["is_usable"]) == ("pending", False)
    assert "something else" in ownership["detail"]
    assert api.audit("target_ownership") == []


def test_target_in_use_does_not_move_to_an_unproven_host(api: Api, host: Host) -> None:
    text = api.json("PUT", PATH, {"url": host.url()})["ownership"]["serve_text"]
    host.text = text
    api.json("POST", PATH + ":verify")
    api.json("PUT", TRIGGER, a_trigger_body(target="hook"))
    body = {"url": host.url("moved.test")}
    answer = api.call("PUT", PATH, body, headers={"If-Match": "*"})
    assert problem(answer) == (409, ["url"])
    assert "another name" in answer.json()["detail"]
    assert api.json("GET", PATH)["url"] == host.url()
    # Within its host it moves freely.
    moved = api.json("PUT", PATH, {"url": host.url() + "/2"}, headers={"If-Match": "*"})
    assert moved["ownership"]["state"] == "proven"


def test_target_nobody_uses_moves_and_is_pending_again(api: Api, host: Host) -> None:
    host.text = api.json("PUT", PATH, {"url": host.url()})["ownership"]["serve_text"]
    assert api.json("POST", PATH + ":verify")["ownership"]["state"] == "proven"
    body = {"url": host.url("moved.test")}
    moved = api.json("PUT", PATH, body, headers={"If-Match": "*"})
    assert moved["ownership"]["state"] == "pending"
    assert moved["ownership"]["verified_at"] is None


@pytest.mark.parametrize("tenant", [TENANT, None])
def test_operator_allows_a_host_instead(api: Api, host: Host, tenant: str | None) -> None:
    api.json("PUT", PATH, {"url": host.url()})
    scope = {} if tenant is None else {"tenant": tenant}
    api.json("PUT", "/v1/allowed-hosts/shop.test", {"note": "ours"}, **scope)
    assert api.json("GET", PATH)["ownership"]["state"] == "allow_listed"
    asked = len(host.asked)
    assert api.json("POST", PATH + ":verify")["ownership"]["state"] == "allow_listed"
    assert api.json("PUT", PATH + "-2", {"url": host.url()})["ownership"]["is_usable"] is True
    assert len(host.asked) == asked, "nobody is asked where an operator vouches"
    assert api.call("PUT", TRIGGER, a_trigger_body(target="hook")).status_code == 201


def test_operator_of_another_tenant_vouches_for_none_of_it(api: Api, host: Host) -> None:
    api.json("PUT", PATH, {"url": host.url()})
    api.json("PUT", "/v1/allowed-hosts/shop.test", {}, tenant=OTHER)
    assert api.json("GET", PATH)["ownership"]["state"] == "pending"


def test_proof_that_lapses_makes_the_target_unusable_until_it_is_proven(
    api: Api, host: Host
) -> None:
    text = api.json("PUT", PATH, {"url": host.url()})["ownership"]["serve_text"]
    host.text = text
    api.json("POST", PATH + ":verify")
    api.json("PUT", TRIGGER, a_trigger_body(target="hook"))
    host.text = None
    services = api.services
    for days, state in ((28, "proven"), (2, "lapsed")):
        api.clock.advance(days * DAY_US)
        recheck_all(services.store.registry, services.ownership, now_us=api.now_us, actor="service")
        assert api.json("GET", PATH)["ownership"]["state"] == state
    lapsed = api.json("GET", PATH)["ownership"]
    assert (lapsed["is_usable"], "answered 404" in lapsed["detail"]) == (False, True)
    # What stands may be edited; what is new may not go there.
    edited = api.call(
        "PUT", TRIGGER, a_trigger_body(target="hook", zone="UTC"), headers={"If-Match": "*"}
    )
    assert edited.status_code == 200
    new = api.call("PUT", TRIGGER + "-2", a_trigger_body(target="hook"))
    assert problem(new) == (409, ["target"])
    assert "lapsed" in new.json()["detail"]
    host.text = text
    assert api.json("POST", PATH + ":verify")["ownership"]["state"] == "proven"


def test_verify_needs_no_proof_on_this_machine(api: Api, host: Host) -> None:
    api.json("PUT", PATH, {"url": host.url("127.0.0.1")})
    assert api.json("POST", PATH + ":verify")["ownership"]["state"] == "local"
    assert host.asked == []
