"""Resolve, check and pin: the addresses of a name are judged at the moment of connecting.

Every outgoing fetch goes through it. The connector connects to exactly the addresses that this
resolver returned, so nothing can change between check and use. If any one answer is refused, the
whole name is: a name that mixes public and inner addresses is either broken or an attempt at DNS
rebinding, and dropping only the bad answers would let its owner try again and again until a race
or a fallback lets one through.
"""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from aiohttp.abc import AbstractResolver, ResolveResult

from scheduling.limits import DNS_THREADS_MAX
from schemas.endpoints import refusal_of_address


class GuardedAddress(OSError):
    """A name resolved to an address that may not be connected to; an OSError so that aiohttp
    reports it like any other failed lookup, before it opens a socket."""


class GuardedResolver(AbstractResolver):
    """Passes on the answers of `inner` when all of them may be connected to.

    Raises GuardedAddress when one may not, and OSError when there is no answer at all.
    """

    def __init__(self, inner: AbstractResolver, *, allow_loopback: bool) -> None:
        self._inner = inner
        self._allow_loopback = allow_loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        answers = list(await self._inner.resolve(host, port, family))
        if not answers:
            raise OSError("no address")
        for answer in answers:
            kind = refusal_of_address(answer["host"], allow_loopback=self._allow_loopback)
            if kind is not None:
                raise GuardedAddress(f"it resolves to {answer['host']}, a {kind} address")
        return answers

    async def close(self) -> None:
        await self._inner.close()


class SystemResolver(AbstractResolver):
    """The operating system's resolver on threads of its own.

    Not on the loop's default threads: those are few, and a tenant whose name server never answers
    would hold them all against everyone else.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(DNS_THREADS_MAX, thread_name_prefix="punctual-dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        infos = await loop.run_in_executor(
            self._threads,
            partial(
                socket.getaddrinfo,
                host,
                port,
                family,
                type=socket.SOCK_STREAM,
                flags=socket.AI_ADDRCONFIG,
            ),
        )
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=found,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for found, _, proto, _, address in infos
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
