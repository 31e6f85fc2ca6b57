"""`punctual why` on a real store: the one sentence, and what it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ports.changes import DeleteTrigger
from scheduling.vocabulary import Cause, MissedPolicy
from tests.support.command_line import TENANT, CommandLine, command_line
from tests.support.definitions import a_target, a_tenant, a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


def test_why_tells_the_newest_and_the_next(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    result = punctual("why", "minutely")
    assert result.stdout == (
        "Newest: acme/minutely for Mon 2026-06-01 09:41:00Z fired: sent 5 ms after its due time, "
        "and the target took it on attempt 1 with HTTP 200; the work reported success.\n"
        "Next: acme/minutely for Mon 2026-06-01 09:42:00Z is not decided yet: it is due in 30 s.\n"
    )


def test_why_of_an_absorbed_instant_tells_what_it_went_into(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    (found,) = punctual.json("why", "acme/minutely", "2026-06-01T09:20:00Z")["answers"]
    assert found["answer"] == "not_dispatched"
    assert found["sentence"] == (
        "We decided not to fire acme/minutely for Mon 2026-06-01 09:20:00Z: it was missed and "
        "coalesced into the fire of 09:40:00Z (policy fire_once_now), which succeeded."
    )
    assert found["fire"]["cause"] == "coalesced"


def test_why_of_an_absorbed_but_not_scheduled_time_names_the_nearest(punctual: CommandLine) -> None:
    punctual.after_an_outage()
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
    punctual.after_an_outage(missed_policy=MissedPolicy.SKIP)
    (found,) = punctual.json("why", "minutely", "2026-06-01T09:20:00Z")["answers"]
    assert found["fire"]["cause"] == Cause.SKIPPED_BY_POLICY


def test_why_as_json_is_the_api_s_answer(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    found = punctual.json("why", "minutely")
    assert (found["tenant"], found["trigger"], found["zone"]) == (TENANT, "minutely", "UTC")
    assert [each["about"] for each in found["answers"]] == ["newest", "next"]


def test_why_still_tells_of_a_deleted_trigger_by_its_id(punctual: CommandLine) -> None:
    punctual.after_an_outage()
    trigger_id = punctual.service.fires()[0].key.trigger_id
    punctual.service.apply(DeleteTrigger(tenant_id=TENANT, name="minutely"))
    result = punctual("why", f"{TENANT}/{trigger_id}", "2026-06-01T09:02:00Z")
    assert result.stdout.startswith("acme/minutely for Mon 2026-06-01 09:02:00Z fired: sent 5 ms")
