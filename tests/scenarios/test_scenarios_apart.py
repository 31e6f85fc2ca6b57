"""The scenarios that need more than plain steps: questions, refusals, clocks and long runs."""

import re
import sys
import tracemalloc

import pytest

from scheduling import compile_recurrence
from scheduling.errors import InvalidRecurrence
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.vocabulary import FireState
from tests.scenarios.conftest import MakePlay
from tests.scenarios.test_scenarios import PLAIN
from tests.support.repository import ROOT
from tests.support.scenarios import DIFFERS, UNTESTED, Row, entry_of, scenario_rows, wish_of
from tests.support.scripted_target import Answer
from tests.support.ways import Refused

ROWS = scenario_rows()
APART = (
    "br-014", "br-044", "br-046", "br-047", "br-049", "br-050", "br-080", "br-081", "br-082",
    "br-086", "br-088", "br-095", "br-111",
)  # fmt: skip


DAY_US = 86_400 * SECOND_US
CALLS_MAX = 10_000  # a few milliseconds
LATE = {"state": "fired_late"}
# Each check of a row in words, and the test that makes it.
CHECKS = {
    ("br-014", "previous < now < next"): "test_scenario_br_014_previous_and_next_are_inverse",
    ("br-014", "next(previous) == next(now)"): "test_scenario_br_014_previous_and_next_are_inverse",
    ("br-017", "also start at 2023-10-29T01:30:00Z: first fire 2023-10-29T01:35:00Z"): (
        "test_scenario_br_017_created_in_the_second_pass_fires_five_minutes_on"
    ),
    ("br-044", "answer in < 100 ms"): "test_scenario_refusal_takes_few_calls",
    ("br-044", "other tenant's trigger fires 10 times on time"): (
        "test_scenario_br_044_impossible_date_is_refused_and_harms_no_other"
    ),
    ("br-044", "listing and deleting the trigger works"): (
        "test_scenario_br_044_impossible_date_is_refused_and_harms_no_other"
    ),
    ("br-047", "peak extra memory < 1 MB"): (
        "test_scenario_br_047_huge_range_is_refused_in_little_memory"
    ),
    ("br-047", "< 10 ms"): "test_scenario_refusal_takes_few_calls",
    ("br-080", "never before its nominal"): "test_scenario_br_080_early_wake_sleeps_again",
    ("br-080", "once per nominal"): "test_scenario_br_080_early_wake_sleeps_again",
    ("br-082", "loop iterations in the first ten minutes bounded (< 100)"): (
        "test_scenario_br_082_a_month_ahead_neither_fires_nor_spins"
    ),
}
# What the rows say beside checks in words; each test below and in test_scenarios reads its own.
FIELDS = {
    "fires", "fires_A", "fires_B", "fires_C", "count", "not_fired", "starts", "previous", "next",
    "wrong_if", "accepted", "error_names", "either", "checks",
}  # fmt: skip


def on_time(instant: str) -> Row:
    return {"nominal": instant, "state": "fired_on_time"}


def in_order(*entries: Row) -> list[Row]:
    """Oldest first, as a ledger is."""
    return sorted(entries, key=lambda entry: str(entry["nominal"]))


def test_scenarios_every_check_in_words_has_its_test() -> None:
    said = {
        (row_id, text) for row_id in ROWS for text in ROWS[row_id]["expected"].get("checks", ())
    }
    assert said == set(CHECKS)
    assert set(CHECKS.values()) <= set(globals())


def test_scenarios_say_nothing_that_no_test_reads() -> None:
    assert {field for row in ROWS.values() for field in row["expected"]} == FIELDS


def test_scenarios_all_are_played_or_named() -> None:
    assert {*PLAIN, *APART, *UNTESTED} == set(ROWS)


def test_scenarios_that_differ_are_the_ones_that_the_documentation_names() -> None:
    page = (ROOT / "docs/semantics.md").read_text(encoding="utf-8")
    _, _, chapter = page.partition("## Where we differ")
    assert {*re.findall(r"br-\d{3}", chapter)} == {*DIFFERS, *UNTESTED}


def test_scenario_br_014_previous_and_next_are_inverse() -> None:
    row = ROWS["br-014"]
    trigger, now_us = row["case"]["trigger"], from_text(row["case"]["steps"][0]["at"])
    recurrence = compile_recurrence(trigger["expr"], trigger["zone"])
    previous_us = recurrence.previous_before_us(now_us)
    next_us = recurrence.next_after_us(now_us)
    assert previous_us is not None
    assert next_us is not None
    assert to_text(previous_us) == row["expected"]["previous"]
    assert to_text(next_us) == row["expected"]["next"]
    assert previous_us < now_us < next_us
    assert recurrence.next_after_us(previous_us) == next_us


