"""A manifest with a fault: one line that names the field and the remedy, and nothing half done."""

import re
from pathlib import Path

import pytest

from tests.support.ledger_file import LedgerFile
from tests.support.service_process import run_punctual

HEAD = """\
tenants:
  acme:
    targets: {receiver: {url: "http://127.0.0.1:8899/fires"}}
    triggers:
      good: {schedule: "0 9 * * *", zone: UTC, target: receiver}
"""
LONG = "x" * 70_000


def _up(tmp_path: Path, text: str, *options: str) -> list[str]:
    """What `up` says of a manifest that it must refuse."""
    file = tmp_path / "acme.yaml"
    file.write_text(text)
    done = run_punctual("up", "--data", tmp_path / "data", "--manifest", file, *options)
    assert done.returncode == 1
    assert LedgerFile(tmp_path / "data").triggers() == {}, "nothing is half applied"
    start = f"Not started. {file}"
    assert done.stderr.startswith(start), done.stderr
    lines = done.stderr.replace(start, str(file)).replace(str(file), "acme.yaml").splitlines()
    # Where exactly in the line is told too, and tested with the reader.
    return [re.sub(r"^(acme\.yaml:\d+):\d+: ", r"\1: ", line) for line in lines]


@pytest.mark.parametrize(
    ("line", "place", "remedy"),
    [
        pytest.param(
            'bad: {schedule: "0 9 * * *", zone: Europe/Berln, target: receiver}',
            "acme.yaml:6: tenants.acme.triggers.bad.zone: ",
            "did you mean `Europe/Berlin`?",
            id="unknown_zone",
        ),
        pytest.param(
            'bad: {schedule: "0 9 30 2 *", zone: UTC, target: receiver}',
            "acme.yaml:6: tenants.acme.triggers.bad.schedule: day_of_month: '30': ",
            "no such day in the months allowed",
            id="impossible_date",
        ),
        pytest.param(
            "bad: {schedule: at 2027-02-30T09:00, zone: UTC, target: receiver}",
            "acme.yaml:6: tenants.acme.triggers.bad.schedule: ",
            "there is no such date or time",
            id="impossible_instant",
        ),
        pytest.param(
            'bad: {schedule: "0 9 * * *", zone: UTC, target: receiver, payload: ' + LONG + "}",
            "acme.yaml:6: tenants.acme.triggers.bad.payload: ",
            "send a reference to the data instead",
            id="oversize_payload",
        ),
        pytest.param(
            'good: {schedule: "0 10 * * *", zone: UTC, target: receiver}',
            "acme.yaml:6: tenants.acme.triggers: 'good' stands here again",
            "it is already on line 5",
            id="duplicate_name",
        ),
        pytest.param(
            'bad: {schedule: "0 9 * * *", zone: UTC, target: receiver',
            "acme.yaml:7: not YAML: ",
            "close the list or the mapping",
            id="malformed_yaml",
        ),
        pytest.param(
            "\tbad: {}", "acme.yaml:6: not YAML: ", "indent with blanks", id="a_tab_in_yaml"
        ),
    ],
)
def test_up_with_one_fault_in_the_manifest_names_place_and_remedy_in_one_line(
    tmp_path: Path, line: str, place: str, remedy: str
) -> None:
    told = _up(tmp_path, f"{HEAD}      {line}\n")
    assert len(told) == 1, told
    assert told[0].startswith(place)
    assert remedy in told[0]


def test_up_with_several_faults_tells_each_with_its_line(tmp_path: Path) -> None:
    told = _up(
        tmp_path,
        HEAD.replace("127.0.0.1", "10.0.0.1")
        + '      one: {schedule: "61 9 * * *", zone: UTC, target: receiver}\n'
        + '      two: {schedule: "0 9 * * *", zone: Mars/Olympus, target: receiver}\n'
        + '      three: {schedule: "0 9 * * *", zone: UTC, target: receivr, misssed: skip}\n',
    )
    assert [line.split(" ")[:2] for line in told] == [
        ["acme.yaml:3:", "tenants.acme.targets.receiver.url:"],
        ["acme.yaml:6:", "tenants.acme.triggers.one.schedule:"],
        ["acme.yaml:7:", "tenants.acme.triggers.two.zone:"],
        ["acme.yaml:8:", "tenants.acme.triggers.three.target:"],
        ["acme.yaml:8:", "tenants.acme.triggers.three.misssed:"],
    ]


def test_up_with_a_manifest_that_does_not_exist_is_a_wrong_command_line(tmp_path: Path) -> None:
    done = run_punctual("up", "--data", tmp_path / "data", "--manifest", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert "'--manifest'" in done.stderr
    assert "does not exist" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("option", [("--no-allow-loopback",), ("--host", "0.0.0.0")])
def test_up_without_loopback_targets_refuses_one(tmp_path: Path, option: tuple[str, ...]) -> None:
    (told,) = _up(tmp_path, HEAD.partition("    triggers:")[0], *option)
    assert told.startswith("acme.yaml:3: tenants.acme.targets.receiver.url: ")
    assert "allow loopback targets" in told
