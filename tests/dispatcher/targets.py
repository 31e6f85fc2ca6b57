"""Targets for delivery tests: well-behaved aiohttp servers and raw sockets that misbehave."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from dispatcher.envelope import Delivery
from scheduling.vocabulary import Lane, Origin

SECRET = "whsec_" + base64.b64encode(b"current-key-current-key-current-").decode()
PREVIOUS_SECRET = "whsec_" + base64.b64encode(b"previous-key-previous-key-previo").decode()
CERTIFICATE = Path(__file__).with_name("localhost.pem")
DUE_AT_US = 1_760_000_000_000_000  # 2025-10-09T08:53:20Z

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Seen:
    """What a target saw."""

    endpoint: str = ""
    connections: int = 0
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


def a_delivery(endpoint: str = "http://127.0.0.1:1/", **changes: Any) -> Delivery:
    fields: dict[str, Any] = {
        "tenant_id": "acme",
        "trigger_id": "t0123456789",
        "trigger_name": "nightly",
        "version": 3,
        "fire_key": f"acme~t0123456789~{DUE_AT_US}~0",
        "scheduled_instant_us": DUE_AT_US,
        "due_at_us": DUE_AT_US,
        "sequence": 0,
        "origin": Origin.SCHED,
        "lane": Lane.ON_TIME,
        "attempt": 1,
        "tzdata_version": "2025.2",
        "endpoint": endpoint,
        "timeout_s": 5.0,
        "signing_secrets": (SECRET,),
        "payload": b'{"amount":1}',
    }
    return Delivery(**(fields | changes))


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(main)


@asynccontextmanager
async def a_target(
    status: int = 200, *, headers: dict[str, str] | None = None, text: str = "ok"
) -> AsyncIterator[Seen]:
    """An HTTP server that gives every request the same answer."""
    seen = Seen()

    async def answer(request: web.Request) -> web.Response:
        seen.requests.append((dict(request.headers), await request.read()))
        return web.Response(status=status, headers=headers, text=text)

    app = web.Application(client_max_size=1024 * 1024)
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        seen.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        yield seen
    finally:
        await runner.cleanup()


@asynccontextmanager
async def a_raw_target(
    behave: Behaviour, *, ssl_context: ssl.SSLContext | None = None
) -> AsyncIterator[Seen]:
    """A socket server that does to each connection what it is told."""
    seen = Seen()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        try:
            await behave(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=ssl_context)
    scheme = "http" if ssl_context is None else "https"
    seen.endpoint = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    try:
        yield seen
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One whole request: head and the body that its content-length names."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    return head + await reader.readexactly(length)


def after_request(answer: bytes) -> Behaviour:
    """Read the request, send these bytes, then keep the connection open."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)
        await writer.drain()
        await reader.read()

    return behave


def repeating(start: bytes, piece: bytes, *, pause_s: float) -> Behaviour:
    """Read the request, send `start`, then `piece` for ever."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave
