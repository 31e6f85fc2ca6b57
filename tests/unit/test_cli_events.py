"""`punctual relay --once` and `punctual events`."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from adapters.events_local import LocalEvents
from adapters.sqlite_database import SqliteDatabase
from ports.changes import PauseTrigger
from ports.events import EventsPort
from punctual.commands.events import published
from scheduling.limits import EVENTS_KEPT_MAX
from tests.support.command_line import TENANT, CommandLine, command_line, table
from tests.support.definitions import a_target, a_tenant, a_trigger
from tests.support.published_events import an_event
from tests.support.scripted_target import BUSY


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    made = command_line(tmp_path)
    yield made
    made.service.close()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventsPort]:
    database = SqliteDatabase(tmp_path / "log.db", synchronous="OFF")
    yield LocalEvents(database, kept_max=5)
    database.close()


def some_events(punctual: CommandLine) -> None:
    """A trigger made, one fire that is refused, a pause that ends its tries; all published."""
    service = punctual.service
    service.start()
    service.target.script = lambda fire: BUSY
    service.apply(a_trigger("minutely"))
    service.advance_to("2026-06-01T09:01:00.005Z")
    service.apply(PauseTrigger(tenant_id=TENANT, name="minutely"))
    assert punctual("relay", "--once").stdout == "Published 3 events.\n"


def test_relay_once_publishes_what_waits_and_then_nothing(punctual: CommandLine) -> None:
    some_events(punctual)
    assert punctual("relay", "--once").stdout == "Published 0 events.\n"


def test_relay_without_a_store_is_refused(tmp_path: Path, punctual: CommandLine) -> None:
    result = punctual.bare("relay", "--once", "--data", str(tmp_path / "none"))
    assert result.exit_code == 1
    assert "there is no store in" in result.stderr


def test_events_show_what_was_published_in_order(punctual: CommandLine) -> None:
    some_events(punctual)
    assert table(punctual("events").stdout) == [
        ["offset", "at (UTC)", "event", "trigger", "what"],
        ["1", "2026-06-01 09:00:09.995Z", "TriggerChanged", "acme/minutely", "created, revision 1"],
        ["2", "2026-06-01 09:01:00Z", "TriggerChanged", "acme/minutely", "paused, revision 2"],
        [
            "3",
            "2026-06-01 09:01:00Z",
            "FireStateChanged",
            "acme/minutely",
            "2026-06-01T09:01:00Z: undelivered",
        ],
    ]


def test_events_as_json_hold_the_whole_event(punctual: CommandLine) -> None:
    some_events(punctual)
    first, _, last = punctual.json("events")
    assert first == {
        "offset": 1,
        "event_id": first["event_id"],
        "event": "TriggerChanged",
        "tenant": "acme",
        "trigger_id": punctual.service.fires()[0].key.trigger_id,
        "at": "2026-06-01T09:00:09.995000Z",
        "body": first["body"],
    }
    assert first["event_id"].startswith("TriggerChanged~")
    assert first["body"]["kind"] == "created"
    assert last["body"]["state"] == "undelivered"


@pytest.mark.parametrize(
    ("arguments", "offsets"),
    [
        pytest.param([], [1, 2, 3], id="all_that_fit"),
        pytest.param(["--limit", "2"], [2, 3], id="the_newest"),
        pytest.param(["--after", "0", "--limit", "2"], [1, 2], id="from_the_start"),
        pytest.param(["--after", "2"], [3], id="after_one"),
        pytest.param(["--after", "3"], [], id="after_the_last"),
    ],
)
def test_events_begin_where_they_are_asked_to(
    punctual: CommandLine, arguments: list[str], offsets: list[int]
) -> None:
    some_events(punctual)
    assert [each["offset"] for each in punctual.json("events", *arguments)] == offsets


def test_events_say_how_to_go_on_and_what_is_forgotten(punctual: CommandLine) -> None:
    some_events(punctual)
    assert punctual("events", "--after", "0", "--limit", "1").stderr == "(more with --after 1)\n"
    punctual.plant("DELETE FROM event_log WHERE event_offset < 3")
    assert punctual("events").stderr == ""
    assert punctual("events", "--after", "0").stderr == "(events 1 to 2 are no longer kept)\n"


def test_events_of_an_empty_log_say_who_publishes(punctual: CommandLine) -> None:
    result = punctual("events")
    assert result.stdout == ""
    assert result.stderr == "No events: `punctual up` or `punctual relay` publishes what changes.\n"
    assert json.loads(punctual("events", "--json").stdout) == []


def test_events_help_names_the_bound_of_the_log(punctual: CommandLine) -> None:
    words = punctual.bare("events", "--help").stdout.split()
    assert f"keeps the newest {EVENTS_KEPT_MAX:,} events" in " ".join(words)


def test_events_of_one_tenant_are_its_newest(punctual: CommandLine) -> None:
    some_events(punctual)
    punctual.service.apply(a_tenant("beta"), a_target("beta"), a_trigger("other", tenant_id="beta"))
    punctual("relay", "--once")
    assert [each["tenant"] for each in punctual.json("events")] == [*([TENANT] * 3), "beta"]
    newest = punctual.json("events", "--tenant", TENANT, "--limit", "2")
    assert [each["offset"] for each in newest] == [2, 3]
    assert punctual("events", "--tenant", "beta", "--after", "4").stderr == "No events match.\n"
    assert punctual("events", "--tenant", "bet").stderr == (
        "punctual: --tenant: there is no tenant 'bet'; did you mean beta?\n"
    )


def page_of(log: EventsPort, after: int) -> dict[str, Any]:
    """A page as the API answers it."""
    found = log.read(after=after, limit=500)
    return {
        "items": [each.offset for each in found],
        "next_after": found[-1].offset if found else after,
        "kept_after": log.kept().after,
    }


def test_published_goes_on_with_what_comes_while_it_waits(log: EventsPort) -> None:
    log.publish([an_event(1), an_event(2)])
    waits: list[int] = []

    def wait() -> None:
        waits.append(len(waits))
        log.publish([an_event(2 + len(waits))])

    asked = published(lambda after, limit: page_of(log, after), after=1, wait=wait)
    assert list(islice(asked, 3)) == [2, 3, 4]
    assert len(waits) == 2


def test_published_says_once_what_it_was_too_late_for(
    log: EventsPort, capsys: pytest.CaptureFixture[str]
) -> None:
    log.publish([an_event(number) for number in range(1, 9)])  # it keeps five
    asked = published(
        lambda after, limit: page_of(log, after), after=1, wait=lambda: pytest.fail("waited")
    )
    assert list(islice(asked, 5)) == [4, 5, 6, 7, 8]
    assert capsys.readouterr().err == "(events 2 to 3 are no longer kept)\n"
