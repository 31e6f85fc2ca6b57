"""SIGTERM and Ctrl-C drain, SIGHUP applies again, a restart says what was missed."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.support.http_receiver import Answer, HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import WAIT_S, punctual_command, wait_until

LONG_LEASE = ("--lease-ttl-s", 60)  # a lease that is not given up would be missed at once
STOPS = pytest.mark.parametrize(
    "signum", [signal.SIGTERM, signal.SIGINT], ids=["sigterm", "ctrl_c"]
)


@pytest.fixture
def file(tmp_path: Path, receiver: HttpReceiver) -> Path:
    return write_manifest(tmp_path / "acme.yaml", receiver.url(), {"tick": a_trigger()})


@STOPS
def test_stop_signal_lets_attempts_end_and_hands_over_at_once(
    start: Start,
    file: Path,
    receiver: HttpReceiver,
    ledger: LedgerFile,
    signum: signal.Signals,
) -> None:
    receiver.script = lambda arrival: Answer(after_s=3.0)
    first = start("--manifest", file, *LONG_LEASE)
    wait_until(lambda: receiver.open >= 1, "an attempt is on its way")
    first.send(signum)
    wait_until(lambda: not ledger.owners(), "the leases are released")
    decided_us = ledger.triggers()["tick"].decided_through_us
    assert first.is_running
    assert receiver.open >= 1
    assert first.wait() == 0
    assert first.out[-2].startswith("Stopping: attempts in flight end first")
    assert first.out[-1].startswith("Stopped: attempts in flight have ended, leases are released")
    assert first.err == []
    assert ledger.triggers()["tick"].decided_through_us == decided_us
    assert {row.state for row in ledger.rows()} == {"accepted"}
    assert {row.key for row in ledger.rows()} == receiver.keys("tick")

    receiver.script = lambda arrival: Answer()
    start("--manifest", file, *LONG_LEASE)
    before = len(receiver.arrivals)
    wait_until(lambda: len(receiver.arrivals) > before, "the next one fires", timeout_s=15)


@STOPS
def test_stop_signal_during_the_start_ends_before_anything_is_decided(
    start: Start, file: Path, receiver: HttpReceiver, ledger: LedgerFile, signum: signal.Signals
) -> None:
    process = start("--manifest", file)
    process.wait_for_out("created trigger acme/tick")
    assert process.stop(signum) == 0
    assert process.err == []
    assert not ledger.owners()


def test_second_ctrl_c_ends_at_once_and_leaves_the_claim_to_expire(
    start: Start, file: Path, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    receiver.script = lambda arrival: Answer(after_s=4.5)
    first = start("--manifest", file)
    wait_until(lambda: receiver.open >= 1, "an attempt is on its way")
    first.send(signal.SIGINT)
    first.wait_for_out("Ctrl-C again ends at once")
    first.send(signal.SIGINT)
    assert first.wait(timeout_s=3.0) == 1
    assert first.err == [
        "Ended at once: what was in flight may have arrived; a new start may retry it."
    ]
    assert {row.state for row in ledger.rows()} <= {"dispatching", "queued", "ready"}


def test_sighup_applies_a_changed_manifest_and_refuses_a_broken_one(
    start: Start, file: Path, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    process = start("--manifest", file)
    process.wait_for_out("created trigger acme/tick")
    write_manifest(file, receiver.url(), {"tick": a_trigger(), "tock": a_trigger()})
    process.send(signal.SIGHUP)
    process.wait_for_out("created trigger acme/tock")
    wait_until(lambda: bool(receiver.of("tock")), "the new trigger fires")

    before = ledger.triggers()
    file.write_text(file.read_text().replace("UTC", "Mars/Olympus", 1))
    process.send(signal.SIGHUP)
    process.wait_for_err("Not applied, the old definitions stay")
    told = process.wait_for_err("acme.yaml:")
    assert "Mars/Olympus" in told
    assert ".zone" in told
    seen = len(receiver.of("tick")), len(receiver.of("tock"))
    wait_until(lambda: len(receiver.of("tick")) > seen[0], "the first goes on")
    wait_until(lambda: len(receiver.of("tock")) > seen[1], "the second goes on")
    assert ledger.triggers().keys() == before.keys()

    write_manifest(file, receiver.url(), {"tick": a_trigger("0 0 1 1 *")})
    process.send(signal.SIGHUP)
    process.wait_for_out("edited trigger acme/tick")
    assert process.stop() == 0


def test_restart_says_what_was_missed_and_what_it_did(
    start: Start, file: Path, tmp_path: Path, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    triggers = {
        "once": a_trigger(),
        "all": a_trigger("*/2 * * * * *", missed="fire_all"),
        "skipped": a_trigger(missed="skip"),
        "expired": a_trigger(horizon="2s"),
    }
    write_manifest(file, receiver.url(), triggers)
    first = start("--manifest", file)
    wait_until(lambda: len(ledger.rows("expired")) >= 1, "the first run decides")
    assert first.stop() == 0
    stopped_us = ledger.triggers()["once"].decided_through_us
    # The grace of a trigger that fires each second is five seconds.
    wait_until(lambda: time.time_ns() // 1_000 > stopped_us + 9_000_000, "nine seconds pass")
    second = start("--manifest", file)
    second.wait_for_out("Missed while nothing was running:")
    for name, told in {
        "once": "runs once for all, coalesced into",
        "all": "sent on the catch-up lane, at its rate",
        "skipped": "skipped, as its missed policy says",
        "expired": "expired (horizon 2s",
    }.items():
        second.wait_for_out(f"  acme/{name}: ")
        assert any(told in line for line in second.out if f"acme/{name}: " in line), str(second)
    missed = [row.key for row in ledger.rows("all") if row.lane == "catch_up"]
    wait_until(lambda: set(missed) <= receiver.keys("all"), "every missed instant is sent")
    assert missed


def test_service_whose_watcher_went_away_goes_on_and_stops_as_usual(
    data: Path, file: Path, receiver: HttpReceiver
) -> None:
    with subprocess.Popen(
        [*punctual_command(), "up", "--data", str(data), "--manifest", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"punctual ")
        process.stdout.close()
        wait_until(lambda: bool(receiver.of("tick")), "it fires")
        write_manifest(file, receiver.url(), {"tick": a_trigger(), "tock": a_trigger()})
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: bool(receiver.of("tock")), "it applies the manifest again")
        process.terminate()
        assert process.wait(WAIT_S) == 0
