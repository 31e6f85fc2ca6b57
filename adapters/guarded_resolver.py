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

from adapters.local_lacks import (
    MEMORY,
    RESOLVER,
    THREADS,
    Lack,
    LocalLack,
    lack_of,
    missing_for_files,
)
from adapters.resolver_probe import LookUp, ResolverProbe
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

    async def is_answering(self) -> bool:
        """Whether name servers answer at all; of another resolver than the system's it is said."""
        return not isinstance(self._inner, SystemResolver) or await self._inner.is_answering()

    async def close(self) -> None:
        await self._inner.close()


class SystemResolver(AbstractResolver):
    """The operating system's resolver on threads of its own.

    Not on the loop's default threads: those are few, and a tenant whose name server never answers
    would hold them all against everyone else. Raises LocalLack where the fault is this machine's.
    `look_up` replaces the C library's function, as `socket.getaddrinfo`.
    """

    def __init__(self, look_up: LookUp = socket.getaddrinfo) -> None:
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(DNS_THREADS_MAX, thread_name_prefix="punctual-dns")
        self._probe = ResolverProbe(look_up)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        look_up = partial(
            self._look_up,
            host,
            port,
            family,
            type=socket.SOCK_STREAM,
            flags=socket.AI_ADDRCONFIG,
        )
        try:
            asked = self._threads.submit(look_up)
        except RuntimeError as error:
            raise LocalLack(THREADS) from error
        try:
            infos = await asyncio.wrap_future(asked)
        except OSError as error:
            lack = await self._lack_behind(error)
            if lack is not None:
                raise LocalLack(lack) from error
            raise
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

    async def is_answering(self) -> bool:
        """Whether this machine's name servers answer at all; within two seconds."""
        return await self._probe.is_answered()

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._probe.close()

    async def _lack_behind(self, error: OSError) -> Lack | None:
        if not isinstance(error, socket.gaierror):
            return lack_of(error, "")
        if error.errno == socket.EAI_MEMORY:
            return MEMORY
        missing = missing_for_files()
        if missing is not None:
            return missing
        if error.errno == socket.EAI_AGAIN and not await self.is_answering():
            return RESOLVER
        return None
