"""`punctual up` and `punctual apply` over the network: what is applied fires at once."""

from pathlib import Path

import pytest

from punctual.local_files import TOKEN_FILE
from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import ServiceProcess, run_punctual, wait_until


@pytest.fixture
def process(start: Start) -> ServiceProcess:
    return start("--port", 0)


def url_of(process: ServiceProcess) -> str:
    return process.wait_for_out("API: ").removeprefix("API: ").partition(",")[0]


def test_apply_to_a_running_service_fires_edits_and_prunes(
    process: ServiceProcess,
    data: Path,
    tmp_path: Path,
    receiver: HttpReceiver,
    ledger: LedgerFile,
) -> None:
    url_of(process)
    two = {"tick": a_trigger(), "tock": a_trigger("0 0 1 1 *")}
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), two)
    plan = run_punctual("apply", "-f", file, "--data", data, "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert ledger.triggers() == {}
    done = run_punctual("apply", "-f", file, "--data", data)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Applied: 4 created.\n")
    wait_until(lambda: len(receiver.arrivals) >= 2, "the new trigger fires")
    again = run_punctual("apply", "-f", file, "--data", data)
    assert again.stdout == "Everything is as the manifests say: 4 unchanged.\n"
    write_manifest(file, receiver.url(), {"tock": two["tock"]})
    pruned = run_punctual("apply", "-f", file, "--data", data, "--prune", "--yes")
    assert pruned.returncode == 0, pruned.stderr
    assert set(ledger.triggers()) == {"tock"}
    assert process.stop() == 0, str(process)


def test_apply_with_a_server_and_a_token_needs_no_folder(
    process: ServiceProcess,
    data: Path,
    tmp_path: Path,
    receiver: HttpReceiver,
    ledger: LedgerFile,
) -> None:
    server = url_of(process)
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), {"tick": a_trigger()})
    environment = {
        "PUNCTUAL_SERVER": server,
        "PUNCTUAL_TOKEN": (data / TOKEN_FILE).read_text().strip(),
        "PUNCTUAL_DATA": str(tmp_path / "none"),
    }
    refused = run_punctual(
        "apply", "-f", file, environment=environment | {"PUNCTUAL_TOKEN": "pun_wrong"}
    )
    assert refused.returncode == 1
    assert "token: " in refused.stderr
    file.write_text(file.read_text().replace("UTC", "Utopia"))
    wrong = run_punctual("apply", "-f", file, environment=environment)
    assert wrong.returncode == 1
    assert "tenants.acme.triggers.tick.zone: 'Utopia': " in wrong.stderr
    assert ledger.triggers() == {}
    file.write_text(file.read_text().replace("Utopia", "UTC"))
    done = run_punctual("apply", "-f", file, environment=environment)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: len(receiver.arrivals) >= 1, "the new trigger fires")
    assert process.stop() == 0, str(process)


def test_up_with_a_foreign_host_wants_somebody_to_vouch_for_it(
    start: Start, data: Path, tmp_path: Path, ledger: LedgerFile
) -> None:
    url = "https://hooks.invalid/in"
    file = write_manifest(tmp_path / "acme.yaml", url, {"yearly": a_trigger("0 0 1 1 *")})
    refused = run_punctual("up", "--data", data, "--port", 0, "--manifest", file)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"Not started. {file}:")
    assert "https://hooks.invalid/.well-known/punctual-ownership" in refused.stderr
    assert ledger.triggers() == {}
    process = start("--port", 0, "--manifest", file, "--allow-targets")
    process.wait_for_out("created target acme/receiver")
    process.wait_for_out("created trigger acme/yearly, next ")
    assert process.stop() == 0, str(process)


def test_up_says_when_a_trigger_is_never_due_and_is_quiet_the_second_time(
    start: Start, tmp_path: Path, receiver: HttpReceiver
) -> None:
    over = {"over": a_trigger("at 2020-01-01T00:00")}
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), over)
    process = start("--port", 0, "--manifest", file)
    process.wait_for_out("created trigger acme/over: never due again: nothing lies ahead of it")
    assert process.stop() == 0, str(process)
    again = start("--port", 0, "--manifest", file)
    again.wait_for_out("Manifest applied: everything is as it says already.")
    assert again.stop() == 0, str(again)


def test_up_with_the_demo_is_quiet_the_second_time(start: Start) -> None:
    first = start("--port", 0, "--demo", "--receiver-port", 18401)
    first.wait_for_out("created trigger demo/heartbeat, next ")
    first.wait_for_out("Ctrl-C ends it.")
    assert first.stop() == 0, str(first)
    second = start("--port", 0, "--demo", "--receiver-port", 18401)
    second.wait_for_out("Ctrl-C ends it.")
    assert second.stop() == 0, str(second)
    told = [line for line in second.out if line.startswith("  created") or "edited" in line]
    assert told == []
    assert not any("everything is as it says" in line for line in second.out)
