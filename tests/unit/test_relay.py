"""The outbox relay: nothing is lost whoever dies and whatever the clocks say."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ports.changes import PauseTrigger
from ports.errors import StoreUnavailable
from punctual.relay import Relay
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.keys import FireKey
from scheduling.limits import RELAY_PAGES_MAX
from scheduling.vocabulary import FireState
from tests.support.definitions import TENANT, a_trigger
from tests.support.faulty_store import Crash
from tests.support.relays import RelayedService, relayed_service
from tests.support.repository import ROOT
from tests.support.scripted_target import BUSY, Answer

LATE_US = from_text("2026-06-01T09:01:01Z")
# Every call with which a relay changes anything, for triggers and for fires.
WRITES = (
    "events.publish",
    "outbox.mark_sent",
    "outbox.begin_reading",
    "events.publish_reading",
    "outbox.end_reading",
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RelayedService]:
    with relayed_service(tmp_path) as made:
        yield made


def stored_states(world: RelayedService) -> dict[str, tuple[str, str]]:
    """What the ledger holds, in the words of the events."""
    return {
        str(fire.key): (fire.state.value, to_text(fire.changed_us))
        for fire in world.service.fires()
    }


def some_history(world: RelayedService) -> None:
    """Two triggers, a pause, and fires of minutes 1 to 4 whose outcomes nobody reports yet."""
    world.service.start()
    world.service.target.script = lambda fire: Answer(lasts_us=None)
    world.service.apply(a_trigger("one"), a_trigger("two"))
    world.service.advance_to("2026-06-01T09:02:30Z")
    world.service.apply(PauseTrigger(tenant_id=TENANT, name="two"))
    world.service.advance_to("2026-06-01T09:04:30Z")


class DyingOnce:
    """Ends the process at the n-th call of a name, before or after the call has its effect."""

    def __init__(self, name: str, *, nth: int, after: bool, error: BaseException) -> None:
        self._name, self._left, self._after, self._error = name, nth, after, error

    def __call__(self, name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        if name != self._name:
            return call()
        self._left -= 1
        if self._left == 0:
            if self._after:
                call()
            raise self._error
        return call()


def test_deciding_delivering_and_relaying_load_no_api() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, punctual.local, punctual.commands.relay\n"
            "print(*{name.partition('.')[0] for name in sys.modules})",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    assert "dispatcher" in loaded
    assert {"control_api", "fastapi", "uvicorn"} & set(loaded) == set()


@pytest.mark.parametrize("after", [False, True], ids=["before_its_effect", "after_its_effect"])
@pytest.mark.parametrize("nth", [1, 2, 3], ids=["first", "second", "third"])
@pytest.mark.parametrize("name", WRITES)
def test_relay_killed_at_a_write_loses_and_repeats_nothing(
    world: RelayedService, name: str, nth: int, after: bool
) -> None:
    some_history(world)
    dying = world.relay(DyingOnce(name, nth=nth, after=after, error=Crash()), rows_max=1)
    with pytest.raises(Crash):
        live_on(world, dying)
    world.catch_up(rows_max=2)
    assert world.last_states() == stored_states(world)
    assert len(world.bodies("TriggerChanged")) == 3
    assert world.catch_up() == 0


def step_until_done(relay: Relay) -> None:
    relay.step()
    while relay.is_behind:
        relay.step()


def live_on(world: RelayedService, relay: Relay) -> None:
    """Three minutes, with everything published after each."""
    for minute in (5, 6, 7):
        step_until_done(relay)
        world.service.advance_to(f"2026-06-01T09:{minute:02}:30Z")


@pytest.mark.parametrize("verb", ["events.publish", "events.publish_reading"])
def test_relay_goes_on_after_the_store_was_unavailable(world: RelayedService, verb: str) -> None:
    some_history(world)
    failing = DyingOnce(verb, nth=1, after=False, error=StoreUnavailable("busy"))
    relay = world.relay(failing)
    with pytest.raises(StoreUnavailable):
        relay.step()
    relay.step()
    assert world.last_states() == stored_states(world)


def test_relay_without_news_writes_nothing(world: RelayedService) -> None:
    some_history(world)
    world.catch_up()
    calls: list[str] = []

    def note(name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        calls.append(name)
        return call()

    assert world.relay(note).step() == 0
    assert not set(WRITES) & set(calls)


def test_change_that_comes_in_late_is_told(world: RelayedService) -> None:
    some_history(world)
    fire = world.service.fires()[0]
    world.catch_up()
    report_late(world, fire.key)
    assert world.catch_up() == 1
    assert world.last_states()[str(fire.key)] == ("failed", to_text(LATE_US))
    assert world.last_states() == stored_states(world)


@pytest.mark.parametrize("verb", ["history.changed_since", *WRITES])
@pytest.mark.parametrize("when", ["before", "after"])
def test_change_that_comes_in_late_during_a_step_is_told(
    world: RelayedService, verb: str, when: str
) -> None:
    some_history(world)
    fire = world.service.fires()[0]

    def disturb(name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        result = call() if when == "after" else None
        if name == verb:
            report_late(world, fire.key)
        return result if when == "after" else call()

    world.relay(disturb).step()
    world.catch_up()
    assert world.last_states() == stored_states(world)
    assert world.last_states()[str(fire.key)][0] == "failed"


def report_late(world: RelayedService, key: FireKey) -> None:
    """An outcome with a date long before the newest change, as of a process that slept."""
    world.store.ledger.report_outcome(key, FireState.FAILED, now_us=LATE_US, reported_by="test")


@pytest.mark.parametrize("verb", WRITES)
def test_two_relays_at_once_tell_everything_once(world: RelayedService, verb: str) -> None:
    some_history(world)
    other = world.relay(rows_max=3)

    def let_the_other_step(name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        if name == verb:
            other.step()
        result = call()
        if name == verb:
            other.step()
        return result

    step_until_done(world.relay(let_the_other_step, rows_max=2))
    world.catch_up()
    ids = [each.event_id for each in world.events()]
    assert len(ids) == len(set(ids))
    assert world.last_states() == stored_states(world)
    assert [body["kind"] for body in world.bodies("TriggerChanged")] == [
        "created",
        "created",
        "paused",
    ]


def test_relay_that_another_overtook_tells_nothing_older(world: RelayedService) -> None:
    """Its page was read before the change that the other one told."""
    some_history(world)
    fire = world.service.fires()[0]

    def overtake(name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        if name == "events.publish_reading":
            world.store.ledger.report_outcome(
                fire.key,
                FireState.FAILED,
                now_us=world.service.now_us,
                reported_by="test",
            )
            world.catch_up()
        return call()

    world.relay(overtake).step()
    assert world.last_states()[str(fire.key)][0] == "failed"
    assert world.last_states() == stored_states(world)
    assert world.catch_up() == 0


@pytest.mark.expects_error_log
def test_clock_that_was_set_back_hides_no_change(world: RelayedService) -> None:
    service = world.service
    service.start(skew_us=3_600 * SECOND_US)
    service.apply(a_trigger("hourly_ahead"))
    service.advance_to("2026-06-01T09:03:30Z")
    world.catch_up()
    service.kill()
    service.start("two")
    service.apply(a_trigger("one"))
    service.advance_to("2026-06-01T09:06:30Z")
    world.catch_up()
    assert any(fire.trigger_name == "one" for fire in service.fires())
    assert world.last_states() == stored_states(world)


def test_step_is_bounded_and_says_that_more_waits(world: RelayedService) -> None:
    service = world.service
    service.start()
    service.apply(a_trigger("busy", "* * * * * *"))
    service.advance_to("2026-06-01T09:01:10Z")
    relay = world.relay(rows_max=1)
    relay.step()
    assert relay.is_behind
    assert len(world.events("FireStateChanged")) == RELAY_PAGES_MAX
    step_until_done(relay)
    assert world.last_states() == stored_states(world)


def test_rows_that_changed_in_one_instant_are_read_in_pages(world: RelayedService) -> None:
    service = world.service
    service.start()
    service.apply(*(a_trigger(f"job-{number}") for number in range(2 * RELAY_PAGES_MAX)))
    service.advance_to("2026-06-01T09:01:00.005Z")
    sizes: list[int] = []

    def note(name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        result = call()
        if name == "history.changed_since":
            sizes.append(len(result))
        return result

    relay = world.relay(note, rows_max=1)
    step_until_done(relay)
    assert {fire.changed_us for fire in service.fires()} == {service.now_us}
    assert max(sizes) == 1
    assert world.last_states() == stored_states(world)


def test_fire_event_tells_the_row_and_no_payload(world: RelayedService) -> None:
    service = world.service
    service.start()
    service.apply(a_trigger("secret", payload=b"canary-4711"))
    service.target.script = lambda fire: BUSY
    service.advance_to("2026-06-01T09:01:00.005Z")
    world.catch_up()
    event = world.events("FireStateChanged")[-1]
    (fire,) = service.fires()
    body = json.loads(event.body)
    not_before = body.pop("not_before")
    assert from_text(not_before) == fire.not_before_us
    assert body == {
        "fire_key": str(fire.key),
        "trigger": "secret",
        "version": 1,
        "origin": "sched",
        "lane": "on_time",
        "state": "held",
        "cause": None,
        "held_reason": "backoff",
        "attempt": 2,
        "scheduled_instant": "2026-06-01T09:01:00Z",
        "through_instant": None,
        "instant_count": 1,
        "coalesced_into": None,
        "due_at": "2026-06-01T09:01:00Z",
        "changed_at": to_text(fire.changed_us),
    }
    assert (event.tenant_id, event.trigger_id, event.at_us) == (
        TENANT,
        fire.key.trigger_id,
        fire.changed_us,
    )
    assert "canary-4711" not in repr(world.events())


def test_trigger_event_is_the_outbox_row(world: RelayedService) -> None:
    world.service.apply(a_trigger("one"))
    (waiting,) = world.store.outbox.pending(limit=10)
    world.catch_up()
    (event,) = world.events()
    assert (event.event, event.tenant_id, event.trigger_id, event.body, event.at_us) == (
        "TriggerChanged",
        TENANT,
        waiting.trigger_id,
        waiting.body,
        waiting.created_us,
    )
    assert world.store.outbox.pending(limit=10) == []
