"""apply, manual runs under an overlap policy: they take a free slot and displace nothing."""

import pytest

from ports.changes import RunTrigger
from ports.errors import ProblemKind
from scheduling.vocabulary import FireState, OverlapPolicy
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, REFUSED, HandCrank
from tests.support.store_builders import TENANT

NO_OVERLAP = [policy for policy in OverlapPolicy if policy is not OverlapPolicy.ALLOW]
CONFLICT = (ProblemKind.CONFLICT, "force")


def _refusal(crank: HandCrank, peek: StorePeek) -> tuple[ProblemKind, str]:
    problem = refusal_of(crank, peek, RunTrigger(tenant_id=TENANT, name="job"))
    return problem.kind, problem.field


@pytest.mark.parametrize("policy", NO_OVERLAP)
def test_run_takes_a_free_slot_which_the_schedule_then_finds_taken(
    crank: HandCrank, policy: OverlapPolicy
) -> None:
    crank.put(overlap_policy=policy)
    crank.to(10)
    key = crank.run()
    assert [message.key for message in crank.commit_at(60)] == [key]
    fate = "overlap" if policy is OverlapPolicy.SKIP else "held overlap"
    assert crank.lines() == ["10 ready", f"60 {fate}"]


def test_run_that_ends_hands_its_slot_to_a_buffered_fire(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ONE)
    crank.to(10)
    key = crank.run()
    crank.attempt(crank.sweep())
    crank.commit_at(60)
    finished = crank.report(key, FireState.SUCCEEDED)
    assert finished is not None
    assert [message.key for message in finished.ready] == [crank.key(60)]


def test_run_that_is_refused_frees_its_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.to(10)
    crank.run()
    crank.attempt(crank.sweep(), result=REFUSED)
    crank.commit_at(60)
    assert crank.lines() == ["10 refused", "60 ready"]


def test_run_that_waits_for_a_retry_keeps_its_slot_from_the_schedule(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, attempt_budget=20)
    crank.to(58)
    key = crank.run()
    crank.attempt(crank.sweep(), result=BUSY)
    crank.commit_at(60)
    assert crank.lines() == ["58 held backoff", "60 overlap"]
    assert [message.key for message in crank.sweep()] == [key]


def test_run_whose_run_timeout_is_over_gives_its_slot_up(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, run_timeout_s=30)
    crank.to(10)
    crank.run()
    crank.attempt(crank.sweep())
    assert [message.key for message in crank.commit_at(60)] == [crank.key(60)]


@pytest.mark.parametrize("policy", NO_OVERLAP)
def test_run_against_a_taken_slot_is_a_conflict(
    crank: HandCrank, peek: StorePeek, policy: OverlapPolicy
) -> None:
    crank.put(overlap_policy=policy)
    crank.attempt(crank.commit_at(60))
    assert _refusal(crank, peek) == CONFLICT


def test_run_against_another_run_is_a_conflict(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.run()
    assert _refusal(crank, peek) == CONFLICT


def test_run_against_a_run_whose_timeout_is_over_takes_the_slot(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, run_timeout_s=30, recurrence=("0 * * * *",))
    crank.run()
    crank.attempt(crank.sweep())
    crank.to(31)
    crank.run()
    assert _refusal(crank, peek) == CONFLICT


def test_run_where_the_schedule_has_its_turn_is_a_conflict(
    crank: HandCrank, peek: StorePeek
) -> None:
    """The instant is due, the decider has not come to it yet."""
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.to(59.999)
    first = crank.run()
    crank.cancel(first)
    crank.to(60)
    assert _refusal(crank, peek) == CONFLICT
    crank.attempt(crank.commit().ready, result=REFUSED)
    assert crank.run().sequence == 2


def test_forced_run_goes_beside_the_one_that_has_the_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.attempt(crank.commit_at(60))
    key = crank.run(force=True)
    assert [fire.key for fire in crank.claim(crank.sweep())] == [key]
    crank.finish(key)
    crank.report(key, FireState.SUCCEEDED)
    crank.commit_at(120)
    assert crank.lines() == ["60 accepted", "60 succeeded", "120 overlap"]


def test_forced_run_takes_a_free_slot(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP)
    crank.run(force=True)
    crank.commit_at(60)
    assert crank.lines() == ["0 ready", "60 overlap"]


def test_run_under_allow_is_never_a_conflict(crank: HandCrank) -> None:
    crank.put()
    crank.attempt(crank.commit_at(60))
    assert [crank.run().sequence for _ in range(2)] == [1, 2]
