"""Whose fault a failed connection is: what is missing here is no try, and blames no target."""

import asyncio
import errno
import json
import os
import pickle
import re
import socket
import sys
from collections.abc import Callable
from typing import Any, Final

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from adapters import local_lacks, resolver_probe
from adapters.guarded_resolver import SystemResolver
from adapters.http_errors import not_connected
from adapters.local_lacks import LocalLack, lack_of, missing_for_files
from dispatcher import http_delivery
from dispatcher.http_delivery import DeliveryResult, HttpDelivery
from scheduling.vocabulary import TransportResult
from tests.dispatcher.bench import until
from tests.dispatcher.targets import a_delivery, a_raw_target, a_target, run

PLACE: Final = ConnectionKey("hook.example", 443, False, True, None, None, None)
OURS: Final = {
    errno.EMFILE: "files",
    errno.ENFILE: "files",
    errno.ENOMEM: "memory",
    errno.ENOBUFS: "memory",
    errno.EADDRNOTAVAIL: "ports",
    errno.ENETDOWN: "network",
}
NOT_OURS: Final = (
    *(errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT, errno.EPIPE),
    *(errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.EAFNOSUPPORT),
    *(errno.EACCES, errno.EPERM),
)


def connecting(number: int) -> aiohttp.ClientConnectorError:
    """As aiohttp tells an error of the system."""
    return aiohttp.ClientConnectorError(PLACE, OSError(number, os.strerror(number)))


def name_of(number: object) -> str:
    return errno.errorcode.get(number, "") if isinstance(number, int) else str(number)


@pytest.mark.parametrize(("number", "kind"), OURS.items(), ids=name_of)
def test_error_that_no_target_can_bring_about_is_ours(number: int, kind: str) -> None:
    lack = lack_of(connecting(number), "hook.example")
    assert lack is not None
    assert lack.kind == kind
    told = not_connected(connecting(number), "hook.example:443")
    assert told == f"nothing was sent to hook.example:443, because {lack.text}"


@pytest.mark.parametrize("number", NOT_OURS, ids=name_of)
def test_error_that_a_target_can_bring_about_is_not_ours(number: int) -> None:
    assert lack_of(connecting(number), "hook.example") is None


@pytest.mark.parametrize("number", sorted(local_lacks.NOBODYS), ids=name_of)
def test_error_of_the_way_blames_nobody(number: int) -> None:
    told = not_connected(connecting(number), "[2001:db8::1]:443")
    assert told.startswith(f"no way from here to [2001:db8::1]:443 ({os.strerror(number)}): see")


def test_missing_address_of_a_kind_that_a_machine_may_lack_is_not_ours() -> None:
    assert lack_of(connecting(errno.EADDRNOTAVAIL), "2001:db8::1") is None


def test_missing_memory_is_ours() -> None:
    assert lack_of(MemoryError(), "hook.example") == local_lacks.MEMORY


def test_error_without_a_number_is_not_ours() -> None:
    assert lack_of(OSError("Multiple exceptions: ..."), "hook.example") is None
    assert lack_of(ValueError("x"), "hook.example") is None


def test_every_error_of_the_table_is_in_the_module_that_tells_it() -> None:
    named = set(re.findall(r"`(E[A-Z]+)`", local_lacks.__doc__ or ""))
    tested = {errno.errorcode[number] for number in (*OURS, *NOT_OURS)}
    assert named <= tested
    assert tested - named == {"ECONNABORTED", "EPIPE"}  # as ECONNRESET


def test_local_lack_pickles() -> None:
    error = pickle.loads(pickle.dumps(LocalLack(local_lacks.RESOLVER)))
    assert (error.lack, str(error)) == (local_lacks.RESOLVER, local_lacks.RESOLVER.text)


def test_files_are_not_missing_where_one_can_be_opened() -> None:
    assert missing_for_files() is None


def answers(**by_name: Any) -> Callable[..., list[Any]]:
    """A lookup by its first label: what is an error is raised, what is a number is EAI's."""

    def look_up(host: str, port: int, *_: object, **__: object) -> list[Any]:
        found = by_name[host.partition(".")[0].replace("-", "_")]
        if isinstance(found, int):
            raise socket.gaierror(found, "as the C library says it")
        if isinstance(found, Exception):
            raise found
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    return look_up


LOOKUPS: Final = {
    "no_such_name": (socket.EAI_NONAME, socket.EAI_NONAME, None),
    "its_name_servers_are_away": (socket.EAI_AGAIN, socket.EAI_NONAME, None),
    "ours_are_away": (socket.EAI_AGAIN, socket.EAI_AGAIN, "resolver"),
    "ours_cannot_be_reached": (socket.EAI_AGAIN, socket.EAI_SYSTEM, "resolver"),
    "its_name_servers_fail": (socket.EAI_FAIL, socket.EAI_AGAIN, None),
    "no_memory": (socket.EAI_MEMORY, socket.EAI_NONAME, "memory"),
    "no_files": (OSError(errno.EMFILE, "x"), socket.EAI_NONAME, "files"),
}


