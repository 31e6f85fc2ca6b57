"""The real process killed again and again: what was due is covered, sent, and never sent early."""

import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from scheduling.instants import SECOND_US, to_text
from tests.support.http_receiver import HttpReceiver
from tests.support.kill_storm import Verdict, gather, moody, storm_manifest
from tests.support.ledger_file import LedgerFile
from tests.support.service_process import ServiceProcess, wait_until

SEED: Final = 20_261_130
KILLS_OF_ONE: Final = 20
KILLS_OF_TWO: Final = 14  # with two processes on the file
STILL_AFTER: Final = frozenset({7, 15})  # kills after which nothing runs for longer than grace
STILL_S: Final = 7.5
CALM_S: Final = 90.0
ENDS_AFTER_S: Final = 10  # longer than an edit takes on a busy machine


class Storm:
    """Keeps one process or two at work on the file, and kills at drawn moments."""

    def __init__(self, folder: Path, receiver: HttpReceiver, stack: ExitStack) -> None:
        self.ledger = LedgerFile(folder / "data")
        self.started: list[ServiceProcess] = []
        self._folder = folder
        self._receiver = receiver
        self._stack = stack
        self._random = random.Random(SEED)
        self._running: list[ServiceProcess] = []
        self.write_manifest()

    def write_manifest(self, *, ends_at: str | None = None) -> None:
        text = storm_manifest(self._receiver.url(), ends_at=ends_at)
        (self._folder / "acme.yaml").write_text(text)

    def start(self) -> ServiceProcess:
        process = self._stack.enter_context(
            ServiceProcess(
                self._folder / "data", "--manifest", self._folder / "acme.yaml", "--lease-ttl-s", 1
            )
        )
        self.started.append(process)
        return process

    def kill_one(self, *, of: int) -> str:
        """At least `of` processes run; one dies, and how it came about is told."""
        while len(self._running) < of:
            self._running.append(self.start())
        moment = self._wait_for_a_moment()
        victim = self._running.pop(self._random.randrange(len(self._running)))
        assert victim.is_running, str(victim)
        at = f"{time.time() % 60:06.3f}"
        victim.kill()
        return f"one of {of}, {moment} at {at}"

    def calm_down(self) -> int:
        """Kill the rest, then let all come to its end; when that was set to be.

        The end is set once the last process runs, since a start may take long on a busy machine:
        an instant beyond the end that is decided before the edit would be none of the edit's.
        """
        for process in self._running:
            process.kill()
        last = self.start()
        wait_until(lambda: _has_applied(last), "the last one runs", timeout_s=CALM_S)
        ends_us = (int(time.time()) + ENDS_AFTER_S) * SECOND_US
        self.write_manifest(ends_at=to_text(ends_us))
        last.send(signal.SIGHUP)
        wait_until(self._is_calm, "everything comes to its end", timeout_s=CALM_S)
        assert last.stop() == 0, str(last)
        return ends_us

    def _is_calm(self) -> bool:
        triggers = self.ledger.triggers().values()
        return all(row.state == "finished" for row in triggers) and self.ledger.waiting() == 0

    def _wait_for_a_moment(self) -> str:
        """Some hit the start, which takes a second or two; most hit where something happens."""
        moment = self._random.choice(("anywhere", "decision", "decision", "attempt"))
        if moment != "anywhere":
            wait_until(lambda: all(map(_has_applied, self._running)), "all run", timeout_s=CALM_S)
        time.sleep(self._random.uniform(0.2, 2.4))
        if moment == "decision":  # every instant is a whole second
            time.sleep(1 - time.time() % 1 + self._random.uniform(0.0, 0.08))
        elif moment == "attempt":
            end_s = time.monotonic() + 1.5
            while not self._receiver.open and time.monotonic() < end_s:
                time.sleep(0.002)
        return moment


def _has_applied(process: ServiceProcess) -> bool:
    """Whether its manifest is applied, so that it decides and delivers."""
    return any(line.startswith(("  created", "Manifest applied")) for line in process.out)


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with HttpReceiver(moody) as receiver:
        yield receiver


def test_process_killed_at_any_moment_loses_nothing_and_sends_nothing_early(
    tmp_path: Path, receiver: HttpReceiver
) -> None:
    _tell(f"seed {SEED}")
    with ExitStack() as stack:
        storm = Storm(tmp_path, receiver, stack)
        for number in range(KILLS_OF_ONE + KILLS_OF_TWO):
            _tell(f"kill {number}: {storm.kill_one(of=1 if number < KILLS_OF_ONE else 2)}")
            if number in STILL_AFTER:
                time.sleep(STILL_S)
        ends_us = storm.calm_down()
    verdict = Verdict(gather(storm.ledger, receiver), ends_us=ends_us)
    _tell(verdict.summary())
    assert verdict.problems() == []
    # A storm without these would not have tried the policies.
    assert set(verdict.causes) >= {"coalesced", "skipped_by_policy", "overlap"}
    assert receiver.problems == []
    assert storm.ledger.integrity() == "ok"
    assert [line for process in storm.started for line in process.err if "error" in line] == []


def _tell(line: str) -> None:
    """For whoever runs it with -s, and beside a failure."""
    sys.stdout.write(f"{line}\n")
