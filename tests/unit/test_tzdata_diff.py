"""Which triggers another zone data set moves, over a real store and two real data sets."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from control_api.answers.tzdata_diff import TzdataDiff, ZoneSide, tzdata_diff
from ports.changes import PauseTrigger
from punctual.zone_sources import read_zone_source
from scheduling import tzdata_version
from scheduling.instants import from_text, to_text
from scheduling.wall_clock import wall_clock
from scheduling.zone_data import ZoneData
from tests.support.command_line import CommandLine, command_line, table
from tests.support.definitions import TENANT, a_trigger
from tests.support.zone_files import pinned_file, write_package

# Berlin is at +02:00 until 2026-10-25, Sao Paulo always at -03:00.
BRAZIL = {"Europe/Berlin": "America/Sao_Paulo"}
YEAR_LATER = "2027-06-01T09:00:10Z"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    found = command_line(tmp_path)
    found.service.apply(
        a_trigger("daily", "0 9 * * *", zone="Europe/Berlin"),
        a_trigger("paris", "0 9 * * *", zone="Europe/Paris"),
        a_trigger("every", "every 90m", zone="Europe/Berlin"),
    )
    yield found
    found.service.close()


@pytest.fixture
def brazil(tmp_path: Path) -> Path:
    return write_package(tmp_path / "tzdata", instead=BRAZIL)


def compared(punctual: CommandLine, files: dict[str, bytes], **changes: Any) -> TzdataDiff:
    facts = {
        "now_us": punctual.service.now_us,
        "through_us": from_text(YEAR_LATER),
        "triggers_shown": 20,
    }
    return tzdata_diff(
        punctual.service.store.registry,
        ZoneSide(tzdata_version(), wall_clock),
        ZoneSide("2099z", ZoneData("2099z", files)),
        **{**facts, **changes},
    )


def other(**changed: str) -> dict[str, bytes]:
    names = {"Europe/Berlin": "America/Sao_Paulo", "Europe/Paris": "Europe/Paris", "UTC": "UTC"}
    return {name: pinned_file(source) for name, source in {**names, **changed}.items() if source}


def test_diff_names_the_triggers_that_move_and_from_what_to_what(punctual: CommandLine) -> None:
    found = compared(punctual, other())
    assert (found.triggers, found.moved, found.faulty, found.partial) == (3, 1, 0, 0)
    (moved,) = found.shown
    assert (moved.trigger.name, moved.zone, moved.fault) == ("daily", "Europe/Berlin", None)
    assert moved.moves is not None
    # The first one: 09:00 on 2026-06-01 was 07:00Z, before the trigger; it is 12:00Z still ahead.
    first = [tuple(each and to_text(each) for each in move) for move in moved.moves.first]
    assert first[:2] == [
        ("2026-06-01T07:00:00Z", "2026-06-01T12:00:00Z"),
        ("2026-06-02T07:00:00Z", "2026-06-02T12:00:00Z"),
    ]
    # 2026-06-02 to 2027-06-01 at 07:00Z or 08:00Z; from 2026-06-01 to 2027-05-31 at 12:00Z.
    assert (found.gone, found.new) == (365, 365)


def test_diff_of_the_same_data_moves_nothing(punctual: CommandLine) -> None:
    same = {"Europe/Berlin": pinned_file("Europe/Berlin")}
    found = compared(punctual, other() | same)
    assert (found.triggers, found.moved, found.gone, found.new, found.shown) == (3, 0, 0, 0, [])


def test_diff_counts_all_and_shows_as_many_as_asked(punctual: CommandLine) -> None:
    for number in range(5):
        punctual.service.apply(a_trigger(f"more-{number}", "0 9 * * *", zone="Europe/Berlin"))
    found = compared(punctual, other(), triggers_shown=2)
    assert (found.triggers, found.moved) == (8, 6)
    assert [each.trigger.name for each in found.shown] == ["daily", "more-0"]


def test_zone_that_the_other_lacks_is_a_fault_of_its_triggers(punctual: CommandLine) -> None:
    found = compared(punctual, other(**{"Europe/Berlin": ""}))
    assert (found.moved, found.faulty) == (0, 2)
    assert {each.trigger.name for each in found.shown} == {"daily", "every"}
    assert found.shown[0].fault == "zone: 'Europe/Berlin': not a zone of tzdata 2099z"


def test_paused_trigger_is_compared_from_now_on(punctual: CommandLine) -> None:
    punctual.service.apply(PauseTrigger(tenant_id=TENANT, name="daily"))
    punctual.service.advance_to("2026-07-01T08:00:00Z")
    found = compared(punctual, other())
    (moved,) = found.shown
    assert moved.moves is not None
    before_us, after_us = moved.moves.first[0]
    # Today's 09:00 was 07:00Z and is over; by the other data it is still to come.
    assert (before_us, after_us) == (
        from_text("2026-07-01T07:00:00Z"),
        from_text("2026-07-01T12:00:00Z"),
    )


def test_undecided_instants_before_now_are_compared_too(punctual: CommandLine) -> None:
    punctual.service.advance_to("2026-06-03T06:00:00Z")  # without a decider
    found = compared(punctual, other(), through_us=from_text("2026-06-03T06:00:00Z"))
    # 2026-06-02 07:00Z against 2026-06-01 and 2026-06-02 12:00Z.
    assert (found.gone, found.new) == (1, 2)


def test_fires_left_end_the_comparison(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("daily", "0 9 * * *", zone="Europe/Berlin", max_fires=2))
    found = compared(punctual, other())
    assert (found.gone, found.new) == (2, 2)


def test_hashed_expressions_are_compared_one_by_one(punctual: CommandLine) -> None:
    for name in ("one", "two"):
        punctual.service.apply(a_trigger(name, "H H * * *", zone="Europe/Berlin"))
    found = compared(punctual, other())
    by_name = {each.trigger.name: each.moves for each in found.shown}
    assert by_name["one"] is not None
    assert by_name["two"] is not None
    assert by_name["one"].first != by_name["two"].first


def test_too_many_instants_are_compared_in_part_and_counted(punctual: CommandLine) -> None:
    punctual.service.apply(a_trigger("rapid", "* * * * * *", zone="Europe/Berlin"))
    found = compared(punctual, other())
    assert (found.partial, found.moved) == (1, 1)


def test_definition_that_neither_data_set_has_is_left_out_and_counted(
    punctual: CommandLine,
) -> None:
    punctual.plant("UPDATE trigger_version SET zone = 'Mars/Olympus' WHERE zone = 'Europe/Paris'")
    found = compared(punctual, other())
    assert (found.triggers, found.moved, found.faulty, found.unreadable) == (3, 1, 0, 1)


def test_progress_rises_to_the_whole(punctual: CommandLine) -> None:
    told: list[float] = []
    compared(punctual, other(), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_command_shows_a_table_of_what_moves(punctual: CommandLine, brazil: Path) -> None:
    result = punctual("tzdata", "diff", str(brazil))
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == (
        f"tzdata {tzdata_version()} → 2099z: 1 of 3 triggers move through 2027-06-01 "
        "(365 instants gone, 365 new)."
    )
    assert table("\n".join(lines[2:]))[1] == [
        "acme/daily",
        "Europe/Berlin",
        "365",
        "365",
        "2026-06-01 07:00:00Z → 12:00:00Z, 2026-06-02 07:00:00Z → 12:00:00Z, "
        "2026-06-03 07:00:00Z → 12:00:00Z, ...",
    ]


def test_command_as_json_says_the_same(punctual: CommandLine, brazil: Path) -> None:
    found = punctual.json("tzdata", "diff", str(brazil), "--months", "1")
    assert (found["before"], found["after"]) == (tzdata_version(), "2099z")
    assert (found["from"], found["through"]) == ("2026-06-01T09:00:10Z", "2026-07-01T09:00:10Z")
    (moved,) = found["moved_triggers"]
    assert (moved["tenant"], moved["trigger"], moved["fault"]) == ("acme", "daily", None)
    assert moved["first"][1] == {
        "before": "2026-06-02T07:00:00Z",
        "after": "2026-06-02T12:00:00Z",
    }
    assert (found["gone"], found["new"]) == (30, 30)


@pytest.mark.parametrize(("instead", "exit_code"), [(BRAZIL, 3), ({}, 0)], ids=["moves", "same"])
def test_exit_code_says_whether_anything_moves_when_asked(
    punctual: CommandLine, tmp_path: Path, instead: dict[str, str], exit_code: int
) -> None:
    folder = str(write_package(tmp_path / "tzdata", instead=instead))
    assert punctual("tzdata", "diff", folder, "--exit-code").exit_code == exit_code
    assert punctual("tzdata", "diff", folder).exit_code == 0


def test_command_says_where_nothing_moves(punctual: CommandLine) -> None:
    version = tzdata_version()
    assert punctual("tzdata", "diff", "installed").stdout == (
        f"tzdata {version} → {version}: no trigger of 3 moves through 2027-06-01.\n"
    )


def test_command_tells_of_what_it_leaves_out(punctual: CommandLine, tmp_path: Path) -> None:
    folder = write_package(tmp_path / "tzdata", instead={"Europe/Berlin": ""})
    result = punctual("tzdata", "diff", str(folder), "--limit", "1")
    assert result.stderr == (
        "1 more; see --limit.\n2 cannot be evaluated by 2099z: it would quarantine them.\n"
    )


def test_another_program_version_needs_the_pinned_data(
    punctual: CommandLine, brazil: Path, tmp_path: Path
) -> None:
    punctual.plant("UPDATE tzdata_pin SET version = '2099z'")
    refused = punctual("tzdata", "diff", "installed")
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"punctual: --pinned: the store is pinned to tzdata 2099z and this program has "
        f"{tzdata_version()}; name a folder or wheel of 2099z, such as --pinned tzdata.whl\n",
    )
    wrong = write_package(tmp_path / "wrong", version="1999a")
    refused = punctual("tzdata", "diff", "installed", "--pinned", str(wrong))
    assert refused.stderr.endswith("is tzdata 1999a; the store's pin is 2099z\n")
    found = punctual.json("tzdata", "diff", "installed", "--pinned", str(brazil))
    assert (found["before"], found["after"], found["moved"]) == ("2099z", tzdata_version(), 1)


def test_source_that_is_none_is_refused_in_one_line(punctual: CommandLine) -> None:
    result = punctual("tzdata", "diff", "/nowhere")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "punctual: /nowhere: does not exist; give a folder of compiled zone files, "
        "or a tzdata wheel, zip or tar archive\n"
    )


def test_adopt_names_the_triggers_whose_next_due_time_is_another(punctual: CommandLine) -> None:
    punctual.plant("UPDATE tzdata_pin SET version = '2019a'")
    was_us = from_text("2026-06-02T08:00:00Z")
    punctual.plant(
        "UPDATE due_index_row SET next_due_at = ? WHERE trigger_id = "
        "(SELECT trigger_id FROM trigger WHERE name = 'daily')",
        was_us,
    )
    result = punctual("tzdata", "adopt")
    assert table(result.stdout)[2:] == [
        ["trigger", "next due: before → after (UTC)"],
        ["acme/daily", "2026-06-02 08:00:00Z → 07:00:00Z"],
    ]


def test_adopt_as_json_lists_what_moved(punctual: CommandLine) -> None:
    punctual.plant("UPDATE tzdata_pin SET version = '2019a'")
    punctual.plant("UPDATE due_index_row SET next_due_at = next_due_at - 1")
    found = json.loads(punctual("tzdata", "adopt", "--json", "--limit", "1").stdout)
    assert (found["was"], found["triggers"], found["moved"]) == ("2019a", 3, 3)
    (moved,) = found["moved_triggers"]
    assert moved == {
        "tenant": "acme",
        "trigger": "daily",
        "before": "2026-06-02T06:59:59.999999Z",
        "after": "2026-06-02T07:00:00Z",
    }


def test_folder_that_the_other_tests_write_reads_as_its_version(brazil: Path) -> None:
    assert read_zone_source(brazil).version == "2099z"
