"""Posts per second and latency of the delivery client alone, on one machine.

Run: `python -m bench.bench_delivery [--posts 5000] [--concurrency 64]`. A receiver process of its
own answers 200. Measured alternately, three rounds each: signed attempts through HttpDelivery,
and bare unsigned aiohttp posts of an equal body. Printed: the best round of each and their ratio.
"""

import argparse
import asyncio
import base64
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

import aiohttp
from aiohttp import web

from dispatcher.envelope import Delivery, body
from dispatcher.http_delivery import HttpDelivery
from scheduling.vocabulary import Lane, Origin

_ROUNDS = 3
_SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()


class Round(NamedTuple):
    posts_per_s: float
    p50_ms: float
    p99_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=5_000)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    parent, child = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=_serve, args=(child,), daemon=True)
    receiver.start()
    endpoint = f"http://127.0.0.1:{parent.recv()}/"
    try:
        asyncio.run(_compare(endpoint, posts=options.posts, concurrency=options.concurrency))
    finally:
        receiver.kill()
        receiver.join()


async def _compare(endpoint: str, *, posts: int, concurrency: int) -> None:
    delivery = _a_delivery(endpoint)
    content = body(delivery)
    rounds: dict[str, list[Round]] = {"signed": [], "plain": []}
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        HttpDelivery(allow_loopback=True) as http,
        aiohttp.ClientSession(connector=connector) as session,
    ):

        async def signed() -> int | None:
            return (await http.deliver(delivery)).http_status

        async def plain() -> int | None:
            async with session.post(endpoint, data=content) as response:
                await response.read()
                return response.status

        for _ in range(_ROUNDS):
            rounds["signed"].append(await _measure(signed, posts=posts, concurrency=concurrency))
            rounds["plain"].append(await _measure(plain, posts=posts, concurrency=concurrency))
    best = {name: max(found) for name, found in rounds.items()}
    print(f"{posts} posts of {len(content)} bytes, {concurrency} at once, best of {_ROUNDS}")
    for name, one in best.items():
        print(f"{name}: {one.posts_per_s:.0f}/s, p50 {one.p50_ms:.1f} ms, p99 {one.p99_ms:.1f} ms")
    print(f"signed / plain: {best['signed'].posts_per_s / best['plain'].posts_per_s:.2f}")


async def _measure(
    post: Callable[[], Awaitable[int | None]], *, posts: int, concurrency: int
) -> Round:
    latencies_ms: list[float] = []
    remaining = iter(range(posts))

    async def work() -> None:
        for _ in remaining:
            started = time.perf_counter()
            status = await post()
            latencies_ms.append((time.perf_counter() - started) * 1_000)
            if status != 200:
                raise RuntimeError(f"the receiver answered {status}")

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    elapsed_s = time.perf_counter() - started
    cuts = statistics.quantiles(latencies_ms, n=100)
    return Round(posts / elapsed_s, cuts[49], cuts[98])


def _a_delivery(endpoint: str) -> Delivery:
    instant_us = 1_760_000_000_000_000
    return Delivery(
        tenant_id="acme",
        trigger_id="t0123456789",
        trigger_name="bench",
        version=1,
        fire_key=f"acme~t0123456789~{instant_us}~0",
        scheduled_instant_us=instant_us,
        due_at_us=instant_us,
        sequence=0,
        origin=Origin.SCHED,
        lane=Lane.ON_TIME,
        attempt=1,
        tzdata_version="2025.2",
        payload=b'{"amount":1}',
        endpoint=endpoint,
        timeout_s=30,
        signing_secrets=(_SECRET,),
    )


def _serve(channel: Connection) -> None:
    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"duplicate": False})

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        channel.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
