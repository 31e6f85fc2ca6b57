"""A request's body as it comes: whole within its bounds, or dropped behind a refusal."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from control_api.bodies import check_json
from control_api.problems import ApiProblem
from scheduling.limits import (
    APPLY_BODY_BYTES_MAX,
    BODY_BYTES_MAX,
    BODY_S_MAX,
    LINGER_BYTES_MAX,
    LINGER_S_MAX,
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_INLINE_BYTES_MAX: Final = 64 * 1024  # a longer body is looked at on a thread


class ConnectionCut(Exception):
    """The caller left before its body ended: what it wants is not known, and nobody listens."""


class Incoming:
    """A request's body as it comes; `is_over` once none is left, or nobody sends it any more."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = dict(scope["headers"])
        self._receive = receive
        self.is_over = not (
            headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        )

    async def part(self) -> bytes:
        """The next bytes. ConnectionCut where the caller left."""
        message = await self._receive()
        self.is_over = not message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise ConnectionCut
        body: bytes = message.get("body", b"")
        return body


async def received(scope: Scope, incoming: Incoming) -> bytes:
    """The body, whole. ApiProblem for one that is too long or too slow; ConnectionCut."""
    limit = APPLY_BODY_BYTES_MAX if scope["path"] == "/v1/apply" else BODY_BYTES_MAX
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise _too_big(limit)
    try:
        async with asyncio.timeout(BODY_S_MAX):
            return await _joined(incoming, limit)
    except TimeoutError:
        detail = f"the body was not whole after {BODY_S_MAX:g} s: send it faster"
        raise ApiProblem(408, "too_slow", detail) from None


async def check_shape(scope: Scope, body: bytes) -> None:
    """ApiProblem for what is not the JSON of a request, as far as its shape tells."""
    if body and scope["method"] in _METHODS:
        headers = dict(scope["headers"])
        if len(body) <= _INLINE_BYTES_MAX:
            check_json(headers, body)
        else:
            await run_in_threadpool(check_json, headers, body)


async def drop_rest(incoming: Incoming) -> None:
    """Read on behind a refusal until the body ends, the caller leaves, or a bound is reached.

    A connection that is closed over unread bytes is reset by the kernel, and a caller that sends
    its whole body before it reads would lose the answer.
    """
    left = LINGER_BYTES_MAX
    with suppress(TimeoutError, ConnectionCut):
        async with asyncio.timeout(LINGER_S_MAX):
            while left > 0 and not incoming.is_over:
                left -= len(await incoming.part())


async def _joined(incoming: Incoming, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        parts.append(await incoming.part())
        size += len(parts[-1])
        if size > limit:
            raise _too_big(limit)
        if incoming.is_over:
            return b"".join(parts)


def _too_big(limit: int) -> ApiProblem:
    detail = f"the body has more than {limit:,} bytes: send less, or a reference to the data"
    return ApiProblem(413, "too_big", detail)
