"""The systemd unit, the image and the compose file: they fit the program and stay closed."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dispatcher.dispatcher import DRAIN_STORE_S
from scheduling.limits import TARGET_TIMEOUT_S_MAX
from tests.support.deployment import (
    UNIT,
    compose,
    dockerfile_steps,
    exec_start,
    parse_command,
    unit_settings,
)
from tests.support.repository import ROOT, pyproject, top_level_packages
from tests.support.services import require_service

LONGEST_DRAIN_S = TARGET_TIMEOUT_S_MAX + DRAIN_STORE_S


def has_systemd() -> bool:
    return shutil.which("systemd-analyze") is not None


def service() -> dict[str, str]:
    return dict(unit_settings()["Service"])


def composed() -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"]["punctual"]
    return found


def final_steps() -> dict[str, str]:
    """The last stage's instructions; the last of a kind wins, as it does in an image."""
    last = max(step.stage for step in dockerfile_steps())
    return {step.instruction: step.rest for step in dockerfile_steps() if step.stage == last}


# -- the unit --------------------------------------------------------------------------------------


def test_unit_is_accepted_by_systemd(tmp_path: Path) -> None:
    require_service("systemd-analyze", has_systemd, "apt-get install systemd")
    text = UNIT.read_text().replace(exec_start()[0], sys.executable)
    (tmp_path / "punctual.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "punctual.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unit_is_closed_as_systemd_judges_it() -> None:
    require_service("systemd-analyze", has_systemd, "apt-get install systemd")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_unit_starts_the_command_with_options_that_it_knows() -> None:
    program, *arguments = exec_start()
    assert Path(program).name == "punctual"
    found = parse_command(arguments)
    assert (found["host"], found["port"]) == ("127.0.0.1", 8400)
    assert found["allow_loopback"] is False


def test_unit_reloads_by_the_signal_that_reads_manifests_again() -> None:
    assert service()["ExecReload"] == "/bin/kill -HUP $MAINPID"


def test_unit_waits_for_the_longest_drain_and_restarts_what_failed() -> None:
    assert int(service()["TimeoutStopSec"]) > LONGEST_DRAIN_S
    assert service()["Restart"] == "on-failure"


def test_unit_keeps_its_data_in_a_folder_that_only_it_can_read() -> None:
    found = service()
    assert found["Environment"] == f"PUNCTUAL_DATA=%S/{found['StateDirectory']}"
    assert (found["StateDirectoryMode"], found["UMask"]) == ("0700", "0077")
    assert found["User"] not in ("", "root")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("CapabilityBoundingSet", ""),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
    ],
)
def test_unit_has_each_of_the_bars_that_matter(name: str, value: str) -> None:
    assert service()[name] == value


# -- the image -------------------------------------------------------------------------------------


def test_image_is_built_from_files_that_there_are_and_all_packages_of_the_program() -> None:
    copied = [
        word
        for step in dockerfile_steps()
        if step.instruction == "COPY" and not step.rest.startswith("--from")
        for word in step.rest.split()[:-1]
    ]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    included = pyproject()["tool"]["setuptools"]["packages"]["find"]["include"]
    product = {name.rstrip("*") for name in included} & top_level_packages()
    assert product - set(copied) == set()


def test_image_is_sent_only_the_files_that_it_copies() -> None:
    lines = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        word.partition("/")[0]
        for step in dockerfile_steps()
        if step.instruction == "COPY" and not step.rest.startswith("--from")
        for word in step.rest.split()[:-1]
    }
    assert (lines[1], allowed) == ("*", copied)


def test_image_installs_nothing_without_a_hash_but_its_own_wheel() -> None:
    installs = [step.rest for step in dockerfile_steps() if "pip install" in step.rest]
    assert len(installs) == 3
    assert all("--require-hashes" in line or "--no-deps wheels/" in line for line in installs)


def test_image_runs_as_a_user_of_its_own_in_a_volume() -> None:
    final = final_steps()
    assert final["USER"] == composed()["user"].strip('"')
    assert not final["USER"].startswith(("0", "root"))
    assert json.loads(final["VOLUME"]) == ["/data", "/backups"]
    assert "PUNCTUAL_DATA=/data" in final["ENV"]


def test_image_and_compose_start_the_command_with_options_that_it_knows() -> None:
    command = json.loads(final_steps()["CMD"])
    assert composed()["command"] == command
    found = parse_command(command)
    assert (found["host"], found["port"]) == ("0.0.0.0", 8400)
    assert found["allow_loopback"] is False
    assert json.loads(final_steps()["ENTRYPOINT"]) == ["punctual"]


def test_image_and_compose_ask_the_same_question_about_health() -> None:
    asked = re.search(r"CMD (\[.*\])$", final_steps()["HEALTHCHECK"])
    assert asked is not None
    assert composed()["healthcheck"]["test"] == ["CMD", *json.loads(asked[1])]
    compile(composed()["healthcheck"]["test"][-1], "healthcheck", "exec")
    assert "http://127.0.0.1:8400/readyz" in asked[1]


# -- compose ---------------------------------------------------------------------------------------


def test_compose_publishes_the_port_on_loopback_alone() -> None:
    assert composed()["ports"] == ["127.0.0.1:8400:8400"]


def test_compose_builds_from_the_project_and_keeps_data_and_backups() -> None:
    build = composed()["build"]
    context = (ROOT / "deploy" / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()
    volumes = dict(volume.split(":") for volume in composed()["volumes"])
    assert volumes == {"data": "/data", "backups": "/backups"}
    assert compose()["volumes"].keys() == volumes.keys()


def test_compose_gives_the_container_no_more_than_it_needs() -> None:
    found = composed()
    assert found["read_only"] is True
    assert found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]
    assert int(found["stop_grace_period"].removesuffix("s")) > LONGEST_DRAIN_S
