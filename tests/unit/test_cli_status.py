"""`punctual status` against an API that serves: what is on the screen, and the exit code."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.clock_fixed import FixedClock
from punctual.api_host import serving
from punctual.commands.status import Signals, read_signals
from punctual.data_folder import DataFolder, open_data_folder
from punctual.local_files import ToldServer, tell_server
from tests.support.command_line import CommandLine, command_line, table
from tests.support.definitions import a_trigger

QUARANTINE = "UPDATE trigger SET state = 'quarantined', quarantine_error = 'bad' WHERE name = ?"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    found = command_line(tmp_path)
    yield found
    found.service.close()


@pytest.fixture
def folder(punctual: CommandLine) -> Iterator[DataFolder]:
    opened = open_data_folder(punctual.data, create=False)
    yield opened
    opened.close()


def served_status(punctual: CommandLine, folder: DataFolder, *arguments: str) -> Any:
    """The command while the folder is served, on the machine's own clock; nobody decides."""
    with serving(folder, FixedClock(), host="127.0.0.1", port=0, allow_loopback=True):
        return punctual("status", *arguments)


def test_status_without_a_decider_is_not_ready_and_says_what_failed(
    punctual: CommandLine, folder: DataFolder
) -> None:
    punctual.service.apply(a_trigger("broken"), a_trigger("minutely"))
    punctual.plant(QUARANTINE, "broken")
    result = served_status(punctual, folder)
    assert result.exit_code == 1
    assert result.stderr == "punctual: not ready: leases\n"
    lines = result.stdout.splitlines()
    assert lines[0] == "Not ready."
    checks = table("\n".join(lines[2:8]))
    assert checks[0] == ["check", "state", "found"]
    assert [(name, state) for name, state, _ in checks[1:]] == [
        ("commit", "ok"),
        ("tzdata", "ok"),
        ("clock", "ok"),
        ("leases", "failed"),
        ("cursors", "ok"),
    ]
    assert lines[9].startswith("Oldest due and not sent: ")
    assert not lines[9].endswith("none")
    assert lines[10] == "Backlog: 0 fires"
    assert lines[11] == ("Quarantined: 1 trigger; see `punctual triggers --state quarantined`")


def test_status_as_json_is_the_api_s_answer_with_the_signals(
    punctual: CommandLine, folder: DataFolder
) -> None:
    result = served_status(punctual, folder, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["ready"]) == (1, False)
    assert [each["name"] for each in found["checks"]] == [
        *("commit", "tzdata", "clock", "leases", "cursors")
    ]
    assert (found["quarantined"], found["oldest_due_age_s"]) == (0, 0.0)
    assert set(found["backlog"]) >= {"on_time", "catch_up"}


def test_status_while_nobody_serves_says_how_to_start(punctual: CommandLine) -> None:
    result = punctual("status")
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        f"punctual: not ready: nobody serves {punctual.data}: start the service with "
        "`punctual up`\n",
    )


def test_status_of_a_server_that_is_gone_says_so(punctual: CommandLine) -> None:
    tell_server(punctual.data, ToldServer("http://127.0.0.1:9", "one"))
    result = punctual("status")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("punctual: not ready: the server does not answer (Connection")


def test_status_of_another_server_on_the_port_is_not_taken_for_the_folder_s(
    punctual: CommandLine, folder: DataFolder
) -> None:
    with serving(folder, FixedClock(), host="127.0.0.1", port=0, allow_loopback=True) as server:
        tell_server(punctual.data, ToldServer(server.url, "another"))
        result = punctual("status")
        assert punctual("status", "--server", server.url).stdout.startswith("Not ready.\n")
    assert result.stderr == (
        f"punctual: not ready: nobody serves {punctual.data} any more: start it with "
        "`punctual up`\n"
    )


def test_signals_are_read_off_a_page_of_metrics() -> None:
    page = (
        "# HELP punctual_backlog_fires fires\n"
        "# TYPE punctual_backlog_fires gauge\n"
        'punctual_backlog_fires{lane="on_time"} 2.0\n'
        'punctual_backlog_fires{lane="catch_up"} 1200.0\n'
        "punctual_oldest_undispatched_due_age_seconds 12.5\n"
        "punctual_quarantined_triggers 3.0\n"
        'punctual_relay_lag_seconds{source="fires"} 0.5\n'
        'punctual_relay_lag_seconds{source="triggers"} 7.0\n'
    )
    assert read_signals(page) == Signals(12.5, {"on_time": 2, "catch_up": 1_200}, 3, 7.0)
    assert read_signals("punctual_store_up 0.0\n") == Signals(None, {}, None, None)
