"""What the control API costs: creations a second, the first fire of a new trigger, a large store.

Creations: `punctual api` in a process pinned to one core where there are two, 32 connections from
this process on the others; each creation is a PUT of a new trigger with a payload, answered when
it is on the disk. APScheduler 3 takes turns with it, one `add_job` after the other without any
network. First fires: a real `punctual up`, triggers of every second created at moments spread over
the second. Large: a million triggers, and `punctual up` on them.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.api_creations import CONNECTIONS, Creations, Creator, make_folder
from bench.api_first_fire import FirstFire, first_fires
from bench.api_large import Large, fill, start
from bench.apscheduler_store import VERSION, creations_per_s
from bench.machine import folder_on_disk, fsync_ms
from bench.report import Figure, Report, bench_parser, deliver, middle
from bench.service import core_of_its_own, running
from bench.support import percentile
from scheduling.limits import API_THREADS

CREATIONS_PER_S_MIN: Final = 300
FIRST_FIRE_P99_MS_MAX: Final = 1_000
LARGE_MIB_MAX: Final = 300
LARGE_READY_S_MAX: Final = 10
WAL: Final = ("journal_mode=WAL", "synchronous=FULL")


@dataclass(frozen=True, slots=True)
class Sizes:
    creations: int
    stored: int  # triggers that the tenant has before the first creation
    jobs: int
    rounds: int
    first_fires: int
    large: int
    watched_s: float


FULL: Final = Sizes(2_000, 100_000, 500, 5, 50, 1_000_000, 30.0)
QUICK: Final = Sizes(500, 1_000, 100, 2, 5, 20_000, 5.0)


@dataclass(slots=True)
class Found:
    """What the rounds of creations found, those of the peer and of the disk among them."""

    creations: list[Creations]
    alone: list[Creations]
    peer: list[float]
    peer_wal: list[float]
    syncs_ms: list[float]
    core_ms: list[float]


def main() -> None:
    options = bench_parser(__doc__).parse_args()
    sizes = QUICK if options.quick else FULL
    report = Report("api", "The control API", is_quick=options.quick)
    core = core_of_its_own()
    with folder_on_disk() as folder:
        found = asyncio.run(_create(folder, sizes, core=core))
    with folder_on_disk() as folder:
        fires = asyncio.run(first_fires(folder, triggers=sizes.first_fires))
    with folder_on_disk() as folder:
        large = _measure_large(folder / "data", sizes)
    report.settings = _settings(sizes, core)
    report.figures = [
        *_creation_figures(found),
        *_fire_figures(fires),
        *_large_figures(large, sizes.large),
    ]
    deliver(report, options.json)


async def _create(folder: Path, sizes: Sizes, *, core: int | None) -> Found:
    data = folder / "data"
    now_us = time.time_ns() // 1_000
    make_folder(data, endpoint="http://127.0.0.1:9/", now_us=now_us)
    fill(data, triggers=sizes.stored, now_us=now_us)
    found = Found([], [], [], [], [], [])
    async with running("api", data, core=core) as service:
        creator = Creator(service)
        await creator.round(sizes.creations // 4)
        for _ in range(sizes.rounds):
            before_s = service.processor_s()
            found.creations.append(await creator.round(sizes.creations))
            spent_s = service.processor_s() - before_s
            found.core_ms.append(spent_s / sizes.creations * 1_000)
            found.alone.append(await creator.round(sizes.creations // 8, connections=1))
            found.syncs_ms += fsync_ms(folder)
            found.peer.append(creations_per_s(folder / "peer.db", jobs=sizes.jobs, pragmas=()))
            found.peer_wal.append(creations_per_s(folder / "wal.db", jobs=sizes.jobs, pragmas=WAL))
    return found


def _measure_large(data: Path, sizes: Sizes) -> Large:
    now_us = time.time_ns() // 1_000
    make_folder(data, endpoint="http://127.0.0.1:9/", now_us=now_us)
    fill(data, triggers=sizes.large, now_us=now_us)
    return asyncio.run(start(data, watched_s=sizes.watched_s))


def _settings(sizes: Sizes, core: int | None) -> dict[str, str]:
    where = (
        "one core of its own" if core is not None else "no core of its own: this machine has one"
    )
    return {
        "creations": f"`punctual api` on {where}, {API_THREADS} threads, {CONNECTIONS} connections "
        f"of another process, journal_mode=WAL, synchronous=FULL, a tenant that has "
        f"{sizes.stored:,} triggers already",
        "peer": f"APScheduler {VERSION}, add_job of a CronTrigger in this process, a commit a job: "
        "at its default settings (journal_mode=delete, synchronous=FULL), and on WAL",
        "rounds": f"{sizes.rounds} of {sizes.creations:,} creations and of {sizes.jobs} jobs, "
        "interleaved; figures are medians (lowest to highest)",
        "first fires": f"`punctual up`, {sizes.first_fires} triggers `* * * * * *`; late is what "
        "came after the first instant that the schedule gave",
        "large": f"`punctual up` on {sizes.large:,} daily triggers, none of them due meanwhile; "
        "memory is the most that was resident, at the moment it was ready and after lists, reads, "
        f"metrics and {sizes.watched_s:.0f} s of waking",
    }


def _creation_figures(found: Found) -> Iterator[Figure]:
    rates = [one.per_s for one in found.creations]
    yield middle(f"creations by {CONNECTIONS} connections", rates, "creations/s").claimed(
        ">=", CREATIONS_PER_S_MIN
    )
    syncs_per_s = 1_000 / median(found.syncs_ms)
    yield middle(
        "one creation, p50", [percentile(one.waits_ms, 50) for one in found.creations], "ms"
    )
    yield middle("one creation, p99", [one.p99_ms for one in found.creations], "ms")
    yield middle("processor time of the server for one creation", found.core_ms, "ms")
    yield middle("creations by one connection", [one.per_s for one in found.alone], "creations/s")
    yield middle("a 4 KiB append and its fsync on this disk", found.syncs_ms, "ms")
    yield Figure(
        f"creations by {CONNECTIONS} connections to fsyncs of the disk",
        median(rates) / syncs_per_s,
        "x",
    )
    yield middle("APScheduler 3 at its default settings", found.peer, "add_job/s")
    yield Figure("creations to those", median(rates) / median(found.peer), "x")
    yield middle("APScheduler 3 on WAL", found.peer_wal, "add_job/s")
    yield Figure("creations to those on WAL", median(rates) / median(found.peer_wal), "x")


def _fire_figures(fires: list[FirstFire]) -> Iterator[Figure]:
    late = [fire.late_ms for fire in fires]
    waited = [fire.waited_ms for fire in fires]
    name = "first attempt of a new trigger, after its first instant"
    yield Figure(f"{name}: p99", percentile(late, 99), "ms").claimed("<", FIRST_FIRE_P99_MS_MAX)
    yield Figure(f"{name}: p50", median(late), "ms")
    name = "first attempt of a new trigger, after the answer, the rest of the second included"
    yield Figure(f"{name}: p50", median(waited), "ms")
    yield Figure(f"{name}: p99", percentile(waited, 99), "ms")


def _large_figures(large: Large, triggers: int) -> Iterator[Figure]:
    name = f"{triggers:,} triggers"
    yield Figure(f"{name}: from the start of the process to ready", large.ready_s, "s").claimed(
        "<=", LARGE_READY_S_MAX
    )
    if large.used_mib is not None and large.ready_mib is not None:
        yield Figure(f"{name}: resident memory", large.used_mib, "MiB").claimed("<", LARGE_MIB_MAX)
        yield Figure(f"{name}: resident memory when ready", large.ready_mib, "MiB")
    yield Figure(f"{name}: the store's file", large.file_mib, "MiB")


if __name__ == "__main__":
    main()
