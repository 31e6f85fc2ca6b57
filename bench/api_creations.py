"""Triggers created through the API: 32 connections against one server on one core."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from bench.service import Service
from bench.support import TARGET, TENANT, percentile
from ports.changes import PutTarget, PutTenant
from ports.records import TargetRecord, TenantRecord
from punctual.data_folder import open_data_folder
from scheduling.vocabulary import OwnershipState

CONNECTIONS: Final = 32


@dataclass(frozen=True, slots=True)
class Creations:
    """One round: how many, in how many seconds, and how long each took for its caller."""

    count: int
    elapsed_s: float
    waits_ms: list[float]

    @property
    def per_s(self) -> float:
        return self.count / self.elapsed_s

    @property
    def p99_ms(self) -> float:
        return percentile(self.waits_ms, 99)


def make_folder(data: Path, *, endpoint: str, now_us: int, secret: str | None = None) -> None:
    """A data folder with one tenant, whose quotas are out of the way, and one target."""
    tenant = TenantRecord(
        tenant_id=TENANT,
        quota_triggers=10_000_000,
        quota_dispatch_per_s=10_000,
        quota_inflight=1_000_000,
        catchup_rate_pct=10,
        smear_s=0,
    )
    target = TargetRecord(
        tenant_id=TENANT, target_id=TARGET, endpoint=endpoint, timeout_s=5.0, secret=secret
    )
    with closing(open_data_folder(data, create=True)) as folder:
        folder.store.registry.apply(
            [
                PutTenant(tenant=tenant),
                PutTarget(target=target, ownership=OwnershipState.LOCAL),
            ],
            now_us=now_us,
            actor="bench",
        )


class Creator:
    """Creates triggers, round by round, each under a name that was not there before."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._made = 0

    async def round(self, count: int, *, connections: int = CONNECTIONS) -> Creations:
        """So many creations, each answered before its connection sends the next."""
        numbers = iter(range(self._made, self._made + count))
        self._made += count
        waits_ms: list[float] = []
        async with aiohttp.ClientSession(
            self._service.url,
            headers=self._service.headers,
            connector=aiohttp.TCPConnector(limit=connections),
        ) as session:
            started = time.perf_counter()
            await asyncio.gather(*(_create(session, numbers, waits_ms) for _ in range(connections)))
            elapsed_s = time.perf_counter() - started
        return Creations(count, elapsed_s, waits_ms)


async def _create(
    session: aiohttp.ClientSession, numbers: Iterator[int], waits_ms: list[float]
) -> None:
    for number in numbers:
        body = {
            "schedule": f"{number % 60} {number % 24} * * *",
            "zone": "Europe/Berlin",
            "target": TARGET,
            "payload": {"number": number},
        }
        path = f"/v1/tenants/{TENANT}/triggers/n{number}"
        started = time.perf_counter()
        async with session.put(path, json=body) as answer:
            text = await answer.text()
        waits_ms.append((time.perf_counter() - started) * 1_000)
        if answer.status != 201:
            raise RuntimeError(f"a creation was answered with {answer.status}: {text}")
