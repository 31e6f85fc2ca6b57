"""From the API's answer to the first attempt: triggers of every second, in a real `punctual up`."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from bench.api_creations import make_folder
from bench.service import running
from bench.support import TARGET, TENANT
from punctual.receiver import DemoReceiver, ReceivedFire
from scheduling.instants import SECOND_US
from schemas.signing_secrets import new_secret

_ARRIVE_S_MAX: Final = 30.0


@dataclass(frozen=True, slots=True)
class FirstFire:
    """Milliseconds from the answer to a creation until its first attempt was verified.

    waited_ms:  all of it, the time until the next second included
    late_ms:    what of it came after the first instant that the trigger could fire at
    """

    waited_ms: float
    late_ms: float


async def first_fires(folder: Path, *, triggers: int) -> list[FirstFire]:
    """One after the other, answered at moments that are spread over the second."""
    data = folder / "data"
    secret = new_secret()
    arrivals: asyncio.Queue[ReceivedFire] = asyncio.Queue()
    async with DemoReceiver([secret], arrivals.put_nowait) as receiver:
        now_us = time.time_ns() // 1_000
        make_folder(data, endpoint=receiver.endpoint, secret=secret, now_us=now_us)
        async with (
            running("up", data) as service,
            aiohttp.ClientSession(service.url, headers=service.headers) as session,
        ):
            await _settle(session)
            found = []
            for number in range(triggers):
                await _until_part_of_second(number / triggers)
                found.append(await _first_fire(session, arrivals, name=f"first-{number}"))
            return found


async def _settle(session: aiohttp.ClientSession) -> None:
    """Until it is ready: a trigger that is put before has to wait for the leases."""
    while True:
        async with session.get("/readyz") as answer:
            if answer.status == 200:
                return
        await asyncio.sleep(0.2)


async def _until_part_of_second(part: float) -> None:
    await asyncio.sleep((part - time.time()) % 1)


async def _first_fire(
    session: aiohttp.ClientSession, arrivals: asyncio.Queue[ReceivedFire], *, name: str
) -> FirstFire:
    path = f"/v1/tenants/{TENANT}/triggers/{name}"
    body = {"schedule": "* * * * * *", "zone": "UTC", "target": TARGET}
    async with session.put(path, json=body) as answer:
        text = await answer.text()
        answered_us = time.time_ns() // 1_000
        if answer.status != 201:
            raise RuntimeError(f"a creation was answered with {answer.status}: {text}")
    async with asyncio.timeout(_ARRIVE_S_MAX):
        fire = await arrivals.get()
        while fire.trigger != name:
            fire = await arrivals.get()
    async with session.delete(path) as answer:
        await answer.read()
    if fire.due_at_us > answered_us + SECOND_US:
        raise RuntimeError(f"{name}: its first instant was left out")
    waited_us = fire.received_at_us - answered_us
    possible_us = max(answered_us, fire.due_at_us)
    return FirstFire(waited_us / 1_000, (fire.received_at_us - possible_us) / 1_000)
