"""`audit`, `leases`, `rebuild`, `tzdata` and `version`."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from punctual.version import __version__
from scheduling import tzdata_version
from tests.support.command_line import CommandLine, command_line, table
from tests.support.definitions import a_trigger

ACTOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant with one target and one minutely trigger, ten seconds after nine."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


def test_audit_shows_newest_first_with_its_limit(punctual: CommandLine) -> None:
    punctual("pause", "minutely", "--note", "price change")
    punctual("resume", "minutely")
    rows = table(punctual("audit", "--limit", "2").stdout)
    assert rows == [
        ["at (UTC)", "actor", "action", "subject", "note"],
        ["2026-06-01 09:00:10Z", ACTOR, "trigger_resumed", "acme/minutely"],
        ["2026-06-01 09:00:10Z", ACTOR, "trigger_paused", "acme/minutely", "price change"],
    ]


def test_leases_without_an_owner_say_that_nothing_decides(punctual: CommandLine) -> None:
    result = punctual("leases")
    assert table(result.stdout)[1] == ["(free)", "0-255", "256", "0"]
    assert result.stderr == (
        "No decider is running: nothing is decided until `punctual up` starts.\n"
    )


def test_leases_show_who_holds_what_until_when(punctual: CommandLine) -> None:
    punctual.service.start()
    result = punctual("leases")
    assert table(result.stdout)[1] == ["one", "0-255", "256", "1", "in 6 s"]
    assert result.stderr == ""
    leases = punctual.json("leases")
    assert len(leases) == 256
    assert {each["is_live"] for each in leases} == {True}


def test_rebuild_derives_every_row_and_is_audited(punctual: CommandLine) -> None:
    before = punctual.json("triggers")
    punctual.plant("DELETE FROM due_index_row")
    result = punctual("rebuild", "due-index")
    assert (result.exit_code, result.stdout) == (0, "Rebuilt the due index: 1 row.\n")
    assert punctual.json("triggers") == before
    assert punctual.json("audit", "--limit", "1")[0]["action"] == "due_index_rebuilt"


def test_tzdata_show_and_adopt_tell_of_a_pin_that_differs(punctual: CommandLine) -> None:
    punctual.plant("UPDATE tzdata_pin SET version = '2019a'")
    installed = tzdata_version()
    assert punctual("tzdata", "show").stdout == (
        f"The store is pinned to tzdata 2019a; this program has {installed}.\n"
        "It must not decide: install the pinned one, or run `punctual tzdata adopt`.\n"
    )
    refused = punctual("pause", "minutely")
    assert (refused.exit_code, "punctual tzdata adopt" in refused.stderr) == (1, True)
    assert punctual("tzdata", "adopt").stdout == (
        f"Pinned tzdata {installed} in place of 2019a: 0 of 1 triggers have another next due "
        "time. Decided instants stay as they are.\n"
    )
    assert punctual.json("tzdata", "show") == {
        "pinned": installed,
        "installed": installed,
        "matches": True,
    }


def test_tzdata_adopt_of_the_pinned_one_changes_nothing(punctual: CommandLine) -> None:
    count = len(punctual.json("audit"))
    result = punctual("tzdata", "adopt")
    assert result.stdout == (
        f"The store is pinned to tzdata {tzdata_version()} already; nothing changed.\n"
    )
    assert len(punctual.json("audit")) == count


def test_version_names_what_answers_depend_on(punctual: CommandLine) -> None:
    assert punctual.bare("version").stdout.startswith(
        f"punctual {__version__} (tzdata {tzdata_version()}, Python 3."
    )
    found = json.loads(punctual.bare("version", "--json").stdout)
    assert set(found) == {"punctual", "tzdata", "python", "sqlite"}
