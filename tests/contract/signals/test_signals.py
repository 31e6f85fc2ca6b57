"""Signals: proving a commit, and what scrapes and deciders ask."""

import threading

import pytest

from ports.changes import PauseTrigger, PutTarget
from ports.errors import StoreUnavailable
from ports.signals import AcceptedChange
from ports.store import Store
from scheduling.errors import RuleError
from scheduling.keys import partition_of
from tests.contract.factories import StoreHarness
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, a_target, at


def test_prove_commit_is_a_commit_that_others_notice(harness: StoreHarness, store: Store) -> None:
    other = harness.open()
    seen = other.data_version()
    store.signals.prove_commit(now_us=at(1), wait_s=1.0)
    once = other.data_version()
    store.signals.prove_commit(now_us=at(1), wait_s=1.0)
    assert len({seen, once, other.data_version()}) == 3


def test_prove_commit_changes_nothing_that_anybody_reads(crank: HandCrank) -> None:
    crank.put()
    store = crank.store
    before = (store.registry.triggers(limit=9), store.outbox.pending(limit=9))
    store.signals.prove_commit(now_us=at(1), wait_s=1.0)
    assert (store.registry.triggers(limit=9), store.outbox.pending(limit=9)) == before
    assert store.history.fires(limit=9) == []


def test_prove_commit_beside_a_transaction_that_goes_on_and_on_is_refused(
    crank: HandCrank, store: Store
) -> None:
    inside, go = threading.Event(), threading.Event()

    class Endless:
        """Changes whose reading never ends."""

        def __iter__(self) -> "Endless":
            return self

        def __next__(self) -> PutTarget:
            inside.set()
            go.wait()
            raise StopIteration

    hanging = threading.Thread(
        target=lambda: crank.store.ledger.claim(Endless(), now_us=at(0))  # type: ignore[arg-type]
    )
    hanging.start()
    inside.wait()
    try:
        with pytest.raises(StoreUnavailable):
            store.signals.prove_commit(now_us=at(1), wait_s=0.01)
    finally:
        go.set()
        hanging.join()
    store.signals.prove_commit(now_us=at(1), wait_s=1.0)


def test_quarantined_triggers_are_counted_until_an_edit_mends_them(
    crank: HandCrank, monkeypatch: pytest.MonkeyPatch
) -> None:
    crank.put("good")
    crank.put("bad")
    assert crank.store.signals.quarantined_triggers() == 0
    crank.to(60)
    with monkeypatch.context() as patched:
        patched.setattr("adapters.store_sqlite_commit.decide", _raise)
        crank.commit("bad")
    assert crank.store.signals.quarantined_triggers() == 1
    crank.put("bad", recurrence=("*/2 * * * *",))
    assert crank.store.signals.quarantined_triggers() == 0


def test_changes_of_an_empty_store_are_none(store: Store) -> None:
    assert store.signals.newest_change_id() == 0
    assert store.signals.changes_after(0, limit=10) == []


def test_changes_are_told_in_order_from_where_one_left_off(crank: HandCrank) -> None:
    signals = crank.store.signals
    crank.put("a")
    crank.to(5)
    crank.put("b")
    crank.to(7.5)
    crank.apply(PauseTrigger(tenant_id=TENANT, name="a", note=None))
    changes = signals.changes_after(0, limit=10)
    partitions = [partition_of(crank.ids[name]) for name in ("a", "b", "a")]
    assert [change.partition_id for change in changes] == partitions
    assert [change.accepted_us for change in changes] == [at(0), at(5), at(7.5)]
    assert signals.newest_change_id() == changes[-1].change_id
    assert signals.changes_after(changes[0].change_id, limit=1) == changes[1:2]
    assert signals.changes_after(changes[-1].change_id, limit=10) == []


def test_changes_leave_out_what_the_decider_did_and_what_is_no_trigger(
    crank: HandCrank, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = crank.store.signals
    crank.put()
    last = signals.changes_after(0, limit=10)[-1]
    crank.to(60)
    with monkeypatch.context() as patched:
        patched.setattr("adapters.store_sqlite_commit.decide", _raise)
        crank.commit()
    crank.apply(PutTarget(target=a_target(timeout_s=3.0)))
    assert signals.changes_after(last.change_id, limit=10) == []
    crank.put(recurrence=("*/2 * * * *",))
    (edit,) = signals.changes_after(last.change_id, limit=10)
    assert edit == AcceptedChange(edit.change_id, partition_of(crank.ids["job"]), at(60))


def _raise(*unused: object) -> None:
    raise RuleError("no such day")
