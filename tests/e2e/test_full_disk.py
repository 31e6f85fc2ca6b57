"""A disk that is really full: nothing is sent that is not committed, and it goes on by itself."""

import time
from pathlib import Path

import httpx2 as httpx

from punctual.local_files import read_local_token, told_server
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.seconds_oracle import cover_problems, instants
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.small_rights import a_small_disk

NAMES = [f"tick-{number}" for number in range(10)]


def _wait_for_silence(receiver: HttpReceiver, *, silent_s: float) -> None:
    """Until nothing has arrived for so long, though ten fires are due each second."""
    seen, since_s = -1, 0.0

    def is_silent() -> bool:
        nonlocal seen, since_s
        if len(receiver.arrivals) != seen:
            seen, since_s = len(receiver.arrivals), time.monotonic()
        return time.monotonic() - since_s >= silent_s

    wait_until(is_silent, "nothing is sent any more")


def _expect_refusals(data: Path) -> None:
    """What the API says meanwhile: of itself, and to whoever wants a change."""
    told, token = told_server(data), read_local_token(data)
    assert told is not None
    assert token is not None
    with httpx.Client(base_url=told.url, headers={"Authorization": f"Bearer {token}"}) as client:
        ready = client.get("/readyz")
        failed = {each["name"] for each in ready.json()["checks"] if not each["ok"]}
        assert (ready.status_code, "commit" in failed) == (503, True), ready.text
        body = {
            "schedule": "0 0 * * *",
            "zone": "UTC",
            "target": "receiver",
            "payload": "x" * 9_000,
        }
        refused = client.put("/v1/tenants/acme/triggers/late", json=body)
        assert refused.status_code == 503, refused.text
        assert "nothing was changed" in refused.json()["detail"]
        assert client.get("/v1/tenants/acme/triggers/late").status_code == 404
        assert client.get("/v1/fires", params={"tenant": "acme"}).status_code == 200


def test_full_disk_stops_decisions_and_room_resumes_them(
    tmp_path: Path, receiver: HttpReceiver
) -> None:
    triggers = {name: a_trigger(missed="fire_all", payload={"of": name}) for name in NAMES}
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), triggers)
    with a_small_disk(tmp_path / "disk") as disk:
        data = disk.folder / "data"
        ledger = LedgerFile(data)
        with ServiceProcess(data, "--manifest", file) as process:
            wait_until(lambda: len(receiver.arrivals) >= 3 * len(NAMES), "fires arrive")
            disk.fill(process.pid, ledger.path)
            process.wait_for_err("store_unavailable")
            _wait_for_silence(receiver, silent_s=2.5)
            _expect_refusals(data)
            assert {arrival.key for arrival in receiver.arrivals} <= {
                row.key for row in ledger.rows()
            }
            assert process.is_running

            before = len(receiver.arrivals)
            disk.make_room(process.pid)
            wait_until(lambda: len(receiver.arrivals) >= before + 5 * len(NAMES), "it goes on")
            assert process.stop() == 0, str(process)
        with ServiceProcess(data) as process:
            # What the first one left is waiting for its releaser.
            wait_until(lambda: len(ledger.rows()) > 0 and ledger.waiting() <= len(NAMES), "calm")
            process.stop()
        assert ledger.integrity() == "ok"
        for name, trigger in ledger.triggers().items():
            rows = ledger.rows(name)
            expected = instants(
                "*", after_us=trigger.created_us, through_us=trigger.decided_through_us
            )
            assert list(cover_problems(expected, rows)) == []
            unsent = {row.key for row in rows if row.state != "held"} - receiver.keys(name)
            assert unsent == set()
