"""A real service backed up while it fires, its folder lost, a new one started from the backup."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import run_punctual, wait_until


def test_service_goes_on_from_a_backup_that_was_taken_while_it_fired(
    data: Path, tmp_path: Path, start: Start, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    triggers = {
        "tick": a_trigger(payload={"of": "tick"}),
        "tock": a_trigger(missed="fire_all", horizon="1d", payload={"of": "tock"}),
    }
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), triggers)
    first = start("--manifest", file, "--lease-ttl-s", 1)
    wait_until(lambda: len(receiver.arrivals) >= 6, "it fires")
    backup = tmp_path / "backup.zip"
    done = run_punctual("backup", backup, "--data", data)
    assert (done.returncode, done.stderr) == (0, "")

    refused = run_punctual("restore", backup, "--data", data, "--force")
    assert refused.returncode == 1
    assert "is being served by" in refused.stderr

    known_at = len(receiver.arrivals)
    wait_until(lambda: len(receiver.arrivals) >= known_at + 4, "it goes on firing")
    first.kill()
    shutil.rmtree(data)

    done = run_punctual("restore", backup, "--data", data)
    assert (done.returncode, done.stderr) == (0, "")
    known = ledger.rows()
    ended = {row.key for row in known if row.state in ("accepted", "succeeded")}
    assert ended, "the backup knew some fires"
    arrived_before = [arrival.key for arrival in receiver.arrivals]

    again = start("--lease-ttl-s", 1)
    wait_until(lambda: len(receiver.arrivals) > len(arrived_before) + 6, "it fires again")
    assert again.stop() == 0
    new = receiver.arrivals[len(arrived_before) :]
    assert {arrival.key for arrival in new} & ended == set(), "nothing known was sent twice"
    assert {arrival.body["payload"]["of"] for arrival in new} == {"tick", "tock"}
    after = {row.key: row for row in ledger.rows()}
    assert [row for row in known if row.key in ended and after[row.key] != row] == []

    for row in sorted(after.values(), key=lambda row: row.scheduled_us):
        assert row.instant_count == 1 or row.cause is not None, "a range says why"
    with closing(sqlite3.connect(data / "punctual.db")) as connection:
        acts = connection.execute("SELECT action FROM audit_entry ORDER BY audit_id").fetchall()
    assert ("backup_restored",) in acts
    assert acts.index(("trigger_created",)) < acts.index(("backup_restored",))
