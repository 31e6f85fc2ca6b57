"""Two processes on one file share the partitions; one that dies is replaced within its TTL."""

import time
from pathlib import Path

from scheduling.instants import SECOND_US
from scheduling.limits import PARTITIONS
from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.seconds_oracle import cover_problems, instants
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import ServiceProcess, wait_until

TTL_S = 2
NAMES = [f"tick-{number}" for number in range(40)]


def _fires_of(process: ServiceProcess) -> int:
    return sum("fire_finished" in line for line in process.err)


def test_two_processes_share_the_work_and_one_takes_over_from_the_dead(
    start: Start, tmp_path: Path, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    file = write_manifest(
        tmp_path / "acme.yaml", receiver.url(), {name: a_trigger() for name in NAMES}
    )
    options = ("--manifest", file, "--lease-ttl-s", TTL_S, "--log-level", "debug")
    first, second = start(*options), start(*options)
    halves = [PARTITIONS // 2, PARTITIONS // 2]
    wait_until(lambda: list(ledger.owners().values()) == halves, "they share the partitions")
    before = _fires_of(first), _fires_of(second)
    wait_until(lambda: _fires_of(first) > before[0], "the first one sends")
    wait_until(lambda: _fires_of(second) > before[1], "the second one sends")

    (dead,) = (owner for owner in ledger.owners() if f"-{first.pid}-" in owner)
    (heir,) = ledger.owners().keys() - {dead}
    killed_us = time.time_ns() // 1_000
    first.kill()
    wait_until(lambda: ledger.owners() == {heir: PARTITIONS}, "the second one takes them all")
    taken = [
        (at_us, note)
        for actor, action, prior, note, at_us in ledger.audit()
        if action == "lease_transfer" and actor == heir and dead in (prior or "")
    ]
    assert [note for _, note in taken][-1] == "acquired"
    assert taken[-1][0] - killed_us < (TTL_S + 3) * SECOND_US
    taken_over_us = taken[-1][0]
    wait_until(
        lambda: all(
            row.decided_through_us > taken_over_us + SECOND_US for row in ledger.triggers().values()
        ),
        "every trigger goes on",
    )
    assert second.stop() == 0, str(second)
    assert ledger.owners() == {}
    for name, trigger in ledger.triggers().items():
        expected = instants("*", after_us=trigger.created_us, through_us=trigger.decided_through_us)
        assert list(cover_problems(expected, ledger.rows(name))) == []
