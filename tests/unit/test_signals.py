"""What a scrape reads from the store, by a clock that is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.lanes_local import LocalLanes
from adapters.sqlite_database import SqliteDatabase
from control_api.signals import ClockWatch, store_signals, unleased_partitions
from ports.errors import StoreUnavailable
from ports.history import HistoryPort
from ports.metric_names import METRICS
from ports.outbox import RELAY_ID
from ports.records import LaneMessage, Lease
from scheduling.instants import SECOND_US
from scheduling.vocabulary import Lane, TriggerState
from tests.contract.factories import SqliteHarness
from tests.support.faulty_store import faulty_lanes, faulty_store
from tests.support.hand_crank import HandCrank
from tests.support.manual_clock import ManualClock
from tests.support.store_builders import at


class Scrape:
    """A store with a trigger that is due every minute, and somebody who scrapes it."""

    def __init__(self, folder: Path) -> None:
        self.harness = SqliteHarness(folder)
        self.crank = HandCrank(self.harness.open()).begin()
        self.lane_database = SqliteDatabase(folder / "store.db", synchronous="OFF")
        self.lanes = LocalLanes(self.lane_database)
        self.clock = ManualClock(wall_us=at(0), boot_us=SECOND_US)
        self.watch = ClockWatch(self.crank.store.history, self.clock)
        self.crank.put()

    def to(self, seconds: float) -> None:
        self.clock.advance(at(seconds) - self.clock.wall_us)
        self.crank.to(seconds)

    def read(self) -> dict[str, float]:
        samples = store_signals(self.crank.store, self.lanes, self.watch)
        return {
            ".".join((sample.name, *(value for _, value in sample.labels))): sample.value
            for sample in samples
        }

    def close(self) -> None:
        self.lane_database.close()
        self.harness.close()


@pytest.fixture
def scrape(tmp_path: Path) -> Iterator[Scrape]:
    made = Scrape(tmp_path)
    yield made
    made.close()


def test_signals_are_those_that_the_list_says_are_read(scrape: Scrape) -> None:
    told = {sample.name for sample in store_signals(scrape.crank.store, scrape.lanes, scrape.watch)}
    listed = {name for name, metric in METRICS.items() if metric.read_from_store}
    assert listed - told == {"punctual_cursor_ahead_until_timestamp_seconds"}
    assert told <= listed


def test_oldest_due_age_climbs_while_nobody_decides_and_falls_with_the_attempt(
    scrape: Scrape,
) -> None:
    age = "punctual_oldest_undispatched_due_age_seconds"
    ages = []
    for seconds in (59, 60, 61.5, 125):
        scrape.to(seconds)
        ages.append(scrape.read()[age])
    assert ages == [0, 0, 1.5, 65]
    ready = scrape.crank.commit().ready
    assert scrape.read()[age] == 5  # of the newest instant, which the older one joined
    scrape.crank.claim(ready)
    assert scrape.read()[age] == 0


def test_lanes_and_backlog_are_counted_per_lane(scrape: Scrape) -> None:
    scrape.to(60)
    (message,) = scrape.crank.commit().ready
    later = LaneMessage(message.key._replace(trigger_id="t2"), Lane.CATCH_UP, 1)
    scrape.lanes.publish([message, later])
    values = scrape.read()
    depths = [values[f"punctual_lane_depth_messages.{lane}"] for lane in Lane]
    backlogs = [values[f"punctual_backlog_fires.{lane}"] for lane in Lane]
    assert (depths, backlogs) == ([1, 1, 0], [1, 0, 0])


def test_leased_partitions_fall_when_the_owner_beats_no_more(scrape: Scrape) -> None:
    leased = []
    for seconds in (0, 59, 60):
        scrape.to(seconds)
        leased.append(scrape.read()["punctual_partitions_leased"])
    assert leased == [256, 256, 0]
    assert scrape.read()["punctual_partitions"] == 256


@pytest.mark.parametrize(
    ("lease", "unleased"),
    [
        pytest.param(Lease(3, "one", 1, 101), [], id="alive"),
        pytest.param(Lease(3, "one", 1, 100), [3], id="expired_just_now"),
        pytest.param(Lease(3, None, 1, 101), [3], id="no_owner"),
        pytest.param(Lease(3, "one", 1, 100 + 60 * SECOND_US), [], id="longest_ttl"),
        pytest.param(Lease(3, "one", 1, 101 + 60 * SECOND_US), [3], id="a_stepped_clocks"),
    ],
)
def test_unleased_partitions_are_those_that_anybody_may_take(
    lease: Lease, unleased: list[int]
) -> None:
    assert unleased_partitions([lease], now_us=100) == unleased


def test_relay_lag_of_triggers_is_the_age_of_the_oldest_unsent_event(scrape: Scrape) -> None:
    lag = "punctual_relay_lag_seconds.triggers"
    scrape.to(30)
    outbox = scrape.crank.store.outbox
    assert scrape.read()[lag] == 30
    outbox.mark_sent([event.outbox_id for event in outbox.pending(limit=10)], now_us=at(30))
    assert scrape.read()[lag] == 0


def test_relay_lag_of_fires_is_the_age_of_the_oldest_change_not_told(scrape: Scrape) -> None:
    lag = "punctual_relay_lag_seconds.fires"
    outbox = scrape.crank.store.outbox
    assert lag not in scrape.read()  # nobody ever relayed them
    reading = outbox.begin_reading(RELAY_ID)
    scrape.to(60)
    scrape.crank.commit()
    scrape.to(72)
    assert scrape.read()[lag] == 12
    outbox.end_reading(RELAY_ID, reading, until_us=at(60) + 1)
    assert scrape.read()[lag] == 12  # it came in after the reading began
    again = outbox.begin_reading(RELAY_ID)
    outbox.end_reading(RELAY_ID, again, until_us=at(60) + 1)
    assert scrape.read()[lag] == 0


def test_quarantined_triggers_and_epsilon_are_told(
    scrape: Scrape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*unused: object) -> None:
        raise ZeroDivisionError

    scrape.to(60)
    monkeypatch.setattr("adapters.store_sqlite_commit.decide", fail)
    scrape.crank.commit()
    assert scrape.crank.trigger().state is TriggerState.QUARANTINED
    values = scrape.read()
    assert values["punctual_quarantined_triggers"] == 1
    assert values["punctual_clock_epsilon_seconds"] == 0.005


def test_cursor_ahead_is_told_at_once_after_a_step_and_until_time_has_caught_up(
    scrape: Scrape,
) -> None:
    triggers = "punctual_cursor_ahead_triggers"
    until = "punctual_cursor_ahead_until_timestamp_seconds"
    scrape.to(60)
    scrape.crank.commit()
    values = scrape.read()
    assert (values[triggers], until in values) == (0, False)
    scrape.clock.step(-40 * SECOND_US)
    values = scrape.read()
    assert (values[triggers], values[until]) == (1, at(60) / SECOND_US)
    scrape.clock.advance(39 * SECOND_US)
    assert scrape.read()[triggers] == 1
    scrape.clock.advance(SECOND_US)
    values = scrape.read()
    assert (values[triggers], until in values) == (0, False)


def test_cursor_ahead_by_another_machines_clock_is_found_within_a_minute(scrape: Scrape) -> None:
    triggers = "punctual_cursor_ahead_triggers"
    assert scrape.read()[triggers] == 0
    scrape.crank.to(300)
    scrape.crank.commit()
    scrape.clock.advance(60 * SECOND_US - 1)
    assert scrape.read()[triggers] == 0
    scrape.clock.advance(1)
    assert scrape.read()[triggers] == 1


@pytest.mark.parametrize(
    "fails",
    [
        "leases.leases",
        "history.backlog",
        "signals.quarantined_triggers",
        "outbox.pending",
        "lanes.",
    ],
)
def test_signals_of_a_store_that_fails_are_absent_and_the_rest_stays(
    scrape: Scrape, fails: str
) -> None:
    def intercept(name: str, call: Any, arguments: dict[str, Any]) -> Any:
        if name.startswith(fails):
            raise StoreUnavailable("away")
        return call()

    store = faulty_store(scrape.crank.store, intercept)
    lanes = faulty_lanes(scrape.lanes, intercept)
    told = store_signals(store, lanes, scrape.watch)
    assert [(sample.name, sample.value) for sample in told] == [
        ("punctual_store_up", 0),
        ("punctual_clock_epsilon_seconds", 0.005),
    ]
    assert scrape.read()["punctual_store_up"] == 1


def test_cursor_look_that_failed_is_made_again_at_the_next_scrape(scrape: Scrape) -> None:
    failures = [StoreUnavailable("away")]

    class Failing:
        """Fails once."""

        def decided_ahead(self, now_us: int) -> tuple[int, int] | None:
            if failures:
                raise failures.pop()
            return history.decided_ahead(now_us)

    history: HistoryPort = scrape.crank.store.history
    scrape.crank.to(300)
    scrape.crank.commit()
    scrape.watch = ClockWatch(Failing(), scrape.clock)  # type: ignore[arg-type]
    assert scrape.read()["punctual_store_up"] == 0
    assert scrape.read()["punctual_cursor_ahead_triggers"] == 1