def test_scenario_br_014_the_night_played_gives_the_same_previous_and_next(
    make_play: MakePlay,
) -> None:
    """No route looks back beyond what was decided: the previous fire is the newest of the night."""
    row = ROWS["br-014"]
    play = make_play(row, at="2024-03-09T12:00:00Z")
    play.step("create")
    play.service.advance_to(row["case"]["steps"][0]["at"])
    assert play.ledger() == {"a": [on_time(row["expected"]["previous"])]}
    assert to_text(play.way.next_us("a")[0]) == row["expected"]["next"]


def test_scenario_br_039_previous_leaves_the_midnight_gap() -> None:
    row = ROWS["br-039"]
    trigger, previous = row["case"]["trigger"], row["expected"]["previous"]
    recurrence = compile_recurrence(trigger["expr"], trigger["zone"])
    found_us = recurrence.previous_before_us(from_text(previous["asked"]))
    assert found_us is not None
    assert to_text(found_us) == previous["answer"]


def test_scenario_br_017_created_in_the_second_pass_fires_five_minutes_on(
    make_play: MakePlay,
) -> None:
    play = make_play(ROWS["br-017"], at="2023-10-29T01:30:00.010Z")
    play.step("create")
    play.service.advance_to("2023-10-29T01:36:00Z")
    assert play.ledger() == {"a": [on_time("2023-10-29T01:35:00Z")]}


def test_scenario_br_044_impossible_date_is_refused_and_harms_no_other(
    make_play: MakePlay,
) -> None:
    """The first of the two answers that the row allows."""
    play = make_play(ROWS["br-044"], at="2024-01-01T00:00:00Z")
    with pytest.raises(Refused, match="day"):
        play.step("create")
    play.service.advance_to("2024-01-01T00:00:01Z")
    assert play.way.names() == []
    other = play.way.of("bolt")
    play.service.start()
    other.put("normal", wish_of(play.triggers["a"] | {"expr": "*/1 * * * *"}))
    play.service.advance_to("2024-01-01T00:10:00.010Z")
    assert play.ledger() == {}
    assert [entry_of(fate) for fate in other.fates()] == [
        on_time(f"2024-01-01T00:{minute:02}:00Z") for minute in range(1, 11)
    ]
    assert play.received() == {"normal": [to_text(fate.scheduled_us) for fate in other.fates()]}
    with pytest.raises(Refused):
        play.way.delete("a")
    assert (play.way.names(), other.names()) == ([], ["normal"])
    other.delete("normal")
    assert other.names() == []


@pytest.mark.parametrize("row_id", ["br-044", "br-047"])
def test_scenario_refusal_takes_few_calls(row_id: str) -> None:
    """The rows want milliseconds, which a busy machine does not keep; the work is what counts."""
    trigger = ROWS[row_id]["case"]["trigger"]
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        with pytest.raises(InvalidRecurrence):
            compile_recurrence(trigger["expr"], trigger["zone"])
    finally:
        sys.setprofile(None)
    assert calls < CALLS_MAX


@pytest.mark.parametrize("row_id", ["br-046", "br-111"])
def test_scenario_bad_definition_is_refused_naming_the_field(
    row_id: str, make_play: MakePlay
) -> None:
    row = ROWS[row_id]
    assert row["expected"]["accepted"] is False
    play = make_play(row)
    with pytest.raises(Refused, match=row["expected"]["error_names"]):
        play.step("create")
    play.service.advance_to(play.service.now_us + DAY_US)
    assert (play.way.names(), play.ledger()) == ([], {})


def test_scenario_br_047_huge_range_is_refused_in_little_memory(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-047"])
    with pytest.raises(Refused, match="minute"):
        play.put("a", expr="61 * * * *")  # what every refusal loads once
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="minute"):
            play.put("a")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1_000_000
    assert (play.way.names(), play.ledger()) == ([], {})


@pytest.mark.parametrize("row_id", ["br-049", "br-050"])
def test_scenario_question_answers_the_next_instants(row_id: str, make_play: MakePlay) -> None:
    row = ROWS[row_id]
    play = make_play(row)
    play.put("a")
    expected = row["expected"]["next"]
    wanted = expected if isinstance(expected, list) else [expected]
    told = [to_text(us) for us in play.way.next_us("a")]
    assert told[: len(wanted)] == wanted[: len(told)]
    assert told[0] != row["expected"].get("wrong_if")
    assert play.way.names() == ["a"]
    recurrence = compile_recurrence(row["case"]["trigger"]["expr"], "UTC")
    listed = recurrence.between_us(play.service.now_us, from_text(wanted[-1]), 10)
    assert [to_text(us) for us in listed] == wanted


