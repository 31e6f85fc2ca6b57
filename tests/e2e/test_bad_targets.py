"""Targets that never answer, or never end their answer, hold up nobody else."""

from pathlib import Path

import pytest

from scheduling.instants import SECOND_US
from tests.dispatcher.targets import Behaviour, a_raw_target, after_request, repeating
from tests.e2e.conftest import Start
from tests.support.http_receiver import SECRET, HttpReceiver, LoopThread
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import wait_until

TIMEOUT_S = 2
STUCK = 25  # triggers of the bad target, each due every second


@pytest.mark.parametrize(
    ("behaviour", "state"),
    [
        pytest.param(after_request(b""), "unknown", id="silent"),
        pytest.param(
            repeating(b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n", pause_s=0.2),
            "unknown",
            id="endless_head",
        ),
        pytest.param(
            repeating(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n", pause_s=0.2
            ),
            "accepted",
            id="endless_body",
        ),
    ],
)
def test_target_that_never_ends_times_out_and_others_stay_on_time(
    start: Start,
    tmp_path: Path,
    receiver: HttpReceiver,
    ledger: LedgerFile,
    behaviour: Behaviour,
    state: str,
) -> None:
    with LoopThread() as thread:
        bad = thread.enter(a_raw_target(behaviour))
        triggers = {f"stuck-{n}": a_trigger(target="bad") for n in range(STUCK)}
        file = write_manifest(
            tmp_path / "acme.yaml",
            receiver.url(),
            triggers | {"tick": a_trigger()},
            more_targets={"bad": {"url": bad.endpoint, "timeout_s": TIMEOUT_S, "secret": SECRET}},
        )
        process = start("--manifest", file)
        wait_until(lambda: len(receiver.arrivals) >= 6, "the good one fires")
        wait_until(
            lambda: sum(row.state == state for row in ledger.rows()) >= 2 * STUCK,
            f"the bad ones' attempts end as {state}",
        )
        assert process.stop() == 0, str(process)
    lateness_us = [
        arrival.at_us - row.due_us
        for arrival in receiver.arrivals
        for row in ledger.rows("tick")
        if row.key == arrival.key
    ]
    assert max(lateness_us) < TIMEOUT_S * SECOND_US, "it waited for somebody else's attempt"
    errors = {error for key, _, _, error in ledger.attempts() if error is not None}
    if state == "unknown":
        assert all(f"{TIMEOUT_S}" in error for error in errors), errors
        assert errors
