"""How late fires reach a receiver on the same machine, from a real `punctual up`.

The service runs in a process of its own on a fresh data folder, with a manifest; this process
is the receiver. Two runs: 1,000 triggers due in the same second every ten seconds, and a lone
trigger due every second. Lateness is the arrival, once the signature is verified, less `due_at`;
the ledger's own figure (first dispatch less `due_at`) stands beside it. Every instant must have
arrived exactly once, and the ledger must agree.
"""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.machine import folder_on_disk
from bench.report import Figure, Report, bench_parser, deliver
from bench.support import percentile
from punctual.data_folder import open_data_folder
from punctual.receiver import DemoReceiver, ReceivedFire
from scheduling.limits import EPSILON_US_DEFAULT
from scheduling.vocabulary import FireState
from schemas.signing_secrets import new_secret

BURST_P99_MS_MAX: Final = 1_000
LONE_P99_MS_MAX: Final = 50
TENANT: Final = "acme"
_PAGE_ROWS: Final = 5_000
_START: Final = "from punctual.cli import main; main()"
_STOP_S_MAX: Final = 60
_SAID_CHARS_MAX: Final = 2_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """So many triggers of one schedule, watched for so many instants after the first."""

    triggers: int
    schedule: str
    every_s: int
    instants: int


@dataclass(frozen=True, slots=True)
class Watched:
    """Milliseconds by instant, the earliest first: at the receiver, and by the ledger."""

    received_ms: list[list[float]]
    dispatched_ms: list[list[float]]


BURST: Final = Scenario(triggers=1_000, schedule="*/10 * * * * *", every_s=10, instants=7)
LONE: Final = Scenario(triggers=1, schedule="* * * * * *", every_s=1, instants=100)
QUICK_BURST: Final = Scenario(triggers=1_000, schedule="*/5 * * * * *", every_s=5, instants=2)
QUICK_LONE: Final = Scenario(triggers=1, schedule="* * * * * *", every_s=1, instants=10)


def main() -> None:
    options = bench_parser(__doc__).parse_args()
    burst, lone = (QUICK_BURST, QUICK_LONE) if options.quick else (BURST, LONE)
    report = Report("lateness", "Lateness at a local receiver", is_quick=options.quick)
    report.settings = {
        "service": "`punctual up` with its defaults in a process of its own, an epsilon of "
        f"{EPSILON_US_DEFAULT / 1_000:.0f} ms (no fire leaves sooner after its due time)",
        "receiver": "punctual.receiver in this process; it verifies each signature",
        "burst": _words(burst),
        "lone trigger": _words(lone),
    }
    report.figures = [
        *_figures("1,000 triggers due in one second", watch(burst), bound_ms=BURST_P99_MS_MAX),
        *_figures("a lone trigger", watch(lone), bound_ms=LONE_P99_MS_MAX),
    ]
    deliver(report, options.json)


def watch(scenario: Scenario) -> Watched:
    """Run the service on the scenario, and check what arrived against the ledger."""
    arrived: list[ReceivedFire] = []
    with folder_on_disk() as folder:
        asyncio.run(_serve(folder, scenario, arrived))
        first_dispatched = dict(_ledger(folder / "data"))
    counts = Counter(fire.fire_key for fire in arrived)
    if counts.keys() != first_dispatched.keys() or set(counts.values()) != {1}:
        raise RuntimeError(
            f"{len(arrived)} arrivals of {len(counts)} fires, {len(first_dispatched)} in the ledger"
        )
    by_instant: dict[int, list[ReceivedFire]] = {}
    for fire in arrived:
        by_instant.setdefault(fire.due_at_us, []).append(fire)
    whole = [fires for _, fires in sorted(by_instant.items()) if len(fires) == scenario.triggers]
    if len(whole) < scenario.instants:
        raise RuntimeError(f"{len(whole)} whole instants arrived, not {scenario.instants}")
    return Watched(
        [[fire.lateness_s * 1_000 for fire in fires] for fires in whole],
        [
            [(first_dispatched[fire.fire_key] - fire.due_at_us) / 1_000 for fire in fires]
            for fires in whole
        ],
    )


