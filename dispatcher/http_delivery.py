"""One attempt over HTTP: a signed POST, and a word on what became of it.

Bounded in every direction: the whole attempt by the target's timeout, the answer by bytes and
seconds, connections per host and in all. Redirects, cookies and proxy variables are not followed.
"""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace, TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.helpers import is_ip_address
from yarl import URL

from adapters.guarded_resolver import GuardedResolver, SystemResolver
from adapters.guarded_session import TRANSPORT_ERRORS, guarded_session
from adapters.local_lacks import CONNECTIONS, RESOLVER, Lack, lack_of
from dispatcher.delivery_errors import describe
from dispatcher.envelope import Delivery, body, headers
from dispatcher.retry_after import parse_retry_after
from scheduling.limits import (
    CONNECTIONS_MAX,
    CONNECTIONS_PER_HOST_MAX,
    RESPONSE_BYTES_MAX,
    RESPONSE_READ_S_MAX,
)
from scheduling.vocabulary import TransportResult
from schemas.endpoints import check_endpoint


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """What an attempt brought back; times are the caller's.

    http_status:   set exactly when the result is `response`
    retry_after_s: the target's wish, 0 to one day
    error:         without a response, what happened and the remedy; never payload, secret,
                   token, path or query
    lack:          set exactly when the result is `untried`: the kind of what is missing here
    """

    transport_result: TransportResult
    http_status: int | None = None
    retry_after_s: float | None = None
    error: str | None = None
    lack: str | None = None


