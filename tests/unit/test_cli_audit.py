"""`punctual audit`: its filters, its window, and who may read it."""

import getpass
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import TENANT, CommandLine, command_line
from tests.support.definitions import a_trigger

ACTOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """`test` made two triggers; an hour later somebody at the command line paused and resumed."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("one"), a_trigger("two"))
    found.service.advance_to("2026-06-01T10:00:10Z")
    found("pause", "one")
    found.service.advance_to("2026-06-01T11:00:10Z")
    found("resume", "one")
    yield found
    found.service.close()


@pytest.mark.parametrize(
    ("arguments", "acts"),
    [
        pytest.param(
            ("--actor", ACTOR, "--subject", "one"),
            ["trigger_resumed one", "trigger_paused one"],
            id="actor",
        ),
        pytest.param(("--action", "trigger_paused"), ["trigger_paused one"], id="action"),
        pytest.param(
            ("--action", "trigger_paused", "--action", "trigger_resumed", "--limit", "1"),
            ["trigger_resumed one"],
            id="actions",
        ),
        pytest.param(
            ("--subject", "two", "--tenant", TENANT), ["trigger_created two"], id="subject"
        ),
        pytest.param(("--subject", f"{TENANT}/two"), ["trigger_created two"], id="whole-subject"),
        pytest.param(("--from", "30m"), ["trigger_resumed one"], id="from"),
        pytest.param(
            ("--from", "2026-06-01T10:00", "--to", "2026-06-01T10:30", "--subject", "one"),
            ["trigger_paused one"],
            id="window",
        ),
        pytest.param(("--from", "2026-06-02"), [], id="after-all"),
    ],
)
def test_audit_shows_what_meets_every_filter(
    punctual: CommandLine, arguments: tuple[str, ...], acts: list[str]
) -> None:
    found = punctual.json("audit", *arguments)
    assert [f"{each['action']} {each['subject']}" for each in found] == acts


def test_audit_without_a_match_says_so(punctual: CommandLine) -> None:
    result = punctual("audit", "--actor", "nobody")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No entries match.\n")


def test_audit_at_its_limit_says_how_to_see_more(punctual: CommandLine) -> None:
    result = punctual("audit", "--limit", "1")
    assert result.stderr == "(the newest 1; more with --limit or --to)\n"


def test_audit_refuses_a_window_that_is_none(punctual: CommandLine) -> None:
    result = punctual("audit", "--from", "2026-06-02", "--to", "2026-06-01")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --to: lies before --from: exchange them\n",
    )


def test_audit_of_an_edit_shows_each_field_before_and_after(punctual: CommandLine) -> None:
    assert punctual("quota", TENANT, "--inflight", "7", "--triggers", "5").exit_code == 0
    assert punctual("horizon", "one", "2d", "--note", "ticket 7").exit_code == 0
    lines = punctual("audit", "--limit", "2").stdout.splitlines()
    assert (
        f"ticket 7; catchup_horizon_s 3600 → 172800; horizon_source default → chosen by {ACTOR}"
        in (lines[1])
    )
    assert "quota_triggers 100000 → 5; quota_inflight 1000 → 7" in lines[2]


def test_audit_shows_a_long_value_in_part(punctual: CommandLine) -> None:
    for year in ("2026", "2027"):
        days = [f"--date={year}-{month:02}-01" for month in range(1, 13)]
        assert punctual("calendars", "put", f"{TENANT}/days", *days).exit_code == 0
    line = punctual("audit", "--limit", "1").stdout.splitlines()[1]
    assert 'dates ["2026-01-01", "2026-02-01"' in line
    assert line.count("…") == 2
    assert "2027-12-01" not in line
