"""Whether a wake costs the same with 100,000 registered triggers as with 10,000.

Two stores in turn, on the decider's own pass (`Decider.step`), second by second of a set clock.
Ten triggers are due every ten seconds; all others are due on a day that never comes near. A busy
pass decides, commits and publishes those ten; the passes between are idle, and bear the
heartbeats, sweeps and looks of their second. What was published is delivered between the passes,
untimed. The claims are made with synchronous=OFF: waiting for the disk is the same at any size,
and would hide a growth of the rest. The busy pass with its waits stands beside them.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adapters.lanes_local import LocalLanes
from adapters.sqlite_database import SqliteDatabase
from bench.machine import folder_on_disk
from bench.report import Figure, Report, bench_parser, deliver, middle
from bench.support import START_US, SetClock, store_with, triggers_named
from ports.records import ClaimRequest, FinishRequest
from punctual.decider import Decider
from punctual.logs import configure_logs
from scheduling.instants import SECOND_US
from scheduling.limits import COMMIT_ROWS_MAX
from scheduling.retry import AttemptResult
from scheduling.vocabulary import Lane, TransportResult

SMALL: Final = 10_000
LARGE: Final = 100_000
DUE: Final = 10
CYCLE_S: Final = 10
RATIO_MAX: Final = 1.2
_LEASE_US: Final = 6 * SECOND_US


@dataclass(slots=True)
class Costs:
    """Milliseconds of the passes of each cycle: the busy one, and the mean of the idle ones."""

    busy_ms: list[float] = field(default_factory=list)
    idle_ms: list[float] = field(default_factory=list)


class Host:
    """A decider on a store of its own, moved by hand."""

    def __init__(self, folder: Path, *, triggers: int, synchronous: str) -> None:
        path = folder / f"{triggers}-{synchronous}.db"
        due = triggers_named("due", f"*/{CYCLE_S} * * * * *", amount=DUE)
        others = triggers_named("far", "0 0 29 2 *", amount=triggers - DUE)
        self._store = store_with(path, due + others, now_us=START_US, synchronous=synchronous)
        self._lane_database = SqliteDatabase(
            path, synchronous="NORMAL" if synchronous == "FULL" else "OFF"
        )
        self._lanes = LocalLanes(self._lane_database)
        self._clock = SetClock(START_US + SECOND_US // 2)
        self._decider = Decider(
            store=self._store,
            lanes=self._lanes,
            clock=self._clock,
            owner_id="bench",
            lease_ttl_us=_LEASE_US,
        )
        self._decider.step()
        self.costs = Costs()

    def cycle(self) -> None:
        """Ten seconds: one pass that decides ten fires, nine that find nothing due."""
        idle_ms: list[float] = []
        for _ in range(CYCLE_S):
            self._clock.set_to(self._clock.now().wall_us + SECOND_US)
            started = time.perf_counter()
            done = self._decider.step()
            elapsed_ms = (time.perf_counter() - started) * 1_000
            if done.fires == DUE:
                self.costs.busy_ms.append(elapsed_ms)
                self._deliver_all()
            elif done.fires == 0:
                idle_ms.append(elapsed_ms)
            else:
                raise RuntimeError(f"{done.fires} fires decided, {DUE} were due")
        if len(idle_ms) != CYCLE_S - 1:
            raise RuntimeError(f"{CYCLE_S - len(idle_ms)} busy passes in a cycle, not 1")
        self.costs.idle_ms.append(sum(idle_ms) / len(idle_ms))

    def close(self) -> None:
        self._lane_database.close()
        self._store.close()

    def _deliver_all(self) -> None:
        now_us = self._clock.now().wall_us
        taken = self._lanes.pull(
            [Lane.ON_TIME], limit=COMMIT_ROWS_MAX, now_us=now_us, lease_us=SECOND_US
        )
        requests = [ClaimRequest(item.message.key, item.message.n) for item in taken]
        claimed = self._store.ledger.claim(requests, now_us=now_us)
        self._lanes.ack([item.handle for item in taken])
        result = AttemptResult(TransportResult.RESPONSE, 200)
        self._store.ledger.finish(
            [FinishRequest(fire.key, fire.n, result, now_us) for fire in claimed]
        )
        if len(claimed) != DUE:
            raise RuntimeError(f"{len(claimed)} fires claimed, not {DUE}")


def main() -> None:
    options = bench_parser(__doc__).parse_args()
    configure_logs(level="warning", as_json=False)
    cycles = 20 if options.quick else 100
    report = Report("wake", "The cost of a wake", is_quick=options.quick)
    report.settings = {
        "due": f"{DUE} triggers every {CYCLE_S} s; the others every 29 February",
        "rounds": f"{cycles} cycles of {CYCLE_S} passes on each store, interleaved, after two "
        "that are dropped; figures are medians (lowest to highest)",
    }
    with folder_on_disk() as folder:
        small, large = compare(folder, synchronous="OFF", cycles=cycles)
        report.figures = _figures("busy pass", small.busy_ms, large.busy_ms, is_claim=True)
        report.figures += _figures("idle pass", small.idle_ms, large.idle_ms, is_claim=True)
        small, large = compare(folder, synchronous="FULL", cycles=cycles)
    name = "busy pass with its disk waits"
    report.figures += _figures(name, small.busy_ms, large.busy_ms, is_claim=False)
    deliver(report, options.json)


def compare(folder: Path, *, synchronous: str, cycles: int) -> tuple[Costs, Costs]:
    """The costs of the small and of the large store, measured in turns."""
    hosts = [
        Host(folder, triggers=triggers, synchronous=synchronous) for triggers in (SMALL, LARGE)
    ]
    for turn in range(cycles + 2):
        # Who goes first changes, so that a disturbance of some rhythm hits both.
        for host in hosts if turn % 2 else reversed(hosts):
            host.cycle()
        if turn == 1:
            for host in hosts:
                host.costs = Costs()
    for host in hosts:
        host.close()
    return hosts[0].costs, hosts[1].costs


def _figures(
    name: str, small_ms: Sequence[float], large_ms: Sequence[float], *, is_claim: bool
) -> list[Figure]:
    at_small = middle(f"{name}, {SMALL:,} triggers", small_ms, "ms")
    at_large = middle(f"{name}, {LARGE:,} triggers", large_ms, "ms")
    ratio = Figure(f"{name}, {LARGE:,} triggers to {SMALL:,}", at_large.value / at_small.value, "x")
    return [ratio.claimed("<=", RATIO_MAX) if is_claim else ratio, at_small, at_large]


if __name__ == "__main__":
    main()
