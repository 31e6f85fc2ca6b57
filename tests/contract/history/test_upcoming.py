"""History: which triggers are due next."""

import pytest

from scheduling.vocabulary import TriggerState
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, at


@pytest.fixture
def schedule(crank: HandCrank) -> HandCrank:
    """Every tenth, minute, fifth, and three that are not due: paused, ended, deleted."""
    crank.put("tenth", recurrence=("*/10 * * * *",))
    crank.put("minutely")
    crank.put("fifth", recurrence=("*/5 * * * *",))
    crank.put("paused")
    crank.pause("paused")
    crank.put("ended", ends_us=at(0))
    crank.put("gone")
    crank.delete("gone")
    return crank


def _upcoming(
    crank: HandCrank, *, through: float | None = None, limit: int = 10
) -> list[tuple[str, int | None]]:
    through_us = None if through is None else at(through)
    found = crank.store.history.upcoming(TENANT, through_us=through_us, limit=limit)
    return [(trigger.name, trigger.next_due_us) for trigger in found]


def test_upcoming_are_the_triggers_with_a_due_time_earliest_first(schedule: HandCrank) -> None:
    assert schedule.trigger("ended").state is TriggerState.FINISHED
    assert _upcoming(schedule) == [("minutely", at(60)), ("fifth", at(300)), ("tenth", at(600))]


@pytest.mark.parametrize(
    ("through", "names"),
    [
        pytest.param(59, [], id="before_the_first"),
        pytest.param(60, ["minutely"], id="at_the_first"),
        pytest.param(300, ["minutely", "fifth"], id="at_the_second"),
    ],
)
def test_upcoming_ends_at_the_time_given(
    schedule: HandCrank, through: float, names: list[str]
) -> None:
    assert [name for name, _ in _upcoming(schedule, through=through)] == names


def test_upcoming_stops_at_its_limit(schedule: HandCrank) -> None:
    assert [name for name, _ in _upcoming(schedule, limit=2)] == ["minutely", "fifth"]


def test_upcoming_moves_on_with_the_decisions(schedule: HandCrank) -> None:
    schedule.commit_at(300, name="fifth")
    assert dict(_upcoming(schedule)) == {"minutely": at(60), "fifth": at(600), "tenth": at(600)}


def test_upcoming_shows_the_trigger_as_the_registry_does(schedule: HandCrank) -> None:
    (first,) = schedule.store.history.upcoming(TENANT, limit=1)
    assert first == schedule.trigger("minutely")


def test_upcoming_leaves_other_tenants_out(schedule: HandCrank) -> None:
    assert schedule.store.history.upcoming("nobody", limit=10) == []
