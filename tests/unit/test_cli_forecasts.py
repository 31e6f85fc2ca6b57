"""`upcoming`, `backlog`, `hot-seconds`: what lies ahead, as people read it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ports.changes import PauseTrigger
from scheduling.vocabulary import MissedPolicy
from tests.support.command_line import TENANT, CommandLine, command_line, table
from tests.support.definitions import a_tenant, a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


def test_upcoming_of_a_trigger_is_in_its_zone(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("nightly", "0 2 * * *", zone="Europe/Berlin"))
    assert table(punctual("upcoming", "nightly", "--count", "2").stdout) == [
        ["scheduled (Europe/Berlin)", "UTC", "in"],
        ["2026-06-02 02:00:00", "00:00:00Z", "14 h 59 m"],
        ["2026-06-03 02:00:00", "00:00:00Z", "1 d 14 h"],
    ]


def test_upcoming_of_the_only_tenant_tells_of_all_triggers_in_order(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_trigger("here", "0 10 * * *"), a_trigger("there", "30 5 * * *", zone="America/New_York")
    )
    assert table(punctual("upcoming", "--count", "2").stdout) == [
        ["trigger", "scheduled (own zone)", "UTC", "zone", "in"],
        ["acme/there", "2026-06-01 05:30:00 -04:00", "09:30:00Z", "America/New_York", "29 m 50 s"],
        ["acme/here", "2026-06-01 10:00:00 +00:00", "10:00:00Z", "UTC", "59 m 50 s"],
    ]
    found = punctual.json("upcoming", "--tenant", TENANT, "--count", "1")
    assert [each["trigger"] for each in found["items"]] == ["there"]
    assert (found["reason"], found["is_complete"]) == (None, True)


def test_upcoming_shows_how_far_smear_moves_an_instant(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("hourly", "0 * * * *", smear_s=600))
    header, row = table(punctual("upcoming", "hourly", "--count", "1").stdout)
    assert header == ["scheduled (UTC)", "in", "smear"]
    assert row[0] == "2026-06-01 10:00:00"
    assert row[2].endswith((" s", " ms")) or " m " in row[2]


def test_upcoming_of_a_paused_trigger_says_why_there_is_nothing(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.apply(PauseTrigger(tenant_id=TENANT, name="minutely", note="price change"))
    result = punctual("upcoming", "minutely")
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        "Nothing is due: paused (price change): nothing is due until it is resumed.\n",
    )


@pytest.mark.parametrize("command", ["upcoming", "hot-seconds"])
def test_forecasts_of_several_tenants_ask_which(punctual: CommandLine, command: str) -> None:
    punctual.service.apply(a_tenant("beta"))
    result = punctual(command)
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --tenant: there are several: name one of acme and beta\n",
    )
    assert punctual(command, "--tenant", "acme").exit_code == 0


def test_backlog_tells_what_waits_and_until_when(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_trigger("minutely", missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    )
    punctual.service.apply(PauseTrigger(tenant_id=TENANT, name="minutely"))
    punctual.service.advance_to("2026-06-01T11:30:30Z")
    assert punctual("resume", "minutely", "--policy", "fire_all").exit_code == 0
    header, on_time, catch_up, *_ = table(punctual("backlog").stdout)
    assert header == ["lane", "waiting", "gone by (UTC)", "how we know"]
    assert on_time == ["on_time", "0", "nothing waits"]
    assert catch_up[:2] == ["catch_up", "150"]
    assert catch_up[2].startswith("2026-06-01 11:3")
    assert catch_up[3].startswith("catch-up at ")
    lanes = punctual.json("backlog", "--tenant", TENANT)["lanes"]
    assert {each["lane"]: each["waiting"] for each in lanes}["catch_up"] == 150
    assert punctual("backlog", "--tenant", "acne").stderr == (
        "punctual: --tenant: there is no tenant 'acne'; did you mean acme?\n"
    )


def test_hot_seconds_name_the_peak_whose_it_is_and_the_smear_that_flattens_it(
    punctual: CommandLine,
) -> None:
    punctual.service.apply(*(a_trigger(f"nine-{n}", "0 12 * * *") for n in range(30)))
    text = punctual("hot-seconds", "--count", "1").stdout
    lines = text.splitlines()
    assert lines[0] == (
        "acme, 2026-06-01 09:00:10Z to 2026-06-02 09:00:10Z: 30 instants of 30 live triggers."
    )
    assert lines[1] == "Peak: 30 fires in one second; 30 without any smear."
    found = punctual.json("hot-seconds", "--count", "1")
    smear = found["smear"]
    assert smear["smear_s"] > 0
    assert lines[2] == (
        f"With a smear of {smear['smear_s']:,} s on all of them these would peak at "
        f"{smear['expected']} a second, for {smear['level']} or fewer a second."
    )
    assert table("\n".join(lines[4:])) == [
        ["second (UTC)", "fires", "whose"],
        [
            "2026-06-01 12:00:00Z",
            "30",
            "30 at 0 12 * * * in UTC (acme/nine-0, acme/nine-1, acme/nine-10, ...)",
        ],
    ]


@pytest.mark.parametrize(
    ("level", "advice"),
    [
        ("200", "No smear is needed for 200 or fewer a second."),
        ("1", "No smear was found that flattens it to 1 or fewer a second, up to 3,600 s: "),
    ],
)
def test_hot_seconds_with_a_level_say_what_it_takes(
    punctual: CommandLine, level: str, advice: str
) -> None:
    punctual.service.apply(*(a_trigger(f"often-{n}", "*/5 * * * *") for n in range(200)))
    text = punctual("hot-seconds", "--level", level).stdout
    assert text.splitlines()[2].startswith(advice)


def test_hot_seconds_without_a_live_trigger_tell_that_nothing_comes(punctual: CommandLine) -> None:
    assert punctual("hot-seconds").stdout == (
        "acme, 2026-06-01 09:00:10Z to 2026-06-02 09:00:10Z: 0 instants of 0 live triggers.\n"
    )