@pytest.mark.parametrize(("found", "probed", "kind"), LOOKUPS.values(), ids=LOOKUPS)
def test_failed_lookup_is_ours_when_no_name_at_all_is_answered(
    found: int | Exception, probed: int, kind: str | None
) -> None:
    async def main() -> None:
        resolver = SystemResolver(answers(hook=found, punctual_probe=probed))
        async with HttpDelivery(resolver=resolver) as http:
            result = await http.deliver(a_delivery("http://hook.example/"))
        assert result.lack == kind
        expected = TransportResult.NOT_SENT if kind is None else TransportResult.UNTRIED
        assert result.transport_result is expected

    run(main())


def test_lookup_that_no_thread_can_be_started_for_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        resolver = SystemResolver(answers(hook="93.184.215.14"))

        def submit(*_: object) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(resolver._threads, "submit", submit)
        async with HttpDelivery(resolver=resolver) as http:
            result = await http.deliver(a_delivery("http://hook.example/"))
        assert (result.transport_result, result.lack) == (TransportResult.UNTRIED, "threads")

    run(main())


@pytest.mark.parametrize("is_probe_answered", [True, False], ids=["theirs", "ours"])
def test_lookup_without_an_end_is_ours_when_no_name_at_all_is_answered(
    monkeypatch: pytest.MonkeyPatch, is_probe_answered: bool
) -> None:
    monkeypatch.setattr(resolver_probe, "DNS_PROBE_S_MAX", 0.1)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        end = asyncio.Event()

        def look_up(host: str, *_: object, **__: object) -> list[Any]:
            if host == resolver_probe.PROBED_NAME and is_probe_answered:
                raise socket.gaierror(socket.EAI_NONAME, "no such name")
            asyncio.run_coroutine_threadsafe(end.wait(), loop).result()
            raise socket.gaierror(socket.EAI_AGAIN, "later")

        async with HttpDelivery(resolver=SystemResolver(look_up)) as http:
            result = await http.deliver(a_delivery("http://hook.example/", timeout_s=0.1))
            end.set()
        if is_probe_answered:
            assert (result.transport_result, result.lack) == (TransportResult.NOT_SENT, None)
        else:
            assert (result.transport_result, result.lack) == (TransportResult.UNTRIED, "resolver")

    run(main())


def test_probe_is_one_for_all_who_ask_together() -> None:
    async def main() -> None:
        asked: list[str] = []

        def look_up(host: str, *_: object, **__: object) -> list[Any]:
            asked.append(host)
            raise socket.gaierror(socket.EAI_NONAME, "no such name")

        resolver = SystemResolver(look_up)
        answered = await asyncio.gather(*(resolver.is_answering() for _ in range(20)))
        await resolver.close()
        assert (set(answered), len(answered)) == ({True}, 20)
        assert asked == [resolver_probe.PROBED_NAME]

    run(main())


async def _in_a_starved_process(*endpoints: str) -> list[DeliveryResult]:
    command = (sys.executable, "-m", "tests.support.starved_process", *endpoints)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0
    return [
        DeliveryResult(TransportResult(result), lack=lack, error=error)
        for result, lack, error in json.loads(said)
    ]


def test_process_without_a_free_file_has_tried_nothing() -> None:
    async def main() -> None:
        async with a_target() as seen:
            by_name = seen.endpoint.replace("127.0.0.1", "localhost")
            secure = seen.endpoint.replace("http:", "https:")
            *starved, after = await _in_a_starved_process(seen.endpoint, by_name, secure)
            assert len(seen.requests) == 1
        missing = DeliveryResult(
            TransportResult.UNTRIED, lack="files", error=local_lacks.FILES.text
        )
        assert starved == [missing] * 3
        assert after.transport_result is TransportResult.RESPONSE

    run(main())


@pytest.mark.parametrize(
    ("of_the_same_host", "expected"),
    [(0, "connections"), (2, None)],
    ids=["all_in_use", "its_own_in_use"],
)
def test_attempt_that_no_connection_was_free_for_is_untried_unless_its_host_holds_them(
    monkeypatch: pytest.MonkeyPatch, of_the_same_host: int, expected: str | None
) -> None:
    """Four connections, two a host; as many attempts hang on hosts that never answer."""
    for module in (http_delivery, sys.modules["adapters.guarded_session"]):
        monkeypatch.setattr(module, "CONNECTIONS_MAX", 4)
        monkeypatch.setattr(module, "CONNECTIONS_PER_HOST_MAX", 2)

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with (
            a_raw_target(never) as one,
            a_raw_target(never) as two,
            a_raw_target(never) as mine,
            HttpDelivery(allow_loopback=True) as http,
        ):
            places = [mine] * of_the_same_host + [one, one, two, two]
            hanging = [
                asyncio.create_task(http.deliver(a_delivery(place.endpoint, timeout_s=30)))
                for place in places[:4]
            ]
            await until(lambda: sum(seen.connections for seen in (one, two, mine)) == 4)
            result = await http.deliver(a_delivery(mine.endpoint, timeout_s=0.1))
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
        assert result.lack == expected

    run(main())
