"""`pause` and `resume`: of one trigger, and of several."""

import getpass
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduling.vocabulary import MissedPolicy
from tests.support.command_line import CommandLine, at_terminal, command_line, table
from tests.support.definitions import a_target, a_tenant, a_trigger
from tests.support.scripted_target import BUSY

ACTOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant with one target and one minutely trigger, ten seconds after nine."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


@pytest.fixture
def several(punctual: CommandLine) -> CommandLine:
    """Two reports and another trigger of `acme`, and a report of `beta`."""
    punctual.service.apply(
        a_trigger("report-a"),
        a_trigger("report-b"),
        a_tenant("beta"),
        a_target("beta"),
        a_trigger("report-a", tenant_id="beta"),
    )
    return punctual


def with_waiting_fires(punctual: CommandLine) -> None:
    """150 instants to be made up for, all of them in a gap."""
    policy: dict[str, Any] = {
        "missed_policy": MissedPolicy.FIRE_ALL,
        "catchup_horizon_s": 86_400,
    }
    punctual.service.apply(a_trigger("minutely", **policy))
    punctual("pause", "minutely")
    punctual.service.advance_to("2026-06-01T11:30:30Z")
    assert punctual("resume", "minutely", "--policy", "fire_all").exit_code == 0


def states(punctual: CommandLine) -> dict[str, str]:
    rows = punctual.service.store.registry.triggers(limit=100)
    return {f"{each.tenant_id}/{each.name}": each.state.value for each in rows}


def test_pause_says_from_when_and_how_to_go_on(punctual: CommandLine) -> None:
    result = punctual("pause", "minutely", "--note", "price change")
    assert (result.exit_code, result.stdout) == (
        0,
        "Paused acme/minutely from Mon 2026-06-01 09:00:10Z on. "
        "Go on with `punctual resume acme/minutely`.\n",
    )
    entry = punctual.json("audit", "--limit", "1")[0]
    assert (entry["actor"], entry["action"], entry["note"]) == (
        ACTOR,
        "trigger_paused",
        "price change",
    )


def test_pause_of_a_paused_trigger_changes_nothing(punctual: CommandLine) -> None:
    punctual("pause", "minutely", "--note", "price change")
    again = punctual("pause", "minutely", "--note", "another")
    assert (again.exit_code, again.stdout) == (
        0,
        "acme/minutely was paused already (price change); nothing changed.\n",
    )


def test_pause_away_from_a_terminal_stops_waiting_fires_without_asking(
    punctual: CommandLine,
) -> None:
    with_waiting_fires(punctual)
    result = punctual("pause", "minutely")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "; stopped 150 waiting fires. " in result.stdout
    assert punctual.json("fires", "minutely", "--state", "held") == []


@pytest.mark.parametrize(
    ("answer", "exit_code", "state"), [("y\n", 0, "paused"), ("n\n", 1, "live"), ("", 1, "live")]
)
def test_pause_on_a_terminal_shows_the_count_and_asks(
    punctual: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    exit_code: int,
    state: str,
) -> None:
    with_waiting_fires(punctual)
    at_terminal(monkeypatch)
    result = punctual("pause", "minutely", stdin=answer)
    assert result.exit_code == exit_code
    assert "Pausing acme/minutely stops 150 waiting fires. Go on? [y/N]" in result.stderr
    assert states(punctual)["acme/minutely"] == state


