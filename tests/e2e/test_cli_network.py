"""The commands that change things, against a running `punctual up`, over the network."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from punctual.cli import COMPLETE_VARIABLE
from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.losing_proxy import LosingProxy
from tests.support.repository import ROOT
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import ServiceProcess, run_punctual, wait_until

YEARLY = "0 0 1 1 *"
PRESSED_MAX = 10


@pytest.fixture
def up(start: Start, tmp_path: Path, receiver: HttpReceiver) -> ServiceProcess:
    """A service with the trigger `acme/yearly`, which does nothing by itself."""
    triggers = {"yearly": a_trigger(YEARLY), "yearly-too": a_trigger(YEARLY)}
    manifest = write_manifest(tmp_path / "m.yaml", receiver.url(), triggers)
    process = start("--manifest", manifest, "--port", 0)
    process.wait_for_out(" acme/yearly-too")
    return process


def url_of(up: ServiceProcess) -> str:
    return up.wait_for_out("API: ").split()[1].rstrip(",")


def answer(*arguments: str | Path, **environment: str) -> Any:
    done = run_punctual(*arguments, "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_cli_over_the_network_runs_a_trigger_and_the_target_hears_of_it(
    up: ServiceProcess, data: Path, receiver: HttpReceiver
) -> None:
    done = run_punctual("run", "yearly", "--payload", '{"by": "hand"}', "--data", data)
    assert (done.returncode, done.stderr) == (0, "")  # a service runs, so nothing is remarked
    wait_until(lambda: bool(receiver.arrivals), "the manual run")
    (arrival,) = receiver.arrivals
    assert arrival.key in done.stdout
    assert (arrival.body["origin"], arrival.body["payload"]) == ("manual", {"by": "hand"})


def test_cli_over_the_network_with_a_token_of_its_own_is_that_principal(
    up: ServiceProcess, data: Path
) -> None:
    made = run_punctual(
        *("token", "create", "--principal", "ci", "--grant", "author:acme", "--data", data)
    )
    remote = {"PUNCTUAL_SERVER": url_of(up), "PUNCTUAL_TOKEN": made.stdout.strip()}
    paused = answer("pause", "acme/yearly*", **remote)
    assert [each["change"] for each in paused] == ["paused", "paused"]
    refused = run_punctual("quota", "acme", "--triggers", 5, environment=remote)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "punctual: to set a quota needs the grant policy on tenant acme: ask an operator for it\n"
    )
    actors = {each["actor"] for each in answer("audit", "--data", data) if "paus" in each["action"]}
    assert actors == {"ci"}


def test_cli_without_a_token_for_the_server_says_where_to_put_one(
    up: ServiceProcess, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    done = run_punctual("pause", "yearly", "--server", url_of(up), "--data", elsewhere)
    assert (done.returncode, done.stderr) == (
        1,
        "punctual: token: the server wants one: put it into PUNCTUAL_TOKEN, or name the data "
        "folder it stands in with --data\n",
    )


def test_cli_whose_server_is_away_says_how_to_start_it(up: ServiceProcess, data: Path) -> None:
    url = url_of(up)
    up.kill()
    done = run_punctual("pause", "yearly", "--server", url, "--data", data)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"punctual: server: {url} does not answer (Connection refused): start it with "
        "`punctual up`, or name another with --server\n"
    )


def test_cli_after_its_service_was_killed_goes_on_with_the_folder_alone(
    up: ServiceProcess, data: Path
) -> None:
    url_of(up)
    up.kill()
    assert answer("pause", "yearly", "--data", data)["change"] == "paused"


@pytest.mark.parametrize("lost", [1, 2])
def test_cli_whose_answer_is_lost_has_one_effect(
    up: ServiceProcess, data: Path, receiver: HttpReceiver, lost: int
) -> None:
    token = (data / "token").read_text().strip()
    with LosingProxy(int(url_of(up).rpartition(":")[2])) as proxy:
        proxy.lose = lost
        key = answer("run", "yearly", PUNCTUAL_SERVER=proxy.url, PUNCTUAL_TOKEN=token)["fire_key"]
    assert len(proxy.lost) == lost
    wait_until(lambda: bool(receiver.arrivals), "the manual run")
    up.stop()
    assert [arrival.key for arrival in receiver.arrivals] == [key]
    fires = answer("fires", "yearly", "--data", data)
    assert [fire["fire_key"] for fire in fires] == [key]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("punctual pause ye", {"yearly", "yearly-too"}),
        ("punctual pause acme/yearly-", {"acme/yearly-too"}),
        ("punctual quota a", {"acme"}),
        ("punctual targets secret acme/", {"acme/receiver"}),
    ],
)
def test_completion_offers_the_names_of_a_running_service(
    up: ServiceProcess, data: Path, line: str, words: set[str]
) -> None:
    url_of(up)
    # On a machine so busy that the answer takes a second nothing is offered: press again.
    offers = (offered(line, data) for _ in range(PRESSED_MAX))
    assert next((offer for offer in offers if offer), set()) == words


def offered(line: str, data: Path) -> set[str]:
    done = run_punctual(
        environment={
            COMPLETE_VARIABLE: "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
            "PUNCTUAL_DATA": str(data),
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {row.partition(",")[2] for row in done.stdout.splitlines() if row}


def test_cli_that_asks_a_running_service_imports_no_server(up: ServiceProcess, data: Path) -> None:
    url_of(up)
    code = (
        "import sys; from punctual.cli import cli\n"
        "try: cli.main(sys.argv[1:], prog_name='punctual')\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "pause", "yearly", "--data", str(data)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"httpx2", "fastapi", "starlette", "pydantic", "asyncio", "sqlite3", "tink", "rich"}
    assert set(done.stderr.split()) & heavy == set()
