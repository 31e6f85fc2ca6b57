"""A store of a million triggers, and `punctual up` on it: when it is ready, and its memory."""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import aiohttp

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_database import SqliteDatabase
from adapters.sqlite_definitions import insert_version
from adapters.sqlite_versions import Versions
from bench.service import running
from bench.support import TENANT, triggers_named
from punctual.data_folder import KEYS_FOLDER, STORE_FILE
from scheduling import compile_recurrence
from scheduling.instants import SECOND_US, from_us
from scheduling.keys import partition_of, trigger_id_of
from scheduling.vocabulary import SpanKind
from scheduling.zones import tzdata_version

_BATCH: Final = 20_000
_HOUR_US: Final = 3_600 * SECOND_US
_ACTOR: Final = "bench"
_POLL_S: Final = 0.05
_ROUNDS: Final = 5
_READY_S_MAX: Final = 120


@dataclass(frozen=True, slots=True)
class Large:
    """Seconds from the start of the process until it was ready, and the most memory it took."""

    ready_s: float
    ready_mib: float | None
    used_mib: float | None
    file_mib: float


def fill(data: Path, *, triggers: int, now_us: int) -> None:
    """So many daily triggers in a data folder, none of them due within the hour.

    Written as rows, in the order of the file and without waiting for the disk: by the API they
    would take an hour.
    """
    database = SqliteDatabase(data / STORE_FILE, synchronous="OFF")
    with closing(database):
        context = SqliteContext(
            database=database,
            versions=Versions(database.sql),
            payload_keys=TinkPayloadKeys(data / KEYS_FOLDER),
            tzdata_version=tzdata_version(),
        )
        named = (
            (trigger_id_of(TENANT, _name(each), generation=0), each) for each in range(triggers)
        )
        ordered = sorted(named)
        for first in range(0, triggers, _BATCH):
            batch = ordered[first : first + _BATCH]
            with context.versions.changing(), database.write() as connection:
                _insert(connection, context, batch, now_us=now_us)


async def start(data: Path, *, watched_s: float) -> Large:
    """Run the service on the folder until it has been used for so many seconds."""
    started = time.perf_counter()
    async with running("up", data) as service:
        async with aiohttp.ClientSession(service.url, headers=service.headers) as session:
            await _until_ready(session)
            ready_s = time.perf_counter() - started
            ready_mib = service.peak_mib()
            await _use(session, until_s=time.perf_counter() + watched_s)
        used_mib = service.peak_mib()
    file_mib = (data / STORE_FILE).stat().st_size / 2**20
    return Large(ready_s, ready_mib, used_mib, file_mib)


async def _until_ready(session: aiohttp.ClientSession) -> None:
    for _ in range(round(_READY_S_MAX / _POLL_S)):
        async with session.get("/readyz") as answer:
            if answer.status == 200:
                return
        await asyncio.sleep(_POLL_S)
    raise RuntimeError(f"not ready within {_READY_S_MAX} s")


async def _use(session: aiohttp.ClientSession, *, until_s: float) -> None:
    """What people and probes ask of it: several at a time, so that every thread has read."""
    for _ in range(_ROUNDS):
        await asyncio.gather(*(_get(session, path) for path in _PATHS for _ in range(4)))
    await asyncio.sleep(until_s - time.perf_counter())


async def _get(session: aiohttp.ClientSession, path: str) -> None:
    async with session.get(path) as answer:
        text = await answer.text()
    if answer.status != 200:
        raise RuntimeError(f"{path} was answered with {answer.status}: {text}")


def _insert(
    connection: sqlite3.Connection,
    context: SqliteContext,
    batch: Sequence[tuple[str, int]],
    *,
    now_us: int,
) -> None:
    sql = context.sql
    for trigger_id, number in batch:
        key, schedule = (TENANT, trigger_id), _schedule(number, now_us)
        partition_id = partition_of(trigger_id)
        connection.execute(
            sql["registry_insert_trigger"], (*key, _name(number), partition_id, now_us, now_us)
        )
        insert_version(
            connection,
            context,
            key,
            version=1,
            definition=replace(_DEFINITION, recurrence=(schedule,)),
            now_us=now_us,
            actor=_ACTOR,
        )
        connection.execute(
            sql["commit_insert_span"],
            (*key, 1, now_us, SpanKind.LIVE.value, 1, None, None, _ACTOR),
        )
        due_us = compile_recurrence(schedule, "UTC").next_after_us(now_us)
        connection.execute(
            sql["rebuild_insert_row"],
            (*key, partition_id, 1, 1, now_us, now_us, due_us, None, 0),
        )
    connection.execute(sql["registry_add_live"], (len(batch), TENANT))


def _name(number: int) -> str:
    return f"n{number:07}"


def _schedule(number: int, now_us: int) -> str:
    """Daily, an hour and a half to 23 hours from now."""
    first = from_us(now_us + 2 * _HOUR_US).hour
    return f"{number % 60} {(first + number // 60 % 21) % 24} * * *"


_DEFINITION: Final = triggers_named("n", "0 0 * * *", amount=1)[0].definition
_PATHS: Final = (
    f"/v1/triggers?tenant={TENANT}&limit=1000",
    f"/v1/triggers?tenant={TENANT}&prefix=n05&limit=100",
    f"/v1/tenants/{TENANT}/triggers/n0000007",
    f"/v1/tenants/{TENANT}/upcoming",
    f"/v1/fires?tenant={TENANT}",
    "/readyz",
    "/metrics",
)
