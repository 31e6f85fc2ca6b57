"""claim: one attempt for one claimer, with everything its delivery needs; else drop the message."""

import threading

import pytest

from ports.changes import PutTenant, PutTrigger, RecordOwnership
from ports.records import ClaimedFire, ClaimRequest, LaneMessage
from ports.store import Store
from scheduling.keys import FireKey, trace_parent_of
from scheduling.limits import CLAIM_MARGIN_US
from scheduling.retry import AttemptResult
from scheduling.vocabulary import (
    USABLE_OWNERSHIP,
    FireState,
    Lane,
    MissedPolicy,
    Origin,
    OwnershipState,
)
from scheduling.zones import tzdata_version
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, HandCrank
from tests.support.store_builders import (
    SECRET,
    TENANT,
    a_definition,
    a_target,
    a_tenant,
    at,
    put_target,
)


def test_claim_gives_everything_the_delivery_needs(crank: HandCrank) -> None:
    crank.put(payload=b"hello")
    messages = crank.commit_at(60)
    crank.to(61)
    key = crank.key(60)
    assert crank.claim(messages) == [
        ClaimedFire(
            key=key,
            n=1,
            trigger_name="job",
            version=1,
            origin=Origin.SCHED,
            lane=Lane.ON_TIME,
            due_us=at(60),
            claimed_until_us=at(71) + CLAIM_MARGIN_US,
            tzdata_version=tzdata_version(),
            endpoint="https://hook.example/fire",
            timeout_s=10.0,
            signing_secrets=(SECRET,),
            is_target_usable=True,
            payload=b"hello",
            trace_parent=trace_parent_of(key),
        )
    ]


@pytest.mark.parametrize("ownership", OwnershipState)
def test_claim_says_whether_the_target_may_be_used_by_now(
    crank: HandCrank, ownership: OwnershipState
) -> None:
    crank.put()
    messages = crank.commit_at(60)
    target = a_target()
    for found in (OwnershipState.PROVEN, ownership):
        crank.apply(
            RecordOwnership(
                tenant_id=TENANT,
                target_id=target.target_id,
                endpoint=target.endpoint,
                ownership=found,
            )
        )
    (claimed,) = crank.claim(messages)
    assert claimed.is_target_usable is (ownership in USABLE_OWNERSHIP)


