"""`triggers`, `fires` and `why` on a real store: what a service has done, as people read it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punctual.commands.follow import changes
from scheduling.instants import from_text, to_text
from scheduling.vocabulary import Cause, FireState, MissedPolicy
from tests.support.command_line import START, CommandLine, command_line, table
from tests.support.definitions import a_target, a_tenant, a_trigger
from tests.support.scripted_target import BUSY, REFUSED


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


def after_an_outage(punctual: CommandLine, **changes_of: Any) -> None:
    """`minutely` ran until 09:03:30, was away until 09:40:30, and runs again."""
    service = punctual.service
    service.apply(a_trigger("minutely", **changes_of))
    service.start()
    service.advance_to("2026-06-01T09:03:30Z")
    service.stop()
    service.advance_to("2026-06-01T09:40:30Z")
    service.start()
    service.advance_to("2026-06-01T09:41:30Z")


def test_triggers_of_an_empty_store_say_how_to_add_some(punctual: CommandLine) -> None:
    result = punctual("triggers")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No triggers yet: add some with `punctual up --manifest FILE`.\n"
    assert punctual.json("triggers") == []


def test_triggers_show_state_schedule_next_and_newest(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_trigger("nightly", "0 2 * * *", zone="Europe/Berlin"), a_trigger("minutely")
    )
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:30Z")
    assert table(punctual("triggers").stdout) == [
        ["trigger", "state", "schedule", "zone", "next", "last fire"],
        [
            "acme/minutely",
            "live",
            "* * * * *",
            "UTC",
            "2026-06-01 09:02:00Z (in 30 s)",
            "2026-06-01 09:01:00 succeeded",
        ],
        [
            "acme/nightly",
            "live",
            "0 2 * * *",
            "Europe/Berlin",
            "2026-06-02 02:00:00 +02:00 (in 14 h 58 m)",
        ],
    ]


def test_triggers_show_why_one_stands_still(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("broken"), a_trigger("waiting"))
    punctual("pause", "waiting", "--note", "price change")
    punctual.plant(
        "UPDATE trigger SET state = 'quarantined', quarantine_error = 'bad\x1b[31m zone' "
        "WHERE name = 'broken'"
    )
    lines = punctual("triggers").stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        ["acme/broken", "quarantined"],
        ["acme/waiting", "paused"],
    ]
    assert lines[1].endswith("bad?[31m zone")
    assert lines[2].endswith("price change")


def test_triggers_of_an_unknown_tenant_suggest_a_known_one(punctual: CommandLine) -> None:
    result = punctual("triggers", "--tenant", "acne")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --tenant: there is no tenant 'acne'; did you mean acme?\n",
    )


def test_fires_show_newest_first_with_ranges_as_one_line(punctual: CommandLine) -> None:
    after_an_outage(punctual)
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
    after_an_outage(punctual)
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
    after_an_outage(punctual)
    window = ("--from", "2026-06-01T09:10", "--to", "2026-06-01T09:11:30")
    found = punctual.json("fires", "minutely", *window, "--expand")
    assert [each["scheduled_instant"][11:16] for each in found] == ["09:11", "09:10"]


def test_fires_as_json_follow_the_chain(punctual: CommandLine) -> None:
    after_an_outage(punctual)
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


def test_follow_tells_each_change_once_in_order(punctual: CommandLine) -> None:
    service = punctual.service
    service.target.script = lambda fire: BUSY if not service.target.receipts else REFUSED
    service.apply(a_trigger("minutely"))
    service.start()
    moments = iter(["2026-06-01T09:01:00.005Z", "2026-06-01T09:01:20Z", "2026-06-01T09:02:30Z"])

    def wait() -> None:
        moment = next(moments, None)
        if moment is None:
            raise KeyboardInterrupt
        service.advance_to(moment)

    told: list[tuple[str, FireState]] = []

    def read_all() -> None:
        for row in changes(service.store.history, since_us=from_text(START), wait=wait):
            told.append((to_text(row.key.scheduled_us)[11:16], row.state))

    with pytest.raises(KeyboardInterrupt):
        read_all()
    assert told == [
        ("09:01", FireState.HELD),
        ("09:01", FireState.REFUSED),
        ("09:02", FireState.REFUSED),
    ]


def test_why_tells_the_newest_and_the_next(punctual: CommandLine) -> None:
    after_an_outage(punctual)
    result = punctual("why", "minutely")
    assert result.stdout == (
        "Newest: acme/minutely for Mon 2026-06-01 09:41:00Z fired: sent 5 ms after its due time, "
        "and the target took it on attempt 1 with HTTP 200; the work reported success.\n"
        "Next: acme/minutely for Mon 2026-06-01 09:42:00Z is not decided yet: it is due in 30 s.\n"
    )


def test_why_of_an_absorbed_instant_tells_what_it_went_into(punctual: CommandLine) -> None:
    after_an_outage(punctual)
    (found,) = punctual.json("why", "acme/minutely", "2026-06-01T09:20:00Z")
    assert found["answer"] == "not_dispatched"
    assert found["sentence"] == (
        "We decided not to fire acme/minutely for Mon 2026-06-01 09:20:00Z: it was missed and "
        "coalesced into the fire of 09:40:00Z (policy fire_once_now), which succeeded."
    )
    assert found["fire"]["cause"] == "coalesced"


def test_why_of_an_absorbed_but_not_scheduled_time_names_the_nearest(punctual: CommandLine) -> None:
    after_an_outage(punctual)
    result = punctual("why", "minutely", "2026-06-01T09:20:30")
    assert result.stdout == (
        "Mon 2026-06-01 09:20:30Z is not an instant of acme/minutely's schedule: the nearest are "
        "Mon 2026-06-01 09:20:00Z before and Mon 2026-06-01 09:21:00Z after.\n"
    )


def test_why_while_nothing_runs_says_so(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.advance_to("2026-06-01T09:10:00Z")
    assert punctual("why", "minutely").stdout == (
        "Next: acme/minutely for Mon 2026-06-01 09:01:00Z is not decided: it was due 9 m ago; "
        "nothing is running now: start `punctual up`.\n"
    )


def test_why_of_a_paused_span_names_who_paused_it_before_and_after_the_resume(
    punctual: CommandLine,
) -> None:
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:05:30Z")
    punctual("pause", "minutely", "--note", "price change")
    punctual.service.advance_to("2026-06-01T09:20:30Z")
    open_pause = punctual("why", "minutely", "2026-06-01T09:10").stdout
    assert open_pause.startswith(
        "acme/minutely for Mon 2026-06-01 09:10:00Z is not decided: the trigger is paused by cli:"
    )
    punctual("resume", "minutely")
    closed = punctual("why", "minutely", "2026-06-01T09:10").stdout
    assert closed.startswith(
        "We decided not to fire acme/minutely for Mon 2026-06-01 09:10:00Z: the trigger was paused "
        "by cli:"
    )
    assert closed.endswith(" at 09:05:30Z (price change).\n")


def test_why_of_a_gap_says_that_it_is_still_to_be_planned(punctual: CommandLine) -> None:
    service = punctual.service
    policy = {"missed_policy": MissedPolicy.FIRE_ALL, "catchup_horizon_s": 86_400}
    service.apply(a_trigger("minutely", **policy))
    punctual("pause", "minutely")
    service.advance_to("2026-06-01T12:00:30Z")
    punctual("resume", "minutely", "--policy", "fire_all")
    assert punctual("why", "minutely", "2026-06-01T11:58:00Z").stdout == (
        "acme/minutely for Mon 2026-06-01 11:58:00Z is not decided yet: it is one of 180 missed "
        "instants through 12:00:00Z that will all fire at the catch-up rate, and is still to be "
        "planned; nothing is running now: start `punctual up`.\n"
    )
    assert punctual("pause", "minutely", "--yes").exit_code == 0
    assert punctual("why", "minutely", "2026-06-01T11:58:00Z").stdout.startswith(
        "We decided not to fire acme/minutely for Mon 2026-06-01 11:58:00Z: the trigger was paused"
    )


def test_why_of_a_local_time_that_comes_twice_tells_of_both(tmp_path: Path) -> None:
    # Europe/Berlin 2026-10-25: 03:00 -> 02:00 local, at 01:00Z
    punctual = command_line(tmp_path, start="2026-10-24T20:00:00Z")
    punctual.service.apply(a_trigger("nightly", "30 2 * * *", zone="Europe/Berlin"))
    lines = punctual("why", "nightly", "2026-10-25T02:30").stdout.splitlines()
    punctual.service.close()
    assert lines[0].startswith(
        "First pass: acme/nightly for Sun 2026-10-25 02:30:00 +02:00 is not decided yet"
    )
    assert lines[1].startswith(
        "Second pass: Sun 2026-10-25 02:30:00 +01:00 is not an instant of acme/nightly's schedule"
    )


def test_why_of_a_local_time_that_the_clock_skips_tells_of_the_instant_after_it(
    tmp_path: Path,
) -> None:
    # Europe/Berlin 2027-03-28: 02:00 -> 03:00 local, at 01:00Z
    punctual = command_line(tmp_path, start="2027-03-27T20:00:00Z")
    punctual.service.apply(a_trigger("nightly", "30 2 * * *", zone="Europe/Berlin"))
    result = punctual("why", "nightly", "2027-03-28T02:30")
    punctual.service.close()
    assert result.stdout.startswith(
        "The clock in Europe/Berlin skips 2027-03-28T02:30; the first instant after it: "
        "acme/nightly for Sun 2027-03-28 03:00:00 +02:00 is not decided yet: it is due in 5 h"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("minutly",), "trigger: no 'minutly'; did you mean minutely?", id="typo"),
        pytest.param(
            ("acme/xyz",), "trigger: no 'acme/xyz'; known: acme/minutely", id="nothing-like-it"
        ),
        pytest.param(
            ("acne/minutely",),
            "tenant: there is no tenant 'acne'; did you mean acme?",
            id="tenant",
        ),
        pytest.param(
            ("acme/minutely", "--tenant", "other"),
            "--tenant: other contradicts acme/minutely; leave one of them out",
            id="two-tenants",
        ),
        pytest.param(
            ("minutely", "noon"),
            "instant: 'noon': write an instant as 2026-12-24T17:00:00Z or a local time as "
            "2026-12-24T18:00",
            id="instant",
        ),
    ],
)
def test_why_refuses_what_it_cannot_find_with_a_suggestion(
    punctual: CommandLine, arguments: tuple[str, ...], message: str
) -> None:
    punctual.service.apply(a_trigger("minutely"))
    result = punctual("why", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"punctual: {message}\n")


def test_why_of_a_name_of_several_tenants_lists_them(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_tenant("beta"),
        a_target("beta"),
        a_trigger("minutely"),
        a_trigger("minutely", tenant_id="beta"),
    )
    result = punctual("why", "minutely")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: trigger: 'minutely' is the name of several: acme/minutely and beta/minutely; "
        "name one\n",
    )
    assert punctual("why", "beta/minutely").exit_code == 0
    assert punctual("why", "minutely", "--tenant", "beta").exit_code == 0


def test_why_of_a_cause_reads_the_row_that_holds_it(punctual: CommandLine) -> None:
    after_an_outage(punctual, missed_policy=MissedPolicy.SKIP)
    (found,) = punctual.json("why", "minutely", "2026-06-01T09:20:00Z")
    assert found["fire"]["cause"] == Cause.SKIPPED_BY_POLICY
