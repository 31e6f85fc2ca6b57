"""Whether the service can do its work now: commit, and decide.

Liveness asks nothing of the store: a process that answers is alive.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from control_api.signals import ClockWatch, unleased_partitions
from ports.errors import PortError, TzdataMismatch
from ports.store import Store
from scheduling.clock_gate import ClockReading, GateReason, GateVerdict
from scheduling.instants import to_text
from scheduling.keys import partition_ranges
from scheduling.limits import EPSILON_MAX_US
from scheduling.zones import tzdata_version

COMMIT_WAIT_S: Final = 1.0  # for another transaction of this process; probes give up soon after


class Check(NamedTuple):
    """One thing that was looked at, and what was found, for people."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """Ready when every check holds."""

    checks: tuple[Check, ...]

    @property
    def is_ready(self) -> bool:
        return all(check.ok for check in self.checks)


def readiness(store: Store, watch: ClockWatch, *, tzdata: str | None = None) -> Readiness:
    """Look at everything, also after something failed. `tzdata` is the installed version.

    Cursors ahead of the clock are told and fail nothing: waiting is all that can be done.
    """
    reading, verdict = watch.look()
    return Readiness(
        (
            _of_store("commit", lambda: _commit(store, reading)),
            _of_store("tzdata", lambda: _tzdata(store, tzdata or tzdata_version())),
            _clock(reading, verdict),
            _of_store("leases", lambda: _leases(store, reading)),
            _cursors(watch, reading),
            *_lacking_files(),
        )
    )


def _of_store(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except PortError as error:
        return Check(name, False, str(error))


def _lacking_files() -> Iterator[Check]:
    """Told only where it fails: without a file left no caller gets in, and no attempt out."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        remedy = "raise the limit of open files (LimitNOFILE=, ulimit -n)"
        yield Check("files", False, f"no file can be opened ({error.strerror}): {remedy}")


def _commit(store: Store, reading: ClockReading) -> Check:
    store.signals.prove_commit(now_us=reading.wall_us, wait_s=COMMIT_WAIT_S)
    return Check("commit", True, "a write was committed")


def _tzdata(store: Store, installed: str) -> Check:
    pinned = store.due_index.pinned_tzdata()
    if pinned == installed:
        return Check("tzdata", True, f"tzdata {installed} is installed and pinned")
    return Check("tzdata", False, str(TzdataMismatch(pinned, installed)))


def _clock(reading: ClockReading, verdict: GateVerdict) -> Check:
    error = f"error bound {reading.epsilon_us / 1_000:g} ms"
    if verdict.reason is GateReason.EPSILON:
        limit = f"over {EPSILON_MAX_US / 1_000:g} ms nothing is decided"
        return Check("clock", False, f"{error}: {limit}; look at the machine's NTP")
    if verdict.reason is GateReason.STEPPED:
        return Check("clock", False, "the clock was set less than ten seconds ago")
    return Check("clock", True, error)


def _leases(store: Store, reading: ClockReading) -> Check:
    leases = store.leases.leases()
    unleased = unleased_partitions(leases, now_us=reading.wall_us)
    if not unleased:
        return Check("leases", True, f"all {len(leases)} partitions have a living owner")
    which = partition_ranges(unleased)
    found = f"{len(unleased)} of {len(leases)} partitions have no living owner ({which})"
    return Check("leases", False, f"{found}: no decider runs, or it hangs")


def _cursors(watch: ClockWatch, reading: ClockReading) -> Check:
    try:
        ahead = watch.ahead(reading)
    except PortError as error:
        return Check("cursors", True, f"not read: {error}")
    if ahead is None:
        return Check("cursors", True, "no trigger is decided beyond the present time")
    triggers, until_us = ahead
    found = f"{triggers} triggers are decided beyond the present time, by a clock that ran ahead"
    return Check("cursors", True, f"{found}: the last is silent until {to_text(until_us)}")