def test_scenario_br_080_early_wake_sleeps_again(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-080"], at="2016-12-31T23:59:00Z")
    service = play.service
    play.step("running")
    service.advance_to("2016-12-31T23:59:59.070Z")
    assert play.ledger() == {}
    service.advance_to("2017-01-01T00:01:00Z")
    assert play.ledger() == {"a": ROWS["br-080"]["expected"]["fires"]}
    (receipt,) = service.target.receipts
    assert receipt.at_us >= receipt.fire.key.scheduled_us


def test_scenario_br_081_two_processes_one_early_fire_once(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-081"], at="2024-06-01T10:00:30Z")
    service = play.service
    play.step("create")
    service.start("P2")
    service.advance_to("2024-06-01T10:00:59.980Z")
    assert play.ledger() == {}
    service.advance_to("2024-06-01T10:01:00.001Z")
    assert play.ledger() == {}  # the clock may be wrong by 5 ms
    service.advance_to("2024-06-01T10:01:30Z")
    assert play.ledger() == {"a": ROWS["br-081"]["expected"]["fires"]}
    assert len(service.target.receipts) == 1


def test_scenario_br_082_a_month_ahead_neither_fires_nor_spins(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-082"], at="2024-07-01T04:00:01Z")
    service = play.service
    play.step("create")
    (engine,) = service.engines.values()
    looks = 0
    while service.now_us < from_text("2024-07-01T04:10:00Z"):
        wanted_us = engine.look().next_us
        assert wanted_us > service.now_us
        looks += 1
        engine.clock.advance(wanted_us - service.now_us)
        service.now_us = wanted_us
    assert looks <= 601
    assert play.ledger() == {}
    service.advance_to("2024-08-01T04:00:30Z")
    assert play.ledger() == {"a": ROWS["br-082"]["expected"]["fires"]}


def test_scenario_br_086_buffer_one_keeps_the_oldest(make_play: MakePlay) -> None:
    row = ROWS["br-086"]
    play = make_play(row, at="2024-06-01T10:00:30Z")
    service = play.service
    first_us = from_text("2024-06-01T10:01:00Z")
    service.target.script = lambda fire: Answer(
        lasts_us=(210 if fire.key.scheduled_us == first_us else 5) * SECOND_US
    )
    play.step("create")
    service.advance_to("2024-06-01T10:06:30Z")
    assert play.starts() == row["expected"]["starts"]
    started = [
        {**on_time(start["nominal"]), **({} if start["actual"] == start["nominal"] else LATE)}
        for start in row["expected"]["starts"]
    ]
    assert play.ledger() == {"a": in_order(*started, *row["expected"]["not_fired"])}
    assert play.received() == {"a": [start["nominal"] for start in row["expected"]["starts"]]}


def test_scenario_br_088_overlap_survives_the_leader(make_play: MakePlay) -> None:
    row = ROWS["br-088"]
    play = make_play(row, at="2024-06-01T10:04:00Z", tick_us=2 * SECOND_US)
    service = play.service
    service.target.script = lambda fire: Answer(lasts_us=12 * 60 * SECOND_US)
    play.step("create")
    service.advance_to("2024-06-01T10:07:00Z")
    service.kill()
    service.start("L2")
    service.advance_to("2024-06-01T10:21:00Z")
    fires = row["expected"]["fires"]
    assert play.ledger() == {"a": in_order(*fires, *row["expected"]["not_fired"])}
    assert play.received() == {"a": [fire["nominal"] for fire in fires]}


def test_scenario_br_095_four_skewed_clocks_fire_each_instant_once(
    make_play: MakePlay,
) -> None:
    """Up to 5 s early by true time; the unique key still makes every instant fire once."""
    play = make_play(ROWS["br-095"], at="2024-06-01T08:00:00Z", tick_us=SECOND_US // 2)
    service = play.service
    for owner_id, skew_s in (("n1", 0), ("n2", 1), ("n3", -2), ("n4", 5)):
        service.start(owner_id, skew_us=skew_s * SECOND_US)
    service.advance_to("2024-06-01T08:00:00.010Z")
    play.put("a")
    service.advance_to("2024-06-01T08:10:30Z")
    expected = ROWS["br-095"]["expected"]["fires"]
    # On time by the clock of whoever decided it; by true time see below.
    assert play.ledger() == {"a": expected}
    assert {fate.state for fate in play.way.fates()} == {FireState.SUCCEEDED}
    assert play.received() == {"a": [fire["nominal"] for fire in expected]}
    for receipt in service.target.receipts:
        late_us = receipt.at_us - receipt.fire.key.scheduled_us
        assert -5 * SECOND_US <= late_us <= 3 * SECOND_US
