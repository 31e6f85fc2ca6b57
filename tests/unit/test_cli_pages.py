"""Commands that list: all pages unless a limit is named, of every list that the API cuts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from ports.changes import AddGrant, AllowHost, Change, CreateToken, PutCalendar
from ports.principals import GrantKind, GrantRecord
from punctual import client
from tests.support.command_line import TENANT, CommandLine, command_line
from tests.support.definitions import a_target, a_tenant

ROWS: Final = 2  # of a page
COUNT: Final = 2 * ROWS + 1
NAMES: Final = [f"m{number}" for number in range(COUNT)]
YEAR: Final = "DTSTART:20260101\nRRULE:FREQ=DAILY;COUNT=365"


def _target(name: str) -> Change:
    put = a_target()
    return replace(put, target=replace(put.target, target_id=name))


MAKE: Final[dict[str, Callable[[str], Change]]] = {
    "tenants": a_tenant,
    "targets": _target,
    "calendars": lambda name: PutCalendar(
        tenant_id=TENANT, calendar_id=name, dates=("2026-12-25",)
    ),
    "token list": lambda name: CreateToken(principal_id=name, token_id=name, token_hash=name),
    "grants": lambda name: AddGrant(grant=GrantRecord(name, GrantKind.READ, TENANT)),
    "targets allowed": lambda name: AllowHost(tenant_id=None, host=f"{name}.example"),
}
WORDS: Final = {
    "tenants": "tenant",
    "token list": "principal",
    "grants": "principal",
    "targets allowed": "host",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    monkeypatch.setattr(client, "_PAGE_ROWS", ROWS)
    made = command_line(tmp_path)
    yield made
    made.service.close()


def names_of(command: str, rows: Any) -> list[str]:
    found = [row[WORDS.get(command, "name")].removesuffix(".example") for row in rows]
    return [name for name in found if name in NAMES]


@pytest.mark.parametrize("command", MAKE)
def test_list_follows_all_pages(run: CommandLine, command: str) -> None:
    run.service.apply(*map(MAKE[command], NAMES))
    rows = run.json(*command.split())
    assert sorted(names_of(command, rows)) == NAMES
    assert len(rows) >= COUNT
    result = run(*command.split())
    assert all(name in result.stdout for name in NAMES)
    assert "--limit" not in result.stderr


@pytest.mark.parametrize("limit", [1, ROWS, ROWS + 1])
@pytest.mark.parametrize("command", MAKE)
def test_list_stops_at_its_limit(run: CommandLine, command: str, limit: int) -> None:
    run.service.apply(*map(MAKE[command], NAMES))
    whole = run.json(*command.split())
    assert run.json(*command.split(), "--limit", str(limit)) == whole[:limit]
    result = run(*command.split(), "--limit", str(limit))
    assert f"(the first {limit}; more with --limit)" in result.stderr
    assert result.exit_code == 0


def test_limit_before_the_name_of_a_list_counts_too(run: CommandLine) -> None:
    run.service.apply(*map(a_tenant, NAMES))
    assert len(run.json("tenants", "--limit", "3", "list")) == 3


def test_ended_tokens_do_not_count_against_the_limit(run: CommandLine) -> None:
    made = run.json("token", "create", "--principal", "old", "--grant", "read")
    run.service.apply(*map(MAKE["token list"], NAMES[:1]))
    assert run("token", "revoke", made["token_id"], "--yes").exit_code == 0
    found = run.json("token", "list", "--limit", "2")
    assert len(found) == 2
    assert made["token_id"] not in {each["token_id"] for each in found}


def test_calendar_of_many_days_is_shown_in_part(run: CommandLine) -> None:
    run.service.apply(PutCalendar(tenant_id=TENANT, calendar_id="all", rules=(YEAR,)))
    result = run("calendars", "show", f"{TENANT}/all")
    assert len(result.stdout.split()) == 200
    assert result.stdout.split()[0] == "2026-01-01"
    assert result.stderr == "(the first 200 of 365 days; more with --limit)\n"
    result = run("calendars", "show", f"{TENANT}/all", "--limit", "7")
    assert result.stdout.split()[-1] == "2026-01-07"
    assert "(the first 7 of 365 days" in result.stderr
    assert run("calendars", "show", f"{TENANT}/all", "--limit", "365").stderr == ""
    shown = json.loads(run("calendars", "show", f"{TENANT}/all", "--json").stdout)
    assert len(shown["excludes"]) == 365
