"""release: catch-up within its rate in any ten seconds, fair between triggers, oldest first."""

from collections import Counter
from typing import Any

import pytest

from ports.changes import PutTenant, PutTrigger
from ports.records import LaneMessage
from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState, Lane, MissedPolicy, OverlapPolicy
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, HandCrank
from tests.support.store_builders import (
    a_definition,
    a_tenant,
    at,
    put_target,
    since_start,
)

FIRE_ALL = MissedPolicy.FIRE_ALL


def _backlog(crank: HandCrank, *names: str, fires: int = 20, **changes: Any) -> None:
    """Triggers with so many minutes to catch up on each, decided; the clock is past them."""
    ends_us = at(fires * 60)
    for name in names:
        crank.put(
            name, missed_policy=FIRE_ALL, catchup_horizon_s=86_400, ends_us=ends_us, **changes
        )
    crank.to(fires * 60 + 200)
    for name in names:
        crank.commit(name)


def test_release_moves_held_fires_to_ready_oldest_first(crank: HandCrank) -> None:
    _backlog(crank, "job", fires=3)
    assert crank.release() == [
        LaneMessage(crank.key(second), Lane.CATCH_UP, 1) for second in (60, 120, 180)
    ]
    assert crank.lines() == [f"{second} catch_up ready" for second in (60, 120, 180)]


def test_release_repeated_gives_each_fire_once(crank: HandCrank) -> None:
    _backlog(crank, "job", fires=3)
    assert len(crank.release()) == 3
    assert crank.release() == []


@pytest.mark.parametrize("step_s", [0.1, 0.7, 1.0, 3.3, 11.0])
def test_release_keeps_its_rate_in_any_ten_seconds(crank: HandCrank, step_s: float) -> None:
    """Ten a second, a tenth of it for catch-up: ten fires in any ten seconds."""
    crank.begin(quota_dispatch_per_s=10)
    _backlog(crank, "job", fires=60)
    began_s = since_start(crank.now_us)
    released: list[float] = []
    steps = 0
    while len(released) < 60:
        crank.to(began_s + steps * step_s)
        released += [since_start(crank.now_us)] * len(crank.publish(crank.release()))
        steps += 1
    assert max(sum(first <= each < first + 10 for each in released) for first in released) == 10
    assert released[-1] - released[0] <= 60 + 12 * step_s


