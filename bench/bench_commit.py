"""How many fires a second are decided and durably committed on one SQLite file.

All triggers are due in the same second, every minute anew. A round is what the decider does then,
without publishing: `next_due`, and `commit_due` of each partition until nothing is left, each in
a transaction that waits for the disk. The first round, which compiles every recurrence, is
dropped. APScheduler 3 takes turns with ours, round by round, at its default settings and on WAL.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.apscheduler_store import VERSION, Peer
from bench.commit_stages import stage_costs_us
from bench.machine import folder_on_disk, fsync_ms
from bench.report import Figure, Report, bench_parser, deliver, middle
from bench.support import START_US, Round, decide_all, hold_all, store_with, triggers_named
from scheduling.instants import SECOND_US
from scheduling.limits import COMMIT_ROWS_MAX

MINUTE_US: Final = 60 * SECOND_US
FIRES_PER_S_MIN: Final = 20_000
PEER_RATIO_MIN: Final = 25
WAL: Final = ("journal_mode=WAL", "synchronous=FULL")


@dataclass(frozen=True, slots=True)
class Sizes:
    triggers: int
    jobs: int
    rounds: int


FULL: Final = Sizes(triggers=100_000, jobs=5_000, rounds=5)
QUICK: Final = Sizes(triggers=10_000, jobs=500, rounds=3)


def main() -> None:
    options = bench_parser(__doc__).parse_args()
    sizes = QUICK if options.quick else FULL
    report = Report("commit", "Decide and commit", is_quick=options.quick)
    with folder_on_disk() as folder:
        _measure(folder, sizes, report)
    deliver(report, options.json)


def _measure(folder: Path, sizes: Sizes, report: Report) -> None:
    path = folder / "punctual.db"
    triggers = triggers_named("n", "* * * * *", amount=sizes.triggers)
    store = store_with(path, triggers, now_us=START_US + MINUTE_US // 2)
    peers = [
        Peer(folder / f"peer-{number}.db", jobs=sizes.jobs, pragmas=pragmas, due_us=_minute(1))
        for number, pragmas in enumerate(((), WAL))
    ]
    ours: list[Round] = []
    rates: tuple[list[float], ...] = tuple([] for _ in peers)
    syncs: list[float] = []
    for turn in range(sizes.rounds + 1):
        now_us = _minute(turn + 1)
        held = hold_all(store.leases, now_us=now_us)
        one = decide_all(store.due_index, held, now_us=now_us)
        if one.fires != sizes.triggers:
            raise RuntimeError(f"{one.fires} fires decided, {sizes.triggers} were due")
        syncs += fsync_ms(folder)
        rated = [peer.fires_per_s(now_us) for peer in peers]
        if turn:
            ours.append(one)
            for rate, found in zip(rated, rates, strict=True):
                found.append(rate)
    store.close()
    for peer in peers:
        peer.close()
    _check_ledger(path, fires=sizes.triggers, rounds=sizes.rounds + 1)
    stages = stage_costs_us(path, now_us=_minute(sizes.rounds + 2))
    report.settings = _settings(sizes, peers, syncs)
    report.figures = [*_figures(sizes, ours, rates), *_stage_figures(stages, ours, syncs)]


def _minute(number: int) -> int:
    return START_US + number * MINUTE_US


def _check_ledger(path: Path, *, fires: int, rounds: int) -> None:
    """A connection of its own finds every fire of every round in the file, each once."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT count(*), count(DISTINCT scheduled_instant) FROM fire WHERE state = 'ready'"
        ).fetchone()
    if found != (fires * rounds, rounds):
        raise RuntimeError(f"{found} fires and instants in the ledger, not {fires * rounds}")


def _settings(sizes: Sizes, peers: list[Peer], syncs: list[float]) -> dict[str, str]:
    return {
        "ours": f"{sizes.triggers:,} triggers `* * * * *`, overlap allow, one thread, "
        f"journal_mode=WAL, synchronous=FULL, {COMMIT_ROWS_MAX} rows a transaction at most",
        "peer": f"APScheduler {VERSION}, {sizes.jobs:,} jobs of CronTrigger(minute='*'), an "
        f"executor that runs nothing, a commit a job: {peers[0].durability} (its default); "
        f"and {peers[1].durability}",
        "rounds": f"{sizes.rounds} of each, interleaved, after one that is dropped; "
        "figures are medians (lowest to highest)",
    }


def _figures(sizes: Sizes, ours: list[Round], rates: tuple[list[float], ...]) -> list[Figure]:
    default, wal = rates
    own = [one.fires_per_s for one in ours]
    due = f"{sizes.triggers:,} triggers due in one second"
    # Its fastest round, so that a disturbance of the peer alone is no merit of ours.
    ratio = Figure(
        "times APScheduler 3 at its default settings, in its fastest round",
        median(own) / max(default),
        "x",
    )
    return [
        middle(f"{due}: decided and committed", own, "fires/s").claimed(">=", FIRES_PER_S_MIN),
        ratio.claimed(">=", PEER_RATIO_MIN),
        middle("APScheduler 3 at its default settings", default, "fires/s"),
        middle("APScheduler 3 on WAL", wal, "fires/s"),
        Figure("times APScheduler 3 on WAL, in its fastest round", median(own) / max(wal), "x"),
        middle("fires in one transaction", [one.fires / one.transactions for one in ours], ""),
    ]


def _stage_figures(stages: dict[str, float], ours: list[Round], syncs: list[float]) -> list[Figure]:
    transactions = median(one.transactions for one in ours)
    fires = median(one.fires for one in ours)
    sync_us = median(syncs) * 1_000
    return [
        middle("a 4 KiB append and its fsync on this disk", syncs, "ms"),
        Figure("that fsync, shared by a transaction's fires", sync_us * transactions / fires, "µs"),
        *(Figure(f"one fire, {name}", value_us, "µs") for name, value_us in stages.items()),
    ]


if __name__ == "__main__":
    main()
