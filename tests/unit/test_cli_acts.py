"""`run`, `cancel` and `delete`."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduling.vocabulary import OverlapPolicy
from tests.support.command_line import CommandLine, at_terminal, command_line
from tests.support.definitions import a_trigger
from tests.support.scripted_target import BUSY

ACTOR = f"cli:{getpass.getuser()}"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One minutely trigger, ten seconds after nine, and nothing running."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


def newest_action(punctual: CommandLine) -> tuple[str, str, str | None]:
    (entry,) = punctual.service.store.audit.entries(limit=1)
    return entry.actor, entry.action, entry.note


def test_run_names_the_fire_and_says_when_it_is_sent(punctual: CommandLine) -> None:
    result = punctual("run", "minutely", "--note", "customer asked")
    (fire,) = punctual.service.fires("minutely")
    assert (result.exit_code, result.stdout) == (
        0,
        f"Running acme/minutely now: {fire.key}. "
        "What comes of it: `punctual fires acme/minutely`.\n",
    )
    assert result.stderr == (
        "No service runs on this folder: it is sent once `punctual up` starts.\n"
    )
    assert fire.origin.value == "manual"
    assert newest_action(punctual) == (ACTOR, "trigger_run", "customer asked")


def test_run_is_sent_at_once_where_something_runs(punctual: CommandLine) -> None:
    punctual.service.start()
    key = punctual.json("run", "minutely")["fire_key"]
    punctual.service.advance_to("2026-06-01T09:00:15Z")
    (fire,) = punctual.service.fires("minutely")
    assert (str(fire.key), fire.state.value) == (key, "succeeded")


@pytest.mark.parametrize("given", ["file", "text", "stdin"])
def test_run_takes_a_payload_in_place_of_the_trigger_s(
    punctual: CommandLine, tmp_path: Path, given: str
) -> None:
    (tmp_path / "payload.json").write_text('{"to": ["Zoë"]}', encoding="utf-8")
    payload = {"file": str(tmp_path / "payload.json"), "text": '{"to": ["Zoë"]}', "stdin": "-"}
    punctual.service.start()
    result = punctual("run", "minutely", "--payload", payload[given], stdin='{"to": ["Zoë"]}')
    assert result.exit_code == 0, result.stderr
    punctual.service.advance_to("2026-06-01T09:00:15Z")
    (receipt,) = punctual.service.target.receipts
    assert receipt.fire.payload is not None
    assert json.loads(receipt.fire.payload) == {"to": ["Zoë"]}


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        pytest.param("nofile.json", "--payload: is neither a file nor JSON", id="no_file"),
        pytest.param("[1,", "--payload: is neither a file nor JSON", id="half_of_it"),
        pytest.param("NaN", "NaN is no JSON number", id="no_number"),
        pytest.param("-", "--payload: stdin holds no JSON", id="stdin"),
    ],
)
def test_run_refuses_a_payload_that_is_none(
    punctual: CommandLine, payload: str, message: str
) -> None:
    result = punctual("run", "minutely", "--payload", payload, stdin="<xml/>")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert message in result.stderr
    assert punctual.service.fires("minutely") == []


def test_run_beside_one_under_way_needs_force(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("minutely", overlap_policy=OverlapPolicy.SKIP))
    assert punctual("run", "minutely").exit_code == 0
    refused = punctual("run", "minutely")
    assert (refused.exit_code, "force" in refused.stderr) == (1, True)
    assert punctual("run", "minutely", "--force").exit_code == 0
    assert len(punctual.service.fires("minutely")) == 2


def test_cancel_stops_a_fire_that_waits_and_says_as_what_it_ends(punctual: CommandLine) -> None:
    key = punctual.json("run", "minutely")["fire_key"]
    result = punctual("cancel", key, "--note", "by mistake")
    assert (result.exit_code, result.stdout) == (
        0,
        "Cancelled the fire of acme/minutely at 2026-06-01 09:00:10Z: "
        "it ends as not_dispatched (cancelled).\n",
    )
    assert newest_action(punctual) == (ACTOR, "fire_cancelled", "by mistake")
    again = punctual("cancel", key)
    assert (again.exit_code, "has ended as not_dispatched" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        pytest.param(
            "minutely", "fire_key: 'minutely' is not tenant~trigger~microseconds~sequence"
        ),
        pytest.param("acme~t0~1~0", "there is no fire acme~t0~1~0"),
        pytest.param("nobody~t0~1~0", "tenant: there is no tenant 'nobody'"),
    ],
    ids=["no_key", "unknown", "of_nobody"],
)
def test_cancel_of_what_is_no_fire_says_so(punctual: CommandLine, key: str, message: str) -> None:
    result = punctual("cancel", key)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_delete_away_from_a_terminal_ends_it_and_says_what_it_stopped(
    punctual: CommandLine,
) -> None:
    punctual("run", "minutely")
    result = punctual("delete", "minutely", "--note", "obsolete")
    assert result.exit_code == 0
    assert result.stdout.startswith("Deleted acme/minutely (t")
    assert result.stdout.endswith("; stopped 1 waiting fire. Its fires stay on record.\n")
    assert punctual.service.store.registry.triggers(limit=10) == []
    assert newest_action(punctual) == (ACTOR, "trigger_deleted", "obsolete")


@pytest.mark.parametrize(("answer", "exit_code", "left"), [("y\n", 0, 0), ("n\n", 1, 1)])
def test_delete_on_a_terminal_shows_what_it_stops_and_asks(
    punctual: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    exit_code: int,
    left: int,
) -> None:
    punctual.service.target.script = lambda fire: BUSY
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:00.100Z")
    at_terminal(monkeypatch)
    result = punctual("delete", "acme/minutely", stdin=answer)
    assert result.exit_code == exit_code
    assert (
        "Deleting acme/minutely ends it for good and stops 1 waiting fire. Go on? [y/N]"
        in result.stderr
    )
    assert len(punctual.service.store.registry.triggers(limit=10)) == left


def test_delete_as_json_is_what_the_api_answers(punctual: CommandLine) -> None:
    body = punctual.json("delete", "minutely")
    assert (body["change"], body["name"], body["trigger"]) == ("deleted", "minutely", None)
