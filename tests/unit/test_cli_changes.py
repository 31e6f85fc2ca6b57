"""`pause`, `resume`, `targets`, `audit`, `leases`, `rebuild`, `tzdata` and `version`."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from punctual.version import __version__
from scheduling import tzdata_version
from scheduling.vocabulary import MissedPolicy
from tests.support.command_line import CommandLine, command_line, table
from tests.support.definitions import SECRET, a_target, a_tenant, a_trigger
from tests.support.scripted_target import BUSY

ACTOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant with one target and one minutely trigger, ten seconds after nine."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


def with_waiting_fires(punctual: CommandLine) -> None:
    """150 instants to be made up for, all of them in a gap."""
    policy = {"missed_policy": MissedPolicy.FIRE_ALL, "catchup_horizon_s": 86_400}
    punctual.service.apply(a_trigger("minutely", **policy))
    punctual("pause", "minutely")
    punctual.service.advance_to("2026-06-01T11:30:30Z")
    assert punctual("resume", "minutely", "--policy", "fire_all").exit_code == 0


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
    monkeypatch.setattr("punctual.commands.pause.stands_at_terminal", lambda: True)
    result = punctual("pause", "minutely", stdin=answer)
    assert result.exit_code == exit_code
    assert "Pausing acme/minutely stops 150 waiting fires. Go on? [y/N]" in result.stderr
    assert punctual.json("triggers")[0]["state"] == state


def test_pause_on_a_terminal_does_not_ask_where_nothing_waits_or_yes_is_given(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punctual.commands.pause.stands_at_terminal", lambda: True)
    assert punctual("pause", "minutely").exit_code == 0
    punctual("resume", "minutely")
    with_waiting_fires(punctual)
    result = punctual("pause", "minutely", "--yes")
    assert (result.exit_code, result.stderr) == (0, "")


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


def test_pause_and_resume_as_json_tell_what_changed(punctual: CommandLine) -> None:
    paused = punctual.json("pause", "minutely")
    assert (paused["change"], paused["stopped_fires"], paused["next_due_at"]) == ("paused", 0, None)
    resumed = punctual.json("resume", "acme/minutely")
    assert (resumed["change"], resumed["policy"], resumed["next_due_at"]) == (
        "resumed",
        "drop",
        "2026-06-01T09:01:00Z",
    )


def test_targets_show_endpoints_and_never_a_secret(punctual: CommandLine) -> None:
    result = punctual("targets")
    assert table(result.stdout) == [
        ["target", "kind", "endpoint", "timeout"],
        ["acme/shop", "http", "https://shop.example/hook", "10 s"],
    ]
    assert "whsec_" not in json.dumps(punctual.json("targets"))


@pytest.mark.parametrize("name", ["acme/shop", "shop"])
def test_targets_secret_is_printed_and_audited(punctual: CommandLine, name: str) -> None:
    result = punctual("targets", "secret", name)
    assert (result.exit_code, result.stdout) == (0, f"{SECRET}\n")
    entry = punctual.json("audit", "--limit", "1")[0]
    assert (entry["actor"], entry["action"], entry["tenant"], entry["subject"]) == (
        ACTOR,
        "secret_shown",
        "acme",
        "shop",
    )


def test_targets_secret_takes_the_folder_before_its_name(punctual: CommandLine) -> None:
    result = punctual.bare("targets", "--data", str(punctual.data), "secret", "acme/shop")
    assert (result.exit_code, result.stdout) == (0, f"{SECRET}\n")


def test_targets_secret_of_an_unknown_target_suggests_one(punctual: CommandLine) -> None:
    result = punctual("targets", "secret", "acme/shap")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: target: no 'acme/shap'; did you mean acme/shop?\n",
    )


def test_targets_secret_of_a_name_of_several_tenants_lists_them(punctual: CommandLine) -> None:
    punctual.service.apply(a_tenant("beta"), a_target("beta"))
    result = punctual("targets", "secret", "shop")
    assert result.stderr == (
        "punctual: target: 'shop' is the name of several: acme/shop, beta/shop; name one\n"
    )


def test_audit_shows_newest_first_with_its_limit(punctual: CommandLine) -> None:
    punctual("pause", "minutely", "--note", "price change")
    rows = table(punctual("audit", "--limit", "2").stdout)
    assert rows == [
        ["at (UTC)", "actor", "action", "subject", "note"],
        ["2026-06-01 09:00:10Z", ACTOR, "trigger_paused", "acme/minutely", "price change"],
        ["2026-06-01 09:00:09.995Z", "test", "trigger_created", "acme/minutely"],
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


def test_pause_stops_a_retry_that_waits(punctual: CommandLine) -> None:
    punctual.service.target.script = lambda fire: BUSY
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:00.100Z")
    result = punctual("pause", "minutely")
    assert "; stopped 1 waiting fire. " in result.stdout
