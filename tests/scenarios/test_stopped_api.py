"""The API stops for ten minutes: what is defined goes on, and outcomes wait for it to come back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ports.records import ClaimedFire
from punctual.relay import Relay
from scheduling.instants import SECOND_US, to_text
from scheduling.vocabulary import Cause, FireState
from tests.support.definitions import TARGET
from tests.support.relays import RelayedService, relayed_service
from tests.support.scripted_target import ACCEPTED, BUSY, Answer
from tests.support.ways import ApiWay

STOPPED_S = 600
BACK = "2026-06-01T09:10:10Z"
EVERY_MINUTE: dict[str, Any] = {"schedule": "* * * * *", "zone": "UTC", "target": TARGET}
# A run that nobody hears of keeps its slot for so long.
ALONE = {**EVERY_MINUTE, "overlap": "skip", "run_timeout": "3m30s"}
DEFINED = {
    "minutely": EVERY_MINUTE,
    "twice": {**EVERY_MINUTE, "schedule": "*/30 * * * * *"},
    "answers": {**EVERY_MINUTE, "response_is_outcome": True},
    "alone": ALONE,
    "gone": EVERY_MINUTE,
}
RUNS_ALONE = ("09:01", "09:05", "09:09")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RelayedService]:
    with relayed_service(tmp_path, is_empty=True) as made:
        yield made


@pytest.fixture
def api(world: RelayedService) -> ApiWay:
    """Triggers are defined through it, one is deleted, and nobody has relayed a word of it."""
    world.service.start()
    world.service.target.script = a_target_that_is_busy_at_times
    way = ApiWay(world.service)
    for name, body in DEFINED.items():
        way.define(name, body)
    way.delete("gone")
    return way


def a_target_that_is_busy_at_times(fire: ClaimedFire) -> Answer:
    """Refuses the first try of every third minute; a run takes five seconds."""
    is_third = fire.key.scheduled_us // (60 * SECOND_US) % 3 == 0
    if is_third and fire.n == 1 and fire.trigger_name in ("minutely", "twice"):
        return BUSY
    return ACCEPTED._replace(lasts_us=5 * SECOND_US)


def without_the_api(world: RelayedService, api: ApiWay) -> Relay:
    """Ten minutes of decider, dispatcher and relay alone."""
    api.stop()
    relay, start_us = world.relay(), world.service.now_us
    for second in range(STOPPED_S + 1):
        world.service.advance_to(start_us + second * SECOND_US)
        relay.step()
    assert to_text(world.service.now_us) == BACK
    return relay


def clocks(world: RelayedService, name: str, state: FireState) -> list[str]:
    """The instants of a trigger's fires in that state."""
    found = [fire for fire in world.service.fires(name) if fire.state is state]
    return [to_text(fire.key.scheduled_us)[11:16] for fire in found]


def minutes(*each: int) -> list[str]:
    return [f"09:{minute:02}" for minute in each]


def stored_states(world: RelayedService) -> dict[str, tuple[str, str]]:
    return {
        str(fire.key): (fire.state.value, to_text(fire.changed_us))
        for fire in world.service.fires()
    }


def test_stopped_api_fires_go_on_and_stay_accepted(world: RelayedService, api: ApiWay) -> None:
    without_the_api(world, api)
    with pytest.raises(ConnectionRefusedError):
        api.names()
    every = minutes(*range(1, 11))
    assert clocks(world, "minutely", FireState.ACCEPTED) == every
    assert clocks(world, "twice", FireState.ACCEPTED) == sorted([*every, *minutes(*range(10))])
    assert clocks(world, "gone", FireState.ACCEPTED) == []
    assert clocks(world, "answers", FireState.SUCCEEDED) == every  # no report is needed
    fires = world.service.fires()
    assert len(fires) == 10 + 20 + 10 + 10
    assert {fire.state for fire in fires if fire.trigger_name not in ("answers", "alone")} == {
        FireState.ACCEPTED
    }
    # All that ran reported every time it could, and nobody listened.
    told = {report.key for report in world.service.target.reports}
    assert {fire.key for fire in fires if fire.state is FireState.ACCEPTED} <= told
    assert world.service.refused_reports > len(told)


def test_stopped_api_events_go_on(world: RelayedService, api: ApiWay) -> None:
    defined = [(name, "created") for name in DEFINED]
    waiting = world.store.outbox.pending(limit=100)
    assert len(waiting) == len(defined) + 1
    assert world.events() == []
    without_the_api(world, api)
    assert world.store.outbox.pending(limit=100) == []
    told = [(body["name"], body["kind"]) for body in world.bodies("TriggerChanged")]
    assert told == [*defined, ("gone", "deleted")]
    assert world.last_states() == stored_states(world)
    for trigger_id in {each.trigger_id for each in world.events()}:
        times = [each.at_us for each in world.events() if each.trigger_id == trigger_id]
        assert times == sorted(times)


def test_stopped_api_run_keeps_its_slot_until_its_run_timeout(
    world: RelayedService, api: ApiWay
) -> None:
    without_the_api(world, api)
    assert clocks(world, "alone", FireState.ACCEPTED) == list(RUNS_ALONE)
    dropped = [fire for fire in world.service.fires("alone") if fire.cause is Cause.OVERLAP]
    assert [to_text(fire.key.scheduled_us)[11:16] for fire in dropped] == [
        each for each in minutes(*range(1, 11)) if each not in RUNS_ALONE
    ]


def test_api_that_is_back_takes_the_late_outcomes(world: RelayedService, api: ApiWay) -> None:
    relay = without_the_api(world, api)
    world.service.advance_to("2026-06-01T09:10:20Z")
    accepted = [fire.key for fire in world.service.fires() if fire.state is FireState.ACCEPTED]
    assert len(accepted) == 10 + 20 + len(RUNS_ALONE)
    api.start()
    world.service.advance_to("2026-06-01T09:10:40Z")
    relay.step()
    assert world.service.target.reports == []
    ends = {fire.key: fire.state for fire in world.service.fires()}
    assert {ends[key] for key in accepted} == {FireState.SUCCEEDED}
    assert world.last_states() == stored_states(world)
    assert {fate.state for fate in api.fates("minutely")} == {FireState.SUCCEEDED}
    # With its outcome the run gave its slot back: the next one goes out.
    world.service.advance_to("2026-06-01T09:11:30Z")
    assert clocks(world, "alone", FireState.SUCCEEDED)[-1] == "09:11"


def test_outcome_after_its_window_changes_nothing(world: RelayedService, api: ApiWay) -> None:
    """The window is counted from the first attempt, whether or not anybody listened meanwhile."""
    api.define("short", {**EVERY_MINUTE, "outcome_window": "4m"})
    without_the_api(world, api)
    world.service.advance_to("2026-06-01T09:10:20Z")
    api.start()
    world.service.advance_to("2026-06-01T09:10:50Z")
    assert clocks(world, "short", FireState.ACCEPTED) == minutes(*range(1, 7))
    assert clocks(world, "short", FireState.SUCCEEDED) == minutes(*range(7, 11))
