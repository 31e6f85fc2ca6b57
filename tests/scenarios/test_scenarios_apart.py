"""The scenarios that need more than plain steps: questions, refusals, clocks and long runs."""

import re
import tracemalloc

import pytest

from scheduling import compile_recurrence
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.vocabulary import FireState
from tests.scenarios.conftest import MakePlay
from tests.scenarios.test_scenarios import PLAIN
from tests.support.repository import ROOT
from tests.support.scenarios import DIFFERS, UNTESTED, scenario_rows
from tests.support.scripted_target import Answer
from tests.support.ways import Refused

ROWS = scenario_rows()
APART = (
    "br-014", "br-044", "br-046", "br-047", "br-049", "br-050", "br-080", "br-081", "br-082",
    "br-086", "br-088", "br-095", "br-111",
)  # fmt: skip


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
    assert play.fired()[-1]["nominal"] == row["expected"]["previous"]
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
    assert [fire["nominal"] for fire in play.fired()] == ["2023-10-29T01:35:00Z"]


def test_scenario_br_044_impossible_date_is_refused_and_harms_no_other(
    make_play: MakePlay,
) -> None:
    play = make_play(ROWS["br-044"], at="2024-01-01T00:00:00.010Z")
    with pytest.raises(Refused, match="day"):
        play.step("create")
    assert play.way.names() == []
    play.put("a", expr="*/1 * * * *")
    play.service.advance_to("2024-01-01T00:10:00.010Z")
    assert len(play.fired()) == 10
    assert {fire["state"] for fire in play.fired()} == {"fired_on_time"}
    assert play.way.names() == ["a"]
    play.way.delete("a")
    assert play.way.names() == []


@pytest.mark.parametrize("row_id", ["br-046", "br-111"])
def test_scenario_bad_definition_is_refused_naming_the_field(
    row_id: str, make_play: MakePlay
) -> None:
    row = ROWS[row_id]
    with pytest.raises(Refused, match=row["expected"]["error_names"]):
        make_play(row).step("create")


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


@pytest.mark.parametrize("row_id", ["br-049", "br-050"])
def test_scenario_question_answers_the_next_instants(row_id: str, make_play: MakePlay) -> None:
    row = ROWS[row_id]
    play = make_play(row)
    play.put("a")
    expected = row["expected"]["next"]
    wanted = expected if isinstance(expected, list) else [expected]
    told = [to_text(us) for us in play.way.next_us("a")]
    assert told[: len(wanted)] == wanted[: len(told)]
    recurrence = compile_recurrence(row["case"]["trigger"]["expr"], "UTC")
    listed = recurrence.between_us(play.service.now_us, from_text(wanted[-1]), 10)
    assert [to_text(us) for us in listed] == wanted


def test_scenario_br_080_early_wake_sleeps_again(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-080"], at="2016-12-31T23:59:00Z")
    service = play.service
    play.step("running")
    service.advance_to("2016-12-31T23:59:59.070Z")
    assert play.fired() == []
    service.advance_to("2017-01-01T00:01:00Z")
    assert play.fired() == ROWS["br-080"]["expected"]["fires"]
    (receipt,) = service.target.receipts
    assert receipt.at_us >= receipt.fire.key.scheduled_us


def test_scenario_br_081_two_processes_one_early_fire_once(make_play: MakePlay) -> None:
    play = make_play(ROWS["br-081"], at="2024-06-01T10:00:30Z")
    service = play.service
    play.step("create")
    service.start("P2")
    service.advance_to("2024-06-01T10:00:59.980Z")
    assert play.fired() == []
    service.advance_to("2024-06-01T10:01:00.001Z")
    assert play.fired() == []  # the clock may be wrong by 5 ms
    service.advance_to("2024-06-01T10:01:30Z")
    assert play.fired() == ROWS["br-081"]["expected"]["fires"]
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
    assert play.fired() == []
    service.advance_to("2024-08-01T04:00:30Z")
    assert play.fired() == ROWS["br-082"]["expected"]["fires"]


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
    assert play.not_fired() == row["expected"]["not_fired"]


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
    assert play.fired() == row["expected"]["fires"]
    assert play.not_fired() == row["expected"]["not_fired"]


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
    expected = [fire["nominal"] for fire in ROWS["br-095"]["expected"]["fires"]]
    fates = play.way.fates("a")
    assert [to_text(fate.scheduled_us) for fate in fates] == expected
    assert {fate.state for fate in fates} == {FireState.SUCCEEDED}
    received = [to_text(receipt.fire.key.scheduled_us) for receipt in service.target.receipts]
    assert received == expected
    assert service.store.audit.entries(limit=1_000)
