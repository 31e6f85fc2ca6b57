"""A trigger whose stored rule raises harms itself alone, and says what is wrong with it."""

import json
from pathlib import Path

from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import run_punctual, wait_until


def test_trigger_whose_rule_raises_is_quarantined_and_the_others_fire(
    start: Start, data: Path, tmp_path: Path, receiver: HttpReceiver, ledger: LedgerFile
) -> None:
    names = ("bad", *(f"good-{number}" for number in range(10)))
    file = write_manifest(
        tmp_path / "acme.yaml", receiver.url(), {name: a_trigger() for name in names}
    )
    process = start("--manifest", file)
    wait_until(lambda: all(receiver.of(name) for name in names), "all of them fire")
    assert process.stop() == 0
    rule = json.dumps(["99 99 * * *"])
    changed = ledger.execute(
        "UPDATE trigger_version SET recurrence = ? WHERE trigger_id ="
        " (SELECT trigger_id FROM trigger WHERE name = 'bad')",
        rule,
    )
    assert changed == 1

    seen = {name: len(receiver.of(name)) for name in names}
    process = start()
    told = process.wait_for_err("trigger_quarantined")
    assert "minute" in told
    wait_until(
        lambda: all(len(receiver.of(name)) > seen[name] + 2 for name in names[1:]),
        "the others go on",
    )
    assert len(receiver.of("bad")) == seen["bad"]
    shown = json.loads(run_punctual("triggers", "--data", data, "--json").stdout)
    assert "quarantined" in json.dumps(shown)
    assert ledger.triggers()["bad"].state == "quarantined"
    assert "minute" in str(ledger.triggers()["bad"].quarantine_error)
    assert "minute" in run_punctual("why", "bad", "--data", data).stdout

    write_manifest(file, receiver.url(), {name: a_trigger("*/2 * * * * *") for name in names})
    assert process.stop() == 0
    start("--manifest", file)
    wait_until(lambda: len(receiver.of("bad")) > seen["bad"], "a new rule ends the quarantine")