def test_claim_writes_the_attempt_and_the_first_dispatch(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.to(61)
    crank.claim(messages)
    (fire,) = crank.fires()
    assert (fire.state, fire.first_dispatched_us) == (FireState.DISPATCHING, at(61))
    (attempt,) = crank.store.history.attempts(fire.key)
    assert (attempt.n, attempt.dispatched_us, attempt.finished_us) == (1, at(61), None)
    assert attempt.claimed_until_us == at(71) + CLAIM_MARGIN_US


@pytest.mark.parametrize("is_queued", [True, False], ids=["queued", "ready"])
def test_claim_repeated_gives_nothing(crank: HandCrank, is_queued: bool) -> None:
    crank.put()
    messages = crank.commit_at(60)
    if is_queued:
        crank.store.ledger.mark_queued(messages, now_us=crank.now_us)
    assert len(crank.claim(messages)) == 1
    assert crank.claim(messages) == []


def test_claim_of_one_message_twice_in_a_call_gives_it_once(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60)
    assert len(crank.claim([*messages, *messages])) == 1


def test_claims_of_two_claimers_at_once_share_the_fires_out(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.put(recurrence=("* * * * * *",), missed_policy=MissedPolicy.FIRE_ALL)
    messages = [message for second in range(1, 41) for message in crank.commit_at(second)]
    got: list[ClaimedFire] = []
    start = threading.Barrier(2)

    def claim(store: Store) -> None:
        start.wait()
        for message in messages:
            got.extend(
                store.ledger.claim([ClaimRequest(message.key, message.n)], now_us=crank.now_us)
            )

    threads = [threading.Thread(target=claim, args=(harness.open(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fire.key for fire in got) == [message.key for message in messages]


def test_claim_of_a_stale_attempt_is_dropped(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.attempt(messages, result=BUSY)
    crank.to(100)
    (again,) = crank.sweep()
    assert again.n == 2
    assert crank.claim(messages) == []
    assert [fire.n for fire in crank.claim([again])] == [2]


def test_claim_of_an_attempt_ahead_of_its_time_is_dropped(crank: HandCrank) -> None:
    crank.put()
    (message,) = crank.commit_at(60)
    assert crank.claim([message._replace(n=2)]) == []
    assert crank.lines() == ["60 ready"]


def test_claim_of_a_held_fire_is_dropped(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",))
    crank.commit_at(900)
    held = LaneMessage(crank.key(600), Lane.CATCH_UP, 1)
    assert crank.claim([held]) == []
    assert crank.lines() == ["600 catch_up held lane_rate"]


def test_claim_of_an_unknown_fire_is_dropped(crank: HandCrank) -> None:
    crank.put()
    unknown = LaneMessage(FireKey(TENANT, "t-none", at(60)), Lane.ON_TIME, 1)
    assert crank.claim([unknown]) == []


@pytest.mark.parametrize("stop", ["pause", "delete"])
def test_claim_of_a_stopped_triggers_fire_is_dropped_with_the_cause(
    crank: HandCrank, stop: str
) -> None:
    crank.put()
    messages = crank.commit_at(60)
    getattr(crank, stop)()
    assert crank.claim(messages) == []
    assert crank.lines() == [f"60 {stop}d"]


def test_claim_is_silent_at_once_though_the_rows_follow_in_batches(crank: HandCrank) -> None:
    """A retry that ended after the pause is still waiting, and does not go."""
    crank.put()
    crank.claim(crank.commit_at(60))
    crank.pause()
    crank.finish(crank.key(60), result=BUSY)
    retry = LaneMessage(crank.key(60), Lane.ON_TIME, 2)
    assert crank.claim([retry]) == []
    crank.to(100)
    assert crank.sweep() == []
    assert crank.lines() == ["60 undelivered"]


def test_claim_without_the_payload_key_ends_the_fire_and_no_other(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put("sealed", payload=b"lost", max_fires=5)
    messages = crank.commit_at(60, name="sealed")
    peek.delete_payload_key(TENANT)
    assert crank.claim(messages) == []
    assert crank.lines("sealed") == ["60 cancelled"]
    assert crank.trigger("sealed").fired_count == 0


def test_claim_without_one_tenants_key_leaves_the_others_in_the_batch(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put(payload=b"lost")
    messages = crank.commit_at(60)
    other = _other_tenant(crank)
    peek.delete_payload_key(TENANT)
    assert [fire.key for fire in crank.claim([*messages, *other])] == [other[0].key]


def _other_tenant(crank: HandCrank) -> list[LaneMessage]:
    (result,) = crank.apply(
        PutTenant(tenant=a_tenant("other")),
        put_target("other"),
        PutTrigger(tenant_id="other", name="theirs", definition=a_definition()),
    )[2:]
    assert result.trigger_id is not None
    return crank.commit_at(120, name="theirs")


@pytest.mark.parametrize(
    ("result", "state"),
    [
        pytest.param(BUSY, FireState.UNDELIVERED, id="refused_for_now"),
        pytest.param(LOST, FireState.UNKNOWN, id="ambiguous"),
    ],
)
def test_claim_of_a_retry_without_the_payload_key_ends_as_its_last_try_left_it(
    crank: HandCrank, peek: StorePeek, result: AttemptResult, state: FireState
) -> None:
    crank.put(payload=b"lost")
    crank.attempt(crank.commit_at(60), result=result)
    crank.to(100)
    (again,) = crank.sweep()
    peek.delete_payload_key(TENANT)
    assert crank.claim([again]) == []
    assert crank.fires()[0].state is state


def test_claim_reads_the_target_as_it_is_now(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.apply(put_target(endpoint="https://new.example/fire", timeout_s=2.5))
    (claimed,) = crank.claim(messages)
    assert (claimed.endpoint, claimed.timeout_s) == ("https://new.example/fire", 2.5)
    assert claimed.claimed_until_us == at(62.5) + CLAIM_MARGIN_US


def test_claim_of_nothing_gives_nothing(crank: HandCrank) -> None:
    assert crank.store.ledger.claim([], now_us=at(0)) == []


def test_claim_after_the_clock_was_set_back_waits_until_the_fire_is_due(crank: HandCrank) -> None:
    crank.put(recurrence=("0 * * * *",))
    messages = crank.commit_at(3_600)
    crank.to(3_000)
    assert crank.claim(messages) == []
    crank.to(3_599)
    assert crank.sweep() == []
    crank.to(3_606)
    assert [fire.key for fire in crank.claim(crank.sweep())] == [crank.key(3_600)]


def test_claim_by_a_clock_that_is_a_little_behind_the_deciders_is_sent(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.to(59.9)
    assert len(crank.claim(messages)) == 1
