"""The scenarios whose steps are plain: create, stop, start, pause, edit, read."""

import pytest

from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.vocabulary import FireState
from tests.scenarios.conftest import MakePlay
from tests.support.scenarios import FIRED, Row, fired_of, scenario_rows
from tests.support.service import EPSILON_US

ROWS = scenario_rows()
PLAIN = (
    "br-003", "br-005", "br-009", "br-010", "br-016", "br-017", "br-020", "br-021", "br-022",
    "br-025", "br-026", "br-030", "br-032", "br-033", "br-034", "br-037", "br-039", "br-040",
    "br-056", "br-061", "br-062", "br-065", "br-066", "br-073", "br-090", "br-091", "br-092",
    "br-112",
)  # fmt: skip


def minutes(first: str, last: str, state: str = "fired_on_time") -> list[Row]:
    """An entry for each minute from the first to the last."""
    each_us = range(from_text(first), from_text(last) + 1, 60 * SECOND_US)
    return [{"nominal": to_text(us), "state": state} for us in each_us]


def one(instant: str, state: str = "fired_on_time") -> list[Row]:
    return minutes(instant, instant, state)


# What our ledger has beside what a row lists: the instant of the creation (see DIFFERS), what came
# before the row begins to read, and an entry where the row is content that nothing fired.
BESIDE: dict[str, list[Row]] = {
    "br-017": one("2023-10-29T00:50:00Z"),
    "br-030": one("2016-10-30T00:55:00Z"),
    "br-065": one("2025-02-21T17:45:00Z", "paused"),
    "br-066": one("2024-06-01T10:00:00Z", "paused"),
    "br-092": minutes("2024-06-01T10:00:00Z", "2024-06-01T10:05:00Z"),
}
# What a row calls otherwise; see DIFFERS.
INSTEAD = {"br-056": {"missed_skipped": "missed_expired"}}


def wanted(row_id: str, name: str) -> list[Row]:
    """The whole ledger of a row's trigger, oldest first."""
    expected, words = ROWS[row_id]["expected"], INSTEAD.get(row_id, {})
    fires = expected.get(f"fires_{name.upper()}", expected.get("fires"))
    listed = [
        {"nominal": each["nominal"], "state": words.get(each["state"], each["state"])}
        for each in (*fires, *expected.get("not_fired", []))
    ]
    return sorted([*listed, *BESIDE.get(row_id, [])], key=lambda entry: str(entry["nominal"]))


@pytest.mark.parametrize("row_id", PLAIN)
def test_scenario_plain_steps_fires_as_expected(row_id: str, make_play: MakePlay) -> None:
    row = ROWS[row_id]
    expected = row["expected"]
    play = make_play(row)
    service = play.service
    for step in row["case"]["steps"]:
        service.advance_to(step["at"])
        play.step(step["do"])
    # An instant fires when the whole clock interval lies past it, not on the instant itself.
    service.advance_to(service.now_us + EPSILON_US)
    ledger = {name: wanted(row_id, name) for name in play.triggers}
    ledger = {name: entries for name, entries in ledger.items() if entries}
    assert play.ledger() == ledger
    assert play.received() == {name: fired_of(entries) for name, entries in ledger.items()}
    sent = [fate.state for fate in play.way.fates() if fate.first_dispatched_us is not None]
    assert set(sent) == {FireState.SUCCEEDED}
    assert sorted(play.way.names()) == sorted(play.triggers)
    if "count" in expected:
        beside = [entry for entry in BESIDE.get(row_id, []) if entry["state"] in FIRED]
        assert len(sent) == expected["count"] + len(beside)
    if "previous" in expected:  # no route looks back beyond what was decided
        asked = expected["previous"]["asked"]
        before = [instant for instant in fired_of(play.ledger()["a"]) if instant <= asked]
        assert before[-1] == expected["previous"]["answer"]
    starts = {start["nominal"]: start["actual"] for start in play.starts()}
    for fire in expected.get("fires", []):
        if "actual" in fire:
            assert starts[fire["nominal"]] == fire["actual"]
