"""Resolve, check and pin, through real connections where there is one."""

import asyncio
import pickle
import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from adapters.guarded_resolver import GuardedAddress, GuardedResolver, SystemResolver
from dispatcher.http_delivery import HttpDelivery
from scheduling.vocabulary import TransportResult
from tests.dispatcher.targets import Seen, a_delivery, a_target, run

PUBLIC = "93.184.215.14"


class ScriptedResolver(AbstractResolver):
    """Gives the next list of addresses at each question, and the last one for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.questions = 0
        self.is_closed = False

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.questions += 1
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [_answer(host, port, address) for address in addresses]

    async def close(self) -> None:
        self.is_closed = True


class EndlessResolver(AbstractResolver):
    """Never answers."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        await asyncio.Event().wait()
        return []

    async def close(self) -> None:
        return


def _answer(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=6, flags=socket.AI_NUMERICHOST
    )


def _by_name(seen: Seen) -> str:
    return seen.endpoint.replace("127.0.0.1", "rebind.example")


def test_guard_rebinding_to_loopback_is_refused_before_a_connection() -> None:
    async def main() -> None:
        resolver = ScriptedResolver([PUBLIC], ["127.0.0.1"])
        checked = await GuardedResolver(resolver, allow_loopback=False).resolve("rebind.example")
        assert [answer["host"] for answer in checked] == [PUBLIC]
        async with a_target() as seen, HttpDelivery(resolver=resolver) as http:
            result = await http.deliver(a_delivery(_by_name(seen)))
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert "127.0.0.1, a loopback address" in result.error
        assert seen.requests == []
        assert resolver.questions == 2

    run(main())


@pytest.mark.parametrize(
    "addresses", [[PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], [PUBLIC, "::ffff:169.254.169.254"]]
)
def test_guard_one_refused_answer_refuses_the_name(addresses: list[str]) -> None:
    async def main() -> None:
        guard = GuardedResolver(ScriptedResolver(addresses), allow_loopback=True)
        with pytest.raises(GuardedAddress, match="it resolves to"):
            await guard.resolve("mixed.example", 443)

    run(main())


def test_guard_connects_to_the_address_that_it_checked() -> None:
    async def main() -> None:
        # A second question would send the attempt to a private address.
        resolver = ScriptedResolver(["127.0.0.1"], ["10.0.0.1"])
        async with a_target() as seen, HttpDelivery(resolver=resolver, allow_loopback=True) as http:
            results = [await http.deliver(a_delivery(_by_name(seen))) for _ in range(3)]
        assert [result.http_status for result in results] == [200, 200, 200]
        assert seen.requests[0][0]["Host"].startswith("rebind.example:")
        assert resolver.questions == 1
        assert resolver.is_closed

    run(main())


def test_guard_name_without_address_is_not_sent() -> None:
    async def main() -> None:
        async with HttpDelivery(resolver=ScriptedResolver([])) as http:
            result = await http.deliver(a_delivery("http://empty.example/"))
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert result.error.startswith("empty.example:80 does not resolve")

    run(main())


def test_guard_name_server_that_never_answers_ends_at_the_timeout() -> None:
    async def main() -> None:
        async with HttpDelivery(resolver=EndlessResolver()) as http:
            result = await http.deliver(a_delivery("http://slow.example/", timeout_s=0.1))
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert result.error.startswith("no connection to slow.example:80 within 0.1 s")

    run(main())


@pytest.mark.parametrize("name", ["localhost", "127.1", "0x7f.1", "2130706433"])
def test_guard_system_resolver_sees_through_spellings_of_loopback(name: str) -> None:
    async def main() -> None:
        guard = GuardedResolver(SystemResolver(), allow_loopback=False)
        with pytest.raises(GuardedAddress, match="a loopback address"):
            await guard.resolve(name, 80)
        await guard.close()

    run(main())


def test_guard_system_resolver_gives_addresses_that_connect() -> None:
    async def main() -> None:
        async with a_target() as seen, HttpDelivery(allow_loopback=True) as http:
            by_name = seen.endpoint.replace("127.0.0.1", "localhost")
            result = await http.deliver(a_delivery(by_name))
        assert result.http_status == 200

    run(main())


def test_guard_unknown_name_is_not_sent() -> None:
    async def main() -> None:
        async with HttpDelivery() as http:
            result = await http.deliver(a_delivery("http://nowhere.invalid/", timeout_s=10))
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert result.error.startswith("nowhere.invalid:80 does not resolve")

    run(main())


def test_guarded_address_pickles() -> None:
    error = pickle.loads(pickle.dumps(GuardedAddress("it resolves to ::1, a loopback address")))
    assert isinstance(error, GuardedAddress)
    assert str(error) == "it resolves to ::1, a loopback address"