class HttpDelivery:
    """A pool of connections to targets; an async context manager, one per process and loop.

    `resolver` and `ssl_context` replace the system's; whatever resolver is given is guarded.
    `clock` gives Unix time in seconds.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        resolver: AbstractResolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._allow_loopback = allow_loopback
        self._inner_resolver = resolver
        self._ssl_context = ssl_context
        self._clock = clock
        self._resolver: GuardedResolver | None = None
        self._session: aiohttp.ClientSession | None = None
        self._waiting: Counter[URL] = Counter()  # attempts without an answer, by origin

    async def __aenter__(self) -> Self:
        self._resolver = GuardedResolver(
            self._inner_resolver or SystemResolver(), allow_loopback=self._allow_loopback
        )
        self._session = guarded_session(
            self._resolver, self._ssl_context, trace_configs=[_trace_config()]
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
        if self._resolver is not None:
            await self._resolver.close()

    async def deliver(
        self, delivery: Delivery, *, on_sent: Callable[[], None] | None = None
    ) -> DeliveryResult:
        """Make one attempt, within `delivery.timeout_s`. No failure of the target raises.

        `on_sent` is called exactly once: when the request's headers go out, or when the attempt
        ends before that. A first attempt of the same trigger that starts after it is written to
        its socket after this one.

        `not_sent`: the target saw nothing of the request (guard, DNS, refused connection, TLS,
        no free connection in time). `untried`: nor could it have, for want of what a connection
        takes here. `ambiguous`: it may have seen it, and no readable answer came. `response`: a
        status arrived, whatever became of the body after it.
        """
        progress = _Progress(on_sent)
        try:
            return await self._attempt(delivery, progress)
        finally:
            progress.mark_sent()

    async def _attempt(self, delivery: Delivery, progress: "_Progress") -> DeliveryResult:
        problems = check_endpoint(delivery.endpoint, self._allow_loopback)
        if problems:
            return DeliveryResult(TransportResult.NOT_SENT, error="; ".join(problems))
        url = URL(delivery.endpoint, encoded=True)
        try:
            async with asyncio.timeout(delivery.timeout_s) as scope:
                with self._counted(url.origin()):
                    response = await self._post(url, delivery, progress)
        except (*TRANSPORT_ERRORS, MemoryError) as error:
            lack = None if progress.has_begun else await self._lack_behind(error, url, progress)
            if lack is not None:
                return DeliveryResult(TransportResult.UNTRIED, error=lack.text, lack=lack.kind)
            return DeliveryResult(
                TransportResult.AMBIGUOUS if progress.has_begun else TransportResult.NOT_SENT,
                error=describe(
                    error, url=url, has_begun=progress.has_begun, timeout_s=delivery.timeout_s
                ),
            )
        try:
            await _discard_body(response, deadline=scope.when())
        finally:
            response.close()  # no effect on a connection that the end of the body has released
        return DeliveryResult(
            TransportResult.RESPONSE,
            http_status=response.status,
            retry_after_s=parse_retry_after(response.headers.get("Retry-After"), self._clock()),
        )

    async def _lack_behind(self, error: Exception, url: URL, progress: "_Progress") -> Lack | None:
        """What was missing here, when that kept the request from beginning; else None."""
        host = url.host or ""
        if not isinstance(error, TimeoutError):
            return lack_of(error, host)
        if progress.is_queued:
            return CONNECTIONS if self._is_full(beside=url.origin()) else None
        is_name = not progress.is_resolved and not is_ip_address(host)
        if is_name and self._resolver is not None and not await self._resolver.is_answering():
            return RESOLVER
        return None

    def _is_full(self, *, beside: URL) -> bool:
        """Whether all connections are in use, and not because that one host has all of its own."""
        held = sum(min(count, CONNECTIONS_PER_HOST_MAX) for count in self._waiting.values())
        return held >= CONNECTIONS_MAX and self._waiting[beside] < CONNECTIONS_PER_HOST_MAX

    @contextmanager
    def _counted(self, origin: URL) -> Iterator[None]:
        """While an attempt has a connection or waits for one."""
        self._waiting[origin] += 1
        try:
            yield
        finally:
            self._waiting[origin] -= 1
            if not self._waiting[origin]:
                del self._waiting[origin]

    async def _post(
        self, url: URL, delivery: Delivery, progress: "_Progress"
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("HttpDelivery: enter it with `async with` before delivering")
        content = body(delivery)
        return await self._session.post(
            url,
            data=content,
            headers=headers(delivery, content, timestamp_s=int(self._clock())),
            allow_redirects=False,
            trace_request_ctx=progress,
        )


class _Progress:
    """Whether a request has begun, and the promise to call `on_sent` once."""

    __slots__ = ("_on_sent", "has_begun", "is_queued", "is_resolved")

    def __init__(self, on_sent: Callable[[], None] | None) -> None:
        self._on_sent = on_sent
        self.has_begun = False
        self.is_queued = False  # for a free connection
        self.is_resolved = False  # its name has addresses

    def mark_begun(self) -> None:
        self.has_begun = True
        self.mark_sent()

    def mark_sent(self) -> None:
        on_sent, self._on_sent = self._on_sent, None
        if on_sent is not None:
            on_sent()


def _trace_config() -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()
    config.on_request_headers_sent.append(_on_headers)
    config.on_connection_queued_start.append(_on_queued)
    config.on_connection_queued_end.append(_on_taken)
    config.on_dns_resolvehost_end.append(_on_resolved)
    config.on_dns_cache_hit.append(_on_resolved)
    return config


async def _on_headers(
    session: aiohttp.ClientSession,
    context: SimpleNamespace,
    params: aiohttp.TraceRequestHeadersSentParams,
) -> None:
    # aiohttp calls this just before the bytes reach the socket, so a failure in between counts as
    # ambiguous. The write is scheduled before whoever `on_sent` wakes can run.
    progress: _Progress = context.trace_request_ctx
    progress.mark_begun()


async def _on_queued(session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
    context.trace_request_ctx.is_queued = True


async def _on_taken(session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
    context.trace_request_ctx.is_queued = False


async def _on_resolved(session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
    context.trace_request_ctx.is_resolved = True


async def _discard_body(response: aiohttp.ClientResponse, *, deadline: float | None) -> None:
    """Read a short body, so that its connection serves the next fire; close on any other."""
    content = response.content
    if content.is_eof():
        return  # all of it came with the head
    soon = asyncio.get_running_loop().time() + RESPONSE_READ_S_MAX
    read_bytes = 0
    # The status has arrived: how the body ends changes nothing.
    with suppress(*TRANSPORT_ERRORS):
        async with asyncio.timeout_at(soon if deadline is None else min(soon, deadline)):
            async for chunk in content.iter_any():
                read_bytes += len(chunk)
                if read_bytes > RESPONSE_BYTES_MAX:
                    return
