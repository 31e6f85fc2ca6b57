"""The command `punctual` itself: what it loads when, and how every failure is told."""

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ports.errors import StoreRefused
from punctual.cli import DEBUG_VARIABLE, SECTIONS, cli, failure_text
from punctual.commands.reference import cli_reference
from scheduling.errors import InvalidRecurrence
from tests.support.command_line import command_line
from tests.support.repository import ROOT

ENTRIES = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


def imported_by(*arguments: str) -> set[str]:
    """The top-level modules that a command line has loaded when it ends."""
    code = (
        "import sys; from punctual.cli import cli\n"
        "try: cli.main(sys.argv[1:], prog_name='punctual')\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_cli_help_imports_no_library_but_click() -> None:
    heavy = {"pydantic", "rich", "sqlite3", "aiohttp", "tink", "yaml", "scheduling", "adapters"}
    heavy |= {"httpx2", "fastapi", "asyncio", "ssl"}
    assert imported_by("--help") & heavy == set()


def test_cli_preview_imports_neither_store_nor_network() -> None:
    heavy = {"pydantic", "sqlite3", "aiohttp", "tink", "yaml", "structlog"}
    assert imported_by("preview", "* * * * *", "--zone", "UTC") & heavy == set()


@pytest.mark.parametrize("name", ENTRIES)
def test_cli_summary_in_the_list_is_the_beginning_of_the_command_s_help(name: str) -> None:
    entry = ENTRIES[name]
    command = getattr(importlib.import_module(f"punctual.commands.{entry.module}"), entry.attribute)
    assert isinstance(command, click.Command)
    first = " ".join((command.help or "").split("\n\n")[0].split())
    assert first.startswith(entry.summary.rstrip("."))
    assert command.name == name


def test_cli_lists_every_command_and_needs_none_of_them() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    assert [name for name in ENTRIES if f"\n  {name} " not in result.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("pause",), "Missing argument 'TRIGGER...'. See: punctual pause --help"),
        pytest.param(("nothing",), "No such command 'nothing'. See: punctual --help"),
        pytest.param(("preview", "x"), "Missing option '--zone'. See: punctual preview --help"),
        pytest.param(
            ("fires", "--limit", "0"),
            "Invalid value for '--limit': 0 is not in the range 1<=x<=10000. "
            "See: punctual fires list --help",
        ),
        pytest.param(
            ("fires", "--follow", "--expand"),
            "--follow shows what changes from now on, without a window. "
            "See: punctual fires list --help",
        ),
    ],
)
def test_cli_wrong_command_line_is_one_line_and_exit_code_two(
    arguments: tuple[str, ...], message: str
) -> None:
    result = CliRunner().invoke(cli, arguments, prog_name="punctual")
    assert (result.exit_code, result.stderr, result.stdout) == (2, f"punctual: {message}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("triggers",),
        ("triggers", "show", "x"),
        ("fires",),
        ("fires", "show", "x"),
        ("fires", "--follow"),
        ("events",),
        ("upcoming",),
        ("backlog",),
        ("hot-seconds",),
        ("why", "x"),
        ("pause", "x"),
        ("resume", "x"),
        ("run", "x"),
        ("cancel", "a~b~1~0"),
        ("delete", "x"),
        ("horizon", "x", "2h"),
        ("quota", "x"),
        ("tenants",),
        ("token", "list"),
        ("grants",),
        ("targets",),
        ("targets", "allowed"),
        ("targets", "secret", "a/b"),
        ("audit",),
        ("leases",),
        ("rebuild", "due-index"),
        ("tzdata", "show"),
        ("tzdata", "adopt"),
    ],
    ids=" ".join,
)
def test_cli_without_a_store_names_the_folder_and_the_remedy(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    result = CliRunner().invoke(cli, [*arguments, "--data", str(tmp_path / "none")])
    assert result.exit_code == 1
    assert result.stderr == (
        f"punctual: data: there is no store in {tmp_path / 'none'}: name its folder with --data, "
        "or start one with `punctual up`\n"
    )
    assert not (tmp_path / "none").exists()


def test_cli_data_folder_comes_from_the_environment(tmp_path: Path) -> None:
    command_line(tmp_path).service.close()
    result = CliRunner().invoke(cli, ["targets"], env={"PUNCTUAL_DATA": str(tmp_path)})
    assert (result.exit_code, "acme/shop" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(StoreRefused("data: no"), "data: no", id="port"),
        pytest.param(
            InvalidRecurrence("minute", "61", "use 0 to 59"), "minute: '61': use 0 to 59", id="rule"
        ),
        pytest.param(
            PermissionError(13, "Permission denied", "x.db"), "x.db: Permission denied", id="os"
        ),
        pytest.param(
            KeyError("x"),
            "fault of the program: KeyError: 'x' (its traceback: PUNCTUAL_DEBUG=1)",
            id="fault",
        ),
    ],
)
def test_cli_failure_is_told_without_a_traceback(error: Exception, text: str) -> None:
    assert failure_text(error) == text


def test_cli_fault_shows_its_traceback_only_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise KeyError("x")

    monkeypatch.setattr("punctual.commands.operate.tzdata_version", fail)
    quiet = CliRunner().invoke(cli, ["version"])
    assert (quiet.exit_code, quiet.stderr.count("\n")) == (1, 1)
    loud = CliRunner().invoke(cli, ["version"], env={DEBUG_VARIABLE: "1"})
    assert isinstance(loud.exception, KeyError)


def test_cli_reference_in_the_docs_is_what_the_commands_say() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == cli_reference(), "run: python -m punctual.commands.reference > docs/cli.md"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyboardInterrupt, "Interrupted: a change under way may have been made"),
        (click.Abort, "Stopped; nothing was changed."),
    ],
)
def test_cli_that_is_interrupted_does_not_say_that_nothing_was_changed(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], told: str
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr("punctual.commands.apply._read", interrupted)
    result = CliRunner().invoke(cli, ["apply", "-f", "README.md"])
    assert result.exit_code == 1
    assert told in result.stderr