def test_release_rate_is_kept_by_all_releasers_together(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.begin(quota_dispatch_per_s=10)
    _backlog(crank, "job", fires=60)
    stores = [crank.store, harness.open(), harness.open()]
    released = [store.repair.release(now_us=crank.now_us) for store in stores]
    assert [len(messages) for messages in released] == [10, 0, 0]


@pytest.mark.parametrize(
    ("per_s", "pct", "allowed"),
    [
        pytest.param(10, 0, 0, id="rate_0"),
        pytest.param(0, 10, 0, id="quota_0"),
        pytest.param(1, 1, 1, id="at_least_one"),
        pytest.param(5, 50, 25, id="half_of_five_a_second"),
    ],
)
def test_release_allows_what_the_tenant_may(
    crank: HandCrank, peek: StorePeek, per_s: int, pct: int, allowed: int
) -> None:
    crank.begin(quota_dispatch_per_s=per_s, catchup_rate_pct=pct)
    _backlog(crank, "job", fires=40)
    assert len(crank.release()) == allowed
    before = peek.content()
    assert crank.release() == []
    assert peek.content() == before


def test_release_takes_triggers_in_turn(crank: HandCrank) -> None:
    crank.begin(quota_dispatch_per_s=6)
    _backlog(crank, "a", "b", "c", fires=10)
    names = {crank.ids[name]: name for name in "abc"}
    messages = crank.release()
    assert Counter(names[message.key.trigger_id] for message in messages) == dict.fromkeys("abc", 2)
    for trigger_id in names:
        mine = [m.key.scheduled_us for m in messages if m.key.trigger_id == trigger_id]
        assert mine == [at(60), at(120)]


def test_release_goes_on_with_whose_turn_it_is(crank: HandCrank) -> None:
    """One fire in ten seconds: a trigger with a long backlog does not go first every time."""
    crank.begin(quota_dispatch_per_s=1, catchup_rate_pct=1)
    _backlog(crank, "a", "b", "c", fires=10)
    turns = []
    for _ in range(6):
        (message,) = crank.publish(crank.release())
        turns.append(message.key.trigger_id)
        crank.now_us += 11 * SECOND_US
    assert set(Counter(turns).values()) == {2}


def test_release_counts_tenants_apart(crank: HandCrank) -> None:
    crank.begin(quota_dispatch_per_s=1)
    definition = a_definition(missed_policy=FIRE_ALL, ends_us=at(600))
    (result,) = crank.apply(
        PutTenant(tenant=a_tenant("other", quota_dispatch_per_s=2)),
        put_target("other"),
        PutTrigger(tenant_id="other", name="theirs", definition=definition),
    )[2:]
    assert result.trigger_id is not None
    _backlog(crank, "job", fires=10)
    crank.commit("theirs")
    counts = Counter(message.key.tenant_id for message in crank.release())
    assert counts == {"acme": 1, "other": 2}


def test_release_skips_paused_triggers_and_gives_their_share_to_others(crank: HandCrank) -> None:
    crank.begin(quota_dispatch_per_s=4)
    _backlog(crank, "goes", "paused", fires=10)
    crank.pause("paused")
    assert [message.key for message in crank.release()] == [
        crank.key(60 * n, "goes") for n in (1, 2, 3, 4)
    ]


def test_release_respects_a_taken_slot_and_takes_a_free_one(crank: HandCrank) -> None:
    _backlog(crank, "job", fires=3, overlap_policy=OverlapPolicy.SKIP)
    messages = crank.release()
    assert [message.key for message in messages] == [crank.key(60)]
    assert crank.release() == []
    crank.attempt(messages)
    assert crank.release() == []
    crank.report(crank.key(60), FireState.SUCCEEDED)
    assert [message.key for message in crank.release()] == [crank.key(120)]


def test_release_finds_a_slot_past_its_run_timeout_free(crank: HandCrank) -> None:
    _backlog(crank, "job", fires=3, overlap_policy=OverlapPolicy.SKIP, run_timeout_s=20)
    crank.attempt(crank.release())
    crank.now_us += 21 * SECOND_US
    assert [message.key for message in crank.release()] == [crank.key(120)]


def test_release_lets_a_buffered_fire_go_first(crank: HandCrank) -> None:
    """The run timed out, and the releaser is the first to see it."""
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE, missed_policy=FIRE_ALL, run_timeout_s=90)
    crank.attempt(crank.commit_at(190))
    crank.commit_at(240)
    assert crank.lines() == [
        "60 catch_up held lane_rate",
        "120 catch_up held lane_rate",
        "180 accepted",
        "240 held overlap",
    ]
    crank.to(281)
    assert crank.release() == []
    assert [message.key for message in crank.sweep()] == [crank.key(240)]


def test_released_fire_is_claimed_on_its_lane(crank: HandCrank) -> None:
    _backlog(crank, "job", fires=1)
    (claimed,) = crank.claim(crank.release())
    assert (claimed.lane, claimed.n, claimed.key) == (Lane.CATCH_UP, 1, crank.key(60))


def test_retry_of_a_catch_up_fire_counts_against_the_rate_again(crank: HandCrank) -> None:
    crank.begin(quota_dispatch_per_s=1)
    _backlog(crank, "job", fires=1)
    crank.attempt(crank.release(), result=BUSY)
    crank.now_us += 5 * SECOND_US
    assert crank.sweep() == []
    assert crank.lines() == ["60 catch_up held lane_rate"]
    assert crank.release() == []
    crank.now_us += 6 * SECOND_US
    assert [message.n for message in crank.release()] == [2]


def test_release_with_nothing_to_do_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.commit_at(60)
    version, before = crank.store.data_version(), peek.content()
    assert crank.release() == []
    assert (crank.store.data_version(), peek.content()) == (version, before)


def test_release_after_the_clock_was_set_back_frees_nothing_before_it_is_due(
    crank: HandCrank,
) -> None:
    _backlog(crank, "job", fires=5)
    crank.to(200)
    assert [message.key for message in crank.release()] == [
        crank.key(second) for second in (60, 120, 180)
    ]
