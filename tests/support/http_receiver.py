"""A tenant's receiver as a real HTTP server on a thread: verifies, deduplicates, remembers."""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final, NamedTuple, Self, TypeVar

from aiohttp import web
from standardwebhooks import Webhook

SECRET: Final = "whsec_" + base64.b64encode(b"a-secret-of-the-tests-32-bytes!!").decode()

T = TypeVar("T")


class Arrival(NamedTuple):
    """One request. `at_us` is when its head had come, `body` is the parsed JSON."""

    key: str
    at_us: int
    path: str
    body: dict[str, Any]

    @property
    def trigger(self) -> str:
        return str(self.body["trigger"])

    @property
    def attempt(self) -> int:
        return int(self.body["attempt"])


class Answer(NamedTuple):
    status: int = 200
    after_s: float = 0.0


class LoopThread:
    """An event loop on a thread of its own, for servers beside a test that waits."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self.run(self._stack.aclose())
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter it on the loop; it is left when the thread ends."""
        return self.run(self._stack.enter_async_context(context))


async def _cancel_others() -> None:
    """What still waits to answer somebody."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class HttpReceiver:
    """Listens between entering and leaving.

    A signature that does not verify, or a body that is not what its headers say, is kept in
    `problems` and answered 401. `script` gives the answer; 2xx makes the key a processed one.
    """

    def __init__(self, script: Callable[[Arrival], Answer] = lambda arrival: Answer()) -> None:
        self.script = script
        self.arrivals: list[Arrival] = []
        self.processed: set[str] = set()
        self.open: int = 0
        self.problems: list[str] = []
        self._webhook = Webhook(SECRET)
        self._port = 0
        self._thread = LoopThread()

    def __enter__(self) -> Self:
        self._thread.__enter__()
        app = web.Application()
        app.router.add_post("/{tail:.*}", self._receive)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        self._runner = runner

        async def start() -> None:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()

        self._thread.run(start())
        self._port = runner.addresses[0][1]
        return self

    def __exit__(self, *unused: object) -> None:
        self._thread.run(self._runner.cleanup())
        self._thread.__exit__(*unused)

    def url(self, path: str = "fires") -> str:
        return f"http://127.0.0.1:{self._port}/{path}"

    def of(self, trigger: str) -> list[Arrival]:
        """The arrivals for one trigger, in order."""
        return [arrival for arrival in list(self.arrivals) if arrival.trigger == trigger]

    def keys(self, trigger: str) -> set[str]:
        return {arrival.key for arrival in self.of(trigger)}

    async def _receive(self, request: web.Request) -> web.Response:
        at_us = time.time_ns() // 1_000
        content = await request.read()
        try:
            self._webhook.verify(content, dict(request.headers))
            body = json.loads(content)
            if body["fire_key"] != request.headers["webhook-id"]:
                raise ValueError("the body's fire_key is not the webhook-id")
        except Exception as error:
            self.problems.append(f"{request.path}: {error!r}")
            return web.Response(status=401)
        arrival = Arrival(body["fire_key"], at_us, request.path, body)
        self.arrivals.append(arrival)
        self.open += 1
        try:
            answer = self.script(arrival)
            if answer.after_s:
                await asyncio.sleep(answer.after_s)
        finally:
            self.open -= 1
        if 200 <= answer.status < 300:
            self.processed.add(arrival.key)
        return web.Response(status=answer.status)