async def _serve(folder: Path, scenario: Scenario, arrived: list[ReceivedFire]) -> None:
    secret = new_secret()
    enough = asyncio.Event()
    wanted = scenario.triggers * (scenario.instants + 1)

    def take(fire: ReceivedFire) -> None:
        arrived.append(fire)
        if len(arrived) >= wanted:
            enough.set()

    async with DemoReceiver([secret], take) as receiver:
        manifest = folder / "bench.yaml"
        lines = _manifest(scenario, endpoint=receiver.endpoint, secret=secret)
        manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ("up", "--data", str(folder / "data"), "--manifest", str(manifest))
        with (folder / "up.log").open("wb") as log:
            service = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _START, *command, stdout=log, stderr=log
            )
        ended = asyncio.create_task(service.wait())
        watching = asyncio.create_task(enough.wait())
        await asyncio.wait(
            (ended, watching),
            timeout=(scenario.instants + 3) * scenario.every_s + 30,
            return_when=asyncio.FIRST_COMPLETED,
        )
        watching.cancel()
        if service.returncode is None:
            service.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(ended, _STOP_S_MAX)
        except TimeoutError:
            service.kill()
            await service.wait()
    said = (folder / "up.log").read_text(encoding="utf-8")[-_SAID_CHARS_MAX:]
    if service.returncode != 0 or not enough.is_set():
        raise RuntimeError(f"{len(arrived)} of {wanted} fires arrived; the service said:\n{said}")


def _manifest(scenario: Scenario, *, endpoint: str, secret: str) -> Iterator[str]:
    yield "tenants:"
    yield f"  {TENANT}:"
    yield "    quota_dispatch_per_s: 10000"
    yield "    quota_inflight: 10000"
    yield "    smear_s: 0"
    yield "    targets:"
    yield f'      hook: {{url: "{endpoint}", secret: "{secret}"}}'
    yield "    defaults: {zone: UTC, target: hook}"
    yield "    triggers:"
    for number in range(scenario.triggers):
        yield f'      n{number}: {{schedule: "{scenario.schedule}", payload: {{number: {number}}}}}'


def _ledger(data: Path) -> Iterator[tuple[str, int]]:
    """Fire keys and their first dispatch; RuntimeError for a fire that was not accepted."""
    with closing(open_data_folder(data, create=False)) as folder:
        after = None
        while rows := folder.store.history.fires(tenant_id=TENANT, after=after, limit=_PAGE_ROWS):
            for row in rows:
                if row.state is not FireState.ACCEPTED or row.first_dispatched_us is None:
                    raise RuntimeError(f"{row.key} ended as {row.state}")
                yield str(row.key), row.first_dispatched_us
            after = rows[-1].key


def _figures(name: str, watched: Watched, *, bound_ms: float) -> Iterator[Figure]:
    """The claim over all fires; the rest says how they lie."""
    received = [one for instant in watched.received_ms for one in instant]
    dispatched = [one for instant in watched.dispatched_ms for one in instant]
    yield Figure(f"{name}: p99 at the receiver", percentile(received, 99), "ms").claimed(
        "<", bound_ms
    )
    yield Figure(f"{name}: p50 at the receiver", median(received), "ms")
    yield Figure(f"{name}: latest at the receiver", max(received), "ms")
    yield Figure(f"{name}: earliest at the receiver", min(received), "ms")
    yield Figure(f"{name}: p99 of the first dispatch", percentile(dispatched, 99), "ms")
    if len(watched.received_ms[0]) > 1:
        each = [percentile(instant, 99) for instant in watched.received_ms]
        yield Figure(f"{name}: p99, by burst", median(each), "ms", min(each), max(each))


def _words(scenario: Scenario) -> str:
    return f"{scenario.triggers:,} x `{scenario.schedule}`, {scenario.instants} instants or more"


if __name__ == "__main__":
    main()
