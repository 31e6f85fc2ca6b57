"""`calendars`: days on which triggers are not due."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, at_terminal, command_line, table
from tests.support.definitions import a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    found = command_line(tmp_path)
    yield found
    found.service.close()


def put(punctual: CommandLine, *words: str, stdin: str = "") -> str:
    result = punctual("calendars", "put", "acme/holidays", *words, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_calendars_put_creates_confirms_and_counts_what_changes(punctual: CommandLine) -> None:
    days = ("--date", "2026-12-25", "--date", "2026-12-26")
    assert put(punctual, *days) == "Created acme/holidays: 2 days.\n"
    assert put(punctual, *days) == "acme/holidays says so already; nothing changed.\n"
    assert put(punctual, "--date", "2026-12-25", "--date", "2027-01-01") == (
        "Set acme/holidays: 2 days (1 added, 1 dropped). Its triggers follow at once.\n"
    )
    assert punctual("calendars", "show", "holidays").stdout == "2026-12-25  2027-01-01\n"


def test_calendars_put_takes_rules_of_an_option_and_of_a_file(punctual: CommandLine) -> None:
    rule = "DTSTART:20260101 RRULE:FREQ=YEARLY;COUNT=3"
    file = "# moved days\n2026-04-03\nDTSTART:20260501\nRRULE:FREQ=YEARLY;COUNT=2  # May Day\n\n"
    assert put(punctual, "--rule", rule, "--from-file", "-", stdin=file) == (
        "Created acme/holidays: 6 days.\n"
    )
    assert punctual.json("calendars", "show", "acme/holidays")["excludes"] == [
        *("2026-01-01", "2026-04-03", "2026-05-01", "2027-01-01", "2027-05-01", "2028-01-01")
    ]


@pytest.mark.parametrize("words", [("calendars",), ("calendars", "list", "--tenant", "acme")])
def test_calendars_are_listed_with_their_days(
    punctual: CommandLine, words: tuple[str, ...]
) -> None:
    assert punctual(*words).stderr.startswith("No calendars yet: ")
    put(punctual, "--date", "2026-12-25", "--date", "2026-12-26")
    assert table(punctual(*words).stdout) == [
        ["calendar", "days", "first", "last", "rules"],
        ["acme/holidays", "2", "2026-12-25", "2026-12-26"],
    ]
    assert [each["count"] for each in punctual.json(*words)] == [2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("holidays",), "calendar: 'holidays' names no tenant", id="bare"),
        pytest.param(("acne/x",), "calendar: there is no tenant 'acne'; did you mean", id="tenant"),
        pytest.param(("acme/x", "--date", "2026-02-30"), "dates", id="date"),
        pytest.param(("acme/x", "--rule", "RRULE:FREQ=HOURLY"), "rules", id="rule"),
    ],
)
def test_calendars_put_of_what_is_none_names_the_field(
    punctual: CommandLine, words: tuple[str, ...], message: str
) -> None:
    result = punctual("calendars", "put", *words)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert message in result.stderr


def test_calendars_delete_refuses_one_that_is_used_and_asks_on_a_terminal(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(punctual, "--date", "2026-12-25")
    punctual.service.apply(a_trigger("digest", calendars=("holidays",)))
    refused = punctual("calendars", "delete", "acme/holidays")
    assert (refused.exit_code, "digest" in refused.stderr) == (1, True)
    punctual("delete", "digest")
    at_terminal(monkeypatch)
    kept = punctual("calendars", "delete", "holidays", stdin="n\n")
    assert (kept.exit_code, kept.stderr.splitlines()[0]) == (
        1,
        "Deleting acme/holidays forgets its 1 day. Go on? [y/N]: n",
    )
    assert punctual("calendars", "delete", "holidays", stdin="y\n").stdout == (
        "Deleted acme/holidays.\n"
    )


def test_calendars_show_of_an_unknown_one_suggests_one(punctual: CommandLine) -> None:
    put(punctual, "--date", "2026-12-25")
    assert punctual("calendars", "show", "acme/holiday").stderr == (
        "punctual: calendar: no 'acme/holiday'; did you mean acme/holidays?\n"
    )