def test_pause_of_what_changed_while_a_person_was_asked_is_refused(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_waiting_fires(punctual)

    def edited_meanwhile(*arguments: object, **options: object) -> bool:
        punctual.service.apply(a_trigger("minutely", "*/5 * * * *"))
        return True

    at_terminal(monkeypatch)
    monkeypatch.setattr("click.confirm", edited_meanwhile)
    result = punctual("pause", "minutely")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "acme/minutely" in result.stderr
    assert states(punctual)["acme/minutely"] == "live"


def test_pause_on_a_terminal_does_not_ask_where_nothing_waits_or_yes_is_given(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_terminal(monkeypatch)
    assert punctual("pause", "minutely").exit_code == 0
    punctual("resume", "minutely")
    with_waiting_fires(punctual)
    result = punctual("pause", "minutely", "--yes")
    assert (result.exit_code, result.stderr) == (0, "")


def test_pause_stops_a_retry_that_waits(punctual: CommandLine) -> None:
    punctual.service.target.script = lambda fire: BUSY
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:00.100Z")
    result = punctual("pause", "minutely")
    assert "; stopped 1 waiting fire. " in result.stdout


def test_pause_refuses_a_note_that_is_too_long(punctual: CommandLine) -> None:
    result = punctual("pause", "minutely", "--note", "x" * 501)
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --note: has 501 characters; at most 500\n",
    )


def test_resume_says_what_becomes_of_the_pause_and_what_is_next(punctual: CommandLine) -> None:
    punctual("pause", "minutely")
    punctual.service.advance_to("2026-06-01T09:10:30Z")
    result = punctual("resume", "minutely", "--policy", "fire_once_now", "--note", "done")
    assert (result.exit_code, result.stdout) == (
        0,
        "Resumed acme/minutely with fire_once_now for the paused time: "
        "next at Mon 2026-06-01 09:11:00Z.\n",
    )
    newest = punctual.json("fires", "minutely")
    assert [(each["lane"], each["state"], each["cause"]) for each in newest] == [
        ("catch_up", "held", None),
        ("on_time", "not_dispatched", "coalesced"),
    ]


def test_resume_of_a_live_trigger_changes_nothing(punctual: CommandLine) -> None:
    result = punctual("resume", "minutely")
    assert (result.exit_code, result.stdout) == (
        0,
        "acme/minutely was not paused; nothing changed, next at Mon 2026-06-01 09:01:00Z.\n",
    )


def test_pause_and_resume_as_json_are_what_the_api_answers(punctual: CommandLine) -> None:
    paused = punctual.json("pause", "minutely")
    assert (paused["change"], paused["stopped_fires"], paused["trigger"]["state"]) == (
        "paused",
        0,
        "paused",
    )
    resumed = punctual.json("resume", "acme/minutely")
    assert (resumed["change"], resumed["trigger"]["next_due_at"]) == (
        "resumed",
        "2026-06-01T09:01:00Z",
    )


@pytest.mark.parametrize(
    ("words", "paused"),
    [
        pytest.param(("acme/report-*",), {"acme/report-a", "acme/report-b"}, id="pattern"),
        pytest.param(("*/report-a",), {"acme/report-a", "beta/report-a"}, id="any_tenant"),
        pytest.param(
            ("report-*", "--tenant", "beta"), {"beta/report-a"}, id="pattern_of_the_tenant"
        ),
        pytest.param(
            ("minutely", "acme/report-a", "acme/report-[ac]"),
            {"acme/minutely", "acme/report-a"},
            id="names_and_a_pattern_that_meet",
        ),
    ],
)
def test_pause_of_several_pauses_what_is_named_and_nothing_else(
    several: CommandLine, words: tuple[str, ...], paused: set[str]
) -> None:
    result = several("pause", *words, "--note", "freeze")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = table(result.stdout)
    assert rows[0] == ["trigger", "became", "stopped"]
    assert {row[0] for row in rows[1:]} == paused
    assert {name for name, state in states(several).items() if state == "paused"} == paused


def test_pause_of_several_on_a_terminal_shows_the_plan_and_asks(
    several: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_waiting_fires(several)
    at_terminal(monkeypatch)
    result = several("pause", "acme/*", stdin="n\n")
    assert result.exit_code == 1
    assert table(result.stderr)[:4] == [
        ["trigger", "state", "waiting"],
        ["acme/minutely", "live", "150"],
        ["acme/report-a", "live", "0"],
        ["acme/report-b", "live", "0"],
    ]
    assert "This is to pause 3 triggers, which stops 150 waiting fires. Go on?" in result.stderr
    assert set(states(several).values()) == {"live"}
    assert several("pause", "acme/*", stdin="y\n").exit_code == 0
    assert states(several)["acme/minutely"] == "paused"
    assert states(several)["beta/report-a"] == "live"


def test_pause_of_several_where_one_is_refused_does_the_others_and_says_which(
    several: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = several(
        "token", "create", "--principal", "ci", "--grant", "author:acme", "--grant", "read:beta"
    ).stdout.strip()
    monkeypatch.setenv("PUNCTUAL_TOKEN", token)
    result = several("pause", "*/report-a")
    assert result.exit_code == 1
    assert table(result.stdout)[1:] == [["acme/report-a", "paused"], ["beta/report-a", "refused"]]
    assert result.stderr == (
        "punctual: 1 of 2 were refused: beta/report-a: to pause a trigger needs the grant author "
        "on tenant beta: ask an operator for it\n"
    )


def test_pause_and_resume_of_several_as_json_are_lists(several: CommandLine) -> None:
    paused = several.json("pause", "acme/report-*")
    assert [(each["name"], each["change"]) for each in paused] == [
        ("report-a", "paused"),
        ("report-b", "paused"),
    ]
    resumed = several.json("resume", "acme/*", "--policy", "skip")
    assert [(each["name"], each["change"]) for each in resumed] == [
        ("minutely", "unchanged"),
        ("report-a", "resumed"),
        ("report-b", "resumed"),
    ]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        pytest.param("minutly", "trigger: no 'minutly'; did you mean minutely?", id="name"),
        pytest.param(
            "acme/minutly", "trigger: no 'acme/minutly'; did you mean acme/minutely?", id="both"
        ),
        pytest.param(
            "acne/minutely", "tenant: there is no tenant 'acne'; did you mean acme?", id="tenant"
        ),
        pytest.param(
            "report-a",
            "trigger: 'report-a' is the name of several: acme/report-a and beta/report-a; name one",
            id="several",
        ),
        pytest.param(
            "acme/x-*", "trigger: no trigger fits 'acme/x-*'; see `punctual triggers`", id="pattern"
        ),
    ],
)
def test_pause_of_what_is_not_there_says_what_there_is(
    several: CommandLine, word: str, message: str
) -> None:
    result = several("pause", word)
    assert (result.exit_code, result.stderr) == (1, f"punctual: {message}\n")


def test_pause_where_tenant_and_name_contradict_is_refused(several: CommandLine) -> None:
    result = several("pause", "acme/minutely", "--tenant", "beta")
    assert result.stderr == (
        "punctual: --tenant: beta contradicts acme/minutely; leave one of them out\n"
    )
