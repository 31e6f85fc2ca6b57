"""The files of deploy/ as data: the unit's settings, the image's steps, the composed services."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import yaml

from punctual.cli import cli
from tests.support.repository import ROOT

DEPLOY: Final = ROOT / "deploy"
UNIT: Final = DEPLOY / "punctual.service"


class Step(NamedTuple):
    """One instruction of a Dockerfile, in the stage where it stands."""

    stage: int
    instruction: str
    rest: str


def unit_settings() -> dict[str, list[tuple[str, str]]]:
    """Section to its (name, value) pairs, in order: a name may come twice."""
    sections: dict[str, list[tuple[str, str]]] = {}
    current: list[tuple[str, str]] = []
    for line in UNIT.read_text().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            assert equals, line
            current.append((name, value))
    return sections


def dockerfile_steps() -> list[Step]:
    """The instructions, continued lines joined."""
    steps: list[Step] = []
    stage = -1
    for line in _joined(DEPLOY / "Dockerfile"):
        instruction, _, rest = line.partition(" ")
        stage += instruction == "FROM"
        steps.append(Step(stage, instruction, rest.strip()))
    return steps


def compose() -> dict[str, Any]:
    """The parsed compose file."""
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert isinstance(found, dict)
    return found


def parse_command(arguments: list[str]) -> dict[str, Any]:
    """The parameters of a `punctual` command line; click.UsageError for one that it refuses."""
    name, *rest = arguments
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    if isinstance(command, click.Group):
        name, *rest = rest
        command = command.get_command(click.Context(command), name)
        assert command is not None, name
    # As below the program: click keeps the help option that a command was first asked with.
    return command.make_context(name, rest, **cli.context_settings).params


def exec_start() -> list[str]:
    """The unit's command line, its program first, without the variable for more options."""
    (line,) = [value for name, value in unit_settings()["Service"] if name == "ExecStart"]
    return [word for word in shlex.split(line) if not word.startswith("$")]


def _joined(file: Path) -> Iterator[str]:
    whole = ""
    for line in file.read_text().splitlines():
        if not whole and (not line.strip() or line.startswith("#")):
            continue
        whole += line.removesuffix("\\").strip() + " "
        if not line.endswith("\\"):
            yield whole.strip()
            whole = ""
