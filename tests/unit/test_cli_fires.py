"""`punctual fires` on a real store: lists, windows, and one fire in full."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ports.changes import DeleteTrigger
from scheduling.instants import from_text
from scheduling.vocabulary import FireState, MissedPolicy
from tests.support.command_line import TENANT, CommandLine, command_line, table
from tests.support.definitions import a_trigger
from tests.support.scripted_target import BUSY, REFUSED, Answer


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


def test_fires_show_newest_first_with_ranges_as_one_line(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    coalesced = (
        "36 instants through 2026-06-01 09:39:00Z: coalesced into 2026-06-01 09:40:00Z (succeeded)"
    )
    assert table(punctual("fires", "minutely", "--limit", "4").stdout) == [
        ["scheduled (UTC)", "state", "cause", "lane", "late", "tries"],
        ["2026-06-01 09:41:00", "succeeded", "on_time", "5 ms", "1"],
        ["2026-06-01 09:40:00", "succeeded", "on_time", "30 s", "1"],
        ["2026-06-01 09:04:00", "not_dispatched", coalesced, "on_time"],
        ["2026-06-01 09:03:00", "succeeded", "on_time", "5 ms", "1"],
    ]


def test_fires_expanded_show_each_instant_of_a_range_up_to_the_limit(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    found = punctual.json("fires", "minutely", "--expand", "--limit", "38")
    assert [each["scheduled_instant"] for each in found[:3]] == [
        "2026-06-01T09:41:00Z",
        "2026-06-01T09:40:00Z",
        "2026-06-01T09:39:00Z",
    ]
    assert found[-1]["scheduled_instant"] == "2026-06-01T09:04:00Z"
    assert {each["instant_count"] for each in found} == {1}
    assert {each["cause"] for each in found[2:]} == {"coalesced"}


def test_fires_expanded_inside_a_window_show_only_its_instants(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    window = ("--from", "2026-06-01T09:10", "--to", "2026-06-01T09:11:30")
    found = punctual.json("fires", "minutely", *window, "--expand")
    assert [each["scheduled_instant"][11:16] for each in found] == ["09:11", "09:10"]


def test_fires_as_json_follow_the_chain(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    (found,) = punctual.json("fires", "--cause", "coalesced")
    key = found["fire_key"].removesuffix("~0").rpartition("~")[0]
    into_us = from_text("2026-06-01T09:40:00Z")
    assert found["coalesced_into"] == "2026-06-01T09:40:00Z"
    assert found["became"] == {
        "fire_key": f"{key}~{into_us}~0",
        "scheduled_instant": "2026-06-01T09:40:00Z",
        "state": "succeeded",
        "cause": None,
    }
    assert (found["instant_count"], found["through_instant"]) == (36, "2026-06-01T09:39:00Z")
    assert (found["lateness_ms"], found["attempts"]) == (None, 0)


def test_fires_of_several_zones_show_local_time_with_offset_and_utc(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_trigger("here", "0 10 * * *"), a_trigger("there", "0 6 * * *", zone="America/New_York")
    )
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T10:00:30Z")
    lines = punctual("fires").stdout.splitlines()
    assert [line.split()[:5] for line in lines[1:]] in (
        [
            ["acme/here", "2026-06-01", "10:00:00", "+00:00", "10:00:00Z"],
            ["acme/there", "2026-06-01", "06:00:00", "-04:00", "10:00:00Z"],
        ],
        [
            ["acme/there", "2026-06-01", "06:00:00", "-04:00", "10:00:00Z"],
            ["acme/here", "2026-06-01", "10:00:00", "+00:00", "10:00:00Z"],
        ],
    )


def test_fires_are_selected_by_state_and_time(punctual: CommandLine) -> None:
    punctual.service.target.script = lambda fire: REFUSED
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:05:30Z")
    selected = punctual.json("fires", "--state", "refused", "--from", "90s", "--to", "now")
    assert [each["scheduled_instant"][11:16] for each in selected] == ["09:05", "09:04"]
    nothing = punctual("fires", "--state", "held")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (0, "", "No fires match.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("--from", "yesterday"),
            "--from: 'yesterday': write an instant as 2026-12-24T17:00:00Z or a local time as "
            "2026-12-24T18:00",
            id="text",
        ),
        pytest.param(
            ("--from", "2026-02-30"), "--from: '2026-02-30': this date is in no calendar", id="date"
        ),
        pytest.param(
            ("--from", "2026-06-02", "--to", "2026-06-01"),
            "--to: lies before --from: exchange them",
            id="order",
        ),
    ],
)
def test_fires_refuse_a_window_that_is_none(
    punctual: CommandLine, arguments: tuple[str, ...], message: str
) -> None:
    result = punctual("fires", *arguments)
    assert (result.exit_code, result.stderr) == (1, f"punctual: {message}\n")


def test_fires_of_an_older_zone_say_which_under_a_header_of_the_new_one(
    punctual: CommandLine,
) -> None:
    service = punctual.service
    service.start()
    service.apply(a_trigger("minutely"))
    service.advance_to("2026-06-01T09:01:30Z")
    service.apply(a_trigger("minutely", zone="Asia/Tokyo"))
    service.advance_to("2026-06-01T09:02:30Z")
    header, *rows = table(punctual("fires", "minutely").stdout)
    assert header[:2] == ["scheduled (own zone)", "UTC"]
    assert [row[:3] for row in rows] == [
        ["2026-06-01 18:02:00 +09:00", "09:02:00Z", "Asia/Tokyo"],
        ["2026-06-01 09:01:00 +00:00", "09:01:00Z", "UTC"],
    ]


def test_fires_are_selected_by_lane(punctual: CommandLine) -> None:
    punctual.after_an_outage(missed_policy=MissedPolicy.FIRE_ALL)
    found = punctual.json("fires", "--lane", "catch_up", "--limit", "3")
    assert {each["lane"] for each in found} == {"catch_up"}
    assert len(found) == 3


def test_fires_of_a_deleted_trigger_are_found_by_its_id_in_its_zone(punctual: CommandLine) -> None:
    punctual.after_an_outage(zone="Asia/Tokyo")
    trigger_id = punctual.service.fires()[0].key.trigger_id
    punctual.service.apply(DeleteTrigger(tenant_id=TENANT, name="minutely"))
    found = punctual.json("fires", f"{TENANT}/{trigger_id}", "--from", "2026-06-01T18:41")
    assert [each["scheduled_local"] for each in found] == ["2026-06-01 18:41:00 +09:00"]


def test_fires_more_than_a_page_come_as_one_table_and_one_array(punctual: CommandLine) -> None:
    punctual.after_an_outage(missed_policy=MissedPolicy.SKIP)
    punctual.service.apply(a_trigger("secondly", "* * * * * *"))
    punctual.service.advance_to("2026-06-01T09:51:30Z")
    lines = punctual("fires", "--limit", "599").stdout.splitlines()
    assert len(lines) == 600
    assert [line for line in lines if line.startswith("trigger")] == lines[:1]
    assert len(punctual.json("fires", "--limit", "599")) == 599


def test_fires_show_one_with_its_attempts(punctual: CommandLine) -> None:
    answers = [BUSY, REFUSED]
    punctual.service.target.script = lambda fire: answers.pop(0)
    punctual.service.apply(a_trigger("hourly", "0 10 * * *", zone="Europe/Berlin"))
    punctual.service.advance_to("2026-06-02T07:59:00Z")
    punctual.service.start()
    punctual.service.advance_to("2026-06-02T08:00:50Z")
    (fire,) = punctual.json("fires", "hourly")
    lines = punctual("fires", "show", fire["fire_key"]).stdout.splitlines()
    assert lines[0] == f"fire        {fire['fire_key']}"
    assert lines[2] == "scheduled   Tue 2026-06-02 10:00:00 +02:00 in Europe/Berlin"
    assert lines[3] == "state       refused"
    tries = table("\n".join(lines[lines.index("") + 1 :]))
    assert tries[0] == ["try", "sent (Europe/Berlin)", "took", "result", "HTTP"]
    assert [(row[0], row[3], row[4]) for row in tries[1:]] == [
        ("1", "response", "503"),
        ("2", "response", "400"),
    ]
    assert punctual.json("fires", "show", fire["fire_key"])["fire"] == fire


def test_fires_show_what_the_worker_said_of_its_failure(punctual: CommandLine) -> None:
    failed = Answer(outcome=FireState.FAILED, cause="no paper\n\x1b[31min tray 2")
    punctual.service.target.script = lambda fire: failed
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:30Z")
    (fire,) = punctual.json("fires", "minutely")
    lines = punctual("fires", "show", fire["fire_key"]).stdout.splitlines()
    assert "state        failed" in lines
    assert r"worker said  no paper\n\x1b[31min tray 2" in lines


def test_fires_show_what_one_was_coalesced_into(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    (absorbed,) = punctual.json("fires", "--cause", "coalesced")
    lines = punctual("fires", "show", absorbed["fire_key"]).stdout.splitlines()
    assert lines[-2:] == [
        "Coalesced into the fire of 2026-06-01 09:40:00Z: succeeded.",
        f"  {absorbed['became']['fire_key']}",
    ]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        pytest.param("x", "fire_key: 'x' is not tenant~trigger~microseconds~sequence", id="none"),
        pytest.param("acme~t1~0~0", "fire: there is no fire acme~t1~0~0", id="unknown"),
    ],
)
def test_fires_show_refuses_a_key_that_it_does_not_find(
    punctual: CommandLine, key: str, message: str
) -> None:
    result = punctual("fires", "show", key)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"punctual: {message}")
