"""The command line on a real store: a service cranked by hand, and commands run beside it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from adapters.sqlite_database import SqliteDatabase
from punctual.cli import cli
from punctual.data_folder import STORE_FILE
from scheduling.instants import from_text
from tests.support.definitions import TARGET, TENANT, a_trigger
from tests.support.manual_clock import ManualClock
from tests.support.service import Service

START: Final = "2026-06-01T09:00:10Z"
__all__ = ["START", "TARGET", "TENANT", "CommandLine", "at_terminal", "command_line", "table"]


@dataclass(slots=True)
class CommandLine:
    """Commands see the service's true time, unless `at` says another one."""

    service: Service

    @property
    def data(self) -> Path:
        return self.service.folder

    def __call__(self, *arguments: str, at: str | None = None, stdin: str = "") -> Result:
        """Run one command on the service's folder."""
        return self.bare(*arguments, "--data", str(self.data), at=at, stdin=stdin)

    def bare(self, *arguments: str, at: str | None = None, stdin: str = "") -> Result:
        """Run one command line as it is."""
        now_us = self.service.now_us if at is None else from_text(at)
        return CliRunner().invoke(
            cli, arguments, obj=ManualClock(now_us, now_us, 0), input=stdin, prog_name="punctual"
        )

    def json(self, *arguments: str, at: str | None = None) -> Any:
        """The parsed answer of a command that must succeed."""
        result = self(*arguments, "--json", at=at)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def after_an_outage(self, **changes: Any) -> None:
        """`minutely` ran until 09:03:30, was away until 09:40:30, and runs again."""
        self.service.apply(a_trigger("minutely", **changes))
        self.service.start()
        self.service.advance_to("2026-06-01T09:03:30Z")
        self.service.stop()
        self.service.advance_to("2026-06-01T09:40:30Z")
        self.service.start()
        self.service.advance_to("2026-06-01T09:41:30Z")

    def plant(self, statement: str, *parameters: object) -> None:
        """Make the store as no rule of the service would."""
        database = SqliteDatabase(self.data / STORE_FILE, synchronous="OFF")
        with database.write() as connection:
            connection.execute(statement, parameters)
        database.close()


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a person could be asked."""
    monkeypatch.setattr("punctual.commands.asking.stands_at_terminal", lambda: True)


def table(text: str) -> list[list[str]]:
    """A printed table's cells, empty ones left out, since only their column tells of them."""
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines()]


def command_line(folder: Path, *, start: str = START) -> CommandLine:
    """A service in an empty folder, with one tenant and one target, and nothing running."""
    service = Service(folder, from_text(start))
    (folder / STORE_FILE).symlink_to("store.db")
    return CommandLine(service)
