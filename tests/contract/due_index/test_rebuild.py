"""rebuild: the due index derived from registry and ledger is the one that was lost."""

from collections.abc import Callable

import pytest

from ports.errors import TzdataMismatch
from scheduling.vocabulary import FireState, MissedPolicy, OverlapPolicy, ResumeRule
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, LOST, HandCrank
from tests.support.store_builders import TENANT

Situation = Callable[[HandCrank], object]


def _fresh(crank: HandCrank) -> None:
    crank.put()


def _decided(crank: HandCrank) -> None:
    crank.put(smear_s=20)
    crank.commit_at(100, 170)


def _paused(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60)
    crank.to(150)
    crank.pause()


def _edited_while_paused(crank: HandCrank) -> None:
    _paused(crank)
    crank.to(300)
    crank.put(recurrence=("*/2 * * * *",))


def _resumed(crank: HandCrank) -> None:
    _paused(crank)
    crank.to(400)
    crank.resume(rule=ResumeRule.FIRE_ONCE_NOW)


def _gap(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400, max_fires=1_000)
    crank.commit_at(320 * 60)


def _gap_half_planned(crank: HandCrank) -> None:
    _gap(crank)
    crank.plan_gaps()


def _gap_planned(crank: HandCrank) -> None:
    _gap_half_planned(crank)
    crank.plan_gaps()


def _gap_paused(crank: HandCrank) -> None:
    _gap_half_planned(crank)
    crank.pause()


def _pending(crank: HandCrank) -> None:
    crank.put(recurrence=("*/10 * * * *",), max_fires=9)
    crank.commit_at(900)


def _pending_released(crank: HandCrank) -> None:
    _pending(crank)
    crank.release()


def _pending_attempted(crank: HandCrank) -> None:
    _pending(crank)
    crank.attempt(crank.release(), result=BUSY)


def _pending_beside_fire_all(crank: HandCrank) -> None:
    """Only the one fire that stands for a run of missed instants can be absorbed."""
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, recurrence=("*/10 * * * *",))
    crank.commit_at(1_900)


def _pending_absorbed(crank: HandCrank) -> None:
    _pending(crank)
    crank.commit_at(1_200)


def _finished(crank: HandCrank) -> None:
    crank.put(max_fires=2)
    crank.commit_at(60, 120, 180)


def _count_reset(crank: HandCrank) -> None:
    _finished(crank)
    crank.put(max_fires=2, reset=True)
    crank.commit_at(240)


def _buffered(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.BUFFER_ALL, max_fires=30)
    crank.claim(crank.commit_at(60))
    crank.commit_at(120, 180)


def _skipped(crank: HandCrank) -> None:
    crank.put(overlap_policy=OverlapPolicy.SKIP, max_fires=30)
    crank.claim(crank.commit_at(60))
    crank.commit_at(120, 180)


def _kept_by_an_edit(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    crank.to(60)
    crank.put(recurrence=("*/2 * * * *",), smear_s=0)


def _claimed_and_dropped(crank: HandCrank) -> None:
    crank.put(max_fires=5, missed_policy=MissedPolicy.SKIP)
    messages = crank.commit_at(60, 120)
    crank.attempt(messages[1:], result=LOST)
    crank.to(500)
    crank.claim(messages[:1])


def _succeeded(crank: HandCrank) -> None:
    crank.put(max_fires=5)
    crank.attempt(crank.commit_at(60))
    crank.report(crank.key(60), FireState.SUCCEEDED)


def _deleted_and_made_again(crank: HandCrank) -> None:
    _decided(crank)
    crank.delete()
    crank.put()


def _never_due(crank: HandCrank) -> None:
    crank.put(recurrence=("at 2026-01-01T00:00",))


SITUATIONS: list[Situation] = [
    _fresh,
    _decided,
    _paused,
    _edited_while_paused,
    _resumed,
    _gap,
    _gap_half_planned,
    _gap_planned,
    _gap_paused,
    _pending,
    _pending_released,
    _pending_attempted,
    _pending_beside_fire_all,
    _pending_absorbed,
    _finished,
    _count_reset,
    _buffered,
    _skipped,
    _kept_by_an_edit,
    _claimed_and_dropped,
    _succeeded,
    _deleted_and_made_again,
    _never_due,
]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__.strip("_"))
def test_rebuild_after_losing_the_table_gives_the_table_before(
    crank: HandCrank, peek: StorePeek, situation: Situation
) -> None:
    situation(crank)
    before = peek.due_index()
    peek.empty_due_index()
    assert crank.store.due_index.rebuild(now_us=crank.now_us) == len(before) == 1
    assert peek.due_index() == before


def test_rebuild_of_many_triggers_gives_the_table_before(
    crank: HandCrank, harness: StoreHarness
) -> None:
    for name in ("calm", "broken", "paused"):
        crank.put(name)
    harness.peek.set_rule((TENANT, crank.ids["broken"]), "nonsense", version=1)
    crank.store = harness.open()
    crank.to(60)
    assert [crank.commit(name).triggers for name in ("calm", "broken")] == [1, 1]
    crank.pause("paused")
    before = harness.peek.due_index()
    harness.peek.empty_due_index()
    assert crank.store.due_index.rebuild(now_us=crank.now_us) == 3
    assert harness.peek.due_index() == before


def test_rebuild_of_an_intact_table_changes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    _pending(crank)
    before = peek.content()
    crank.store.due_index.rebuild(now_us=crank.now_us)
    assert peek.content() == before


def test_rebuild_makes_a_rule_that_cannot_be_evaluated_due_so_that_it_shows(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.put()
    harness.peek.set_rule((TENANT, crank.ids["job"]), "nonsense", version=1)
    crank.store = harness.open()
    crank.store.due_index.rebuild(now_us=crank.now_us)
    assert len(crank.commit().quarantined) == 1


def test_rebuild_of_a_paused_broken_rule_leaves_it_paused(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.put()
    crank.pause()
    harness.peek.set_rule((TENANT, crank.ids["job"]), "nonsense", version=1)
    crank.store = harness.open()
    crank.store.due_index.rebuild(now_us=crank.now_us)
    assert crank.trigger().next_due_us is None


def test_rebuild_under_unpinned_zone_data_is_refused(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.put()
    before = harness.peek.content()
    other = harness.open(tzdata_version="1999.1")
    with pytest.raises(TzdataMismatch):
        other.due_index.rebuild(now_us=crank.now_us)
    assert harness.peek.content() == before
