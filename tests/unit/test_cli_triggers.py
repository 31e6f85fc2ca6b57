"""`punctual triggers` on a real store: the list, its filters, and one trigger in full."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from control_api.answers.zone_times import span_text
from ports.changes import PauseTrigger
from scheduling.instants import from_text
from tests.support.command_line import TENANT, CommandLine, command_line, table
from tests.support.definitions import a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


def test_triggers_of_an_empty_store_say_how_to_add_some(punctual: CommandLine) -> None:
    result = punctual("triggers")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No triggers yet: add some with `punctual apply -f FILE`.\n"
    assert punctual.json("triggers") == []


def test_triggers_show_state_schedule_next_and_newest(punctual: CommandLine) -> None:
    punctual.service.apply(
        a_trigger("nightly", "0 2 * * *", zone="Europe/Berlin"), a_trigger("minutely")
    )
    punctual.service.start()
    punctual.service.advance_to("2026-06-01T09:01:30Z")
    assert table(punctual("triggers").stdout) == [
        ["trigger", "state", "schedule", "zone", "next (own zone)", "last fire (own zone)"],
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
    assert lines[1].endswith(r"bad\x1b[31m zone")
    assert lines[2].endswith("price change")


def test_triggers_of_an_unknown_tenant_suggest_a_known_one(punctual: CommandLine) -> None:
    result = punctual("triggers", "--tenant", "acne")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --tenant: there is no tenant 'acne'; did you mean acme?\n",
    )


def test_triggers_are_selected_by_state_target_and_prefix(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("report-a"), a_trigger("report-b"), a_trigger("sweep"))
    punctual.service.apply(PauseTrigger(tenant_id=TENANT, name="report-b"))

    def names(*arguments: str) -> list[str]:
        return [each["name"] for each in punctual.json("triggers", *arguments)]

    assert names() == ["report-a", "report-b", "sweep"]
    assert names("--prefix", "report-") == ["report-a", "report-b"]
    assert names("--state", "paused") == ["report-b"]
    assert names("--target", "shop", "--prefix", "s", "--tenant", TENANT) == ["sweep"]
    assert punctual("triggers", "--target", "none").stderr == "No triggers match.\n"
    assert punctual("triggers", "--limit", "2").stderr == "(the first 2; more with --limit)\n"


def test_triggers_of_one_zone_say_it_in_the_header(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("nightly", "0 2 * * *", zone="Europe/Berlin"))
    assert table(punctual("triggers").stdout)[0] == [
        *("trigger", "state", "schedule"),
        *("next (Europe/Berlin)", "last fire (Europe/Berlin)"),
    ]


def test_trigger_shown_in_full_tells_definition_next_and_odd_nights(tmp_path: Path) -> None:
    # Europe/Berlin 2026-10-25: 03:00 -> 02:00 local, at 01:00Z
    punctual = command_line(tmp_path, start="2026-10-23T20:00:00Z")
    punctual.service.start()
    punctual.service.apply(
        a_trigger("nightly", "30 2 * * *", zone="Europe/Berlin", smear_s=60, max_fires=9)
    )
    punctual.service.advance_to("2026-10-24T20:00:00Z")
    text = punctual("triggers", "show", "nightly", "--count", "2").stdout
    found = punctual.json("triggers", "show", "nightly", "--count", "2")
    punctual.service.close()
    facts = dict(row for row in table(text) if len(row) == 2)
    assert facts["trigger"] == "acme/nightly"
    assert facts["says"].startswith("At 02:30 every day, in Europe/Berlin; ")
    assert facts["newest"] == "2026-10-24 02:30:00 +02:00 succeeded"
    assert (facts["horizon"], facts["smear_s"], facts["max_fires"]) == ("1h (default)", "60", "9")
    due = found["upcoming"]["items"][0]["due_at"]
    later_us = from_text(due) - from_text("2026-10-25T00:30:00Z")
    assert (
        "Next, in Europe/Berlin:\n"
        f"  Sun 2026-10-25 02:30:00 +02:00 (in 4 h 30 m, sent {span_text(later_us)} later)\n"
    ) in text
    assert (
        "Odd nights of the next 12 months:\n"
        "  Sun 2026-10-25: the clock repeats 02:00 to 03:00; 02:30 counts once, in the first pass "
        "(00:30:00Z)\n"
    ) in text
    assert [each["date"] for each in found["trigger"]["odd_nights"]] == ["2026-10-25", "2027-03-28"]


def test_trigger_shown_while_paused_says_so_with_its_note(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("minutely"))
    punctual.service.apply(PauseTrigger(tenant_id=TENANT, name="minutely", note="price change"))
    text = punctual("triggers", "show", "minutely").stdout
    assert "state    paused: price change\n" in text
    assert "newest   no fire yet\n" in text
    assert (
        "Next, in UTC:\n  paused (price change): nothing is due until it is resumed\n\n"
        "No odd night in the next 12 months: no clock change touches it.\n"
    ) in text


def test_trigger_that_is_not_there_is_told_with_a_suggestion(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("minutely"))
    result = punctual("triggers", "show", "minutly")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: trigger: no 'minutly'; did you mean minutely?\n",
    )
