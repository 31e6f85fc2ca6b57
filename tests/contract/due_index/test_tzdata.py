"""The zone data pin: a process with another version decides nothing until somebody adopts it."""

import pytest

from ports.errors import TzdataMismatch
from ports.store import Store
from scheduling.zones import tzdata_version
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, at

OTHER = "1999.1"


@pytest.fixture
def other(crank: HandCrank, harness: StoreHarness) -> HandCrank:
    """The same store, through a process with another zone data version."""
    crank.put()
    crank.to(60)
    crank.store = harness.open(tzdata_version=OTHER)
    return crank


def test_new_store_is_pinned_to_the_installed_version(store: Store) -> None:
    assert store.due_index.pinned_tzdata() == tzdata_version()


def test_commit_with_another_version_is_refused_and_names_both(
    other: HandCrank, peek: StorePeek
) -> None:
    before = peek.content()
    with pytest.raises(TzdataMismatch) as caught:
        other.commit()
    assert (caught.value.pinned, caught.value.installed) == (tzdata_version(), OTHER)
    assert peek.content() == before


def test_change_with_another_version_is_refused(other: HandCrank, peek: StorePeek) -> None:
    before = peek.content()
    with pytest.raises(TzdataMismatch):
        other.put("second")
    assert peek.content() == before


def test_opening_with_another_version_leaves_the_pin(other: HandCrank) -> None:
    assert other.store.due_index.pinned_tzdata() == tzdata_version()


def test_adopt_pins_counts_moved_triggers_and_audits(other: HandCrank, peek: StorePeek) -> None:
    other_rows = {row.trigger_id: row for row in peek.due_index()}
    peek.set_next_due((TENANT, other.ids["job"]), next_due_us=at(90))
    assert other.store.due_index.adopt_tzdata(now_us=other.now_us, actor="bob") == (1, 1)
    assert {row.trigger_id: row for row in peek.due_index()} == other_rows
    assert other.store.due_index.pinned_tzdata() == OTHER
    (entry,) = other.store.audit.entries(limit=1)
    assert (entry.actor, entry.action, entry.subject) == ("bob", "tzdata_adopt", OTHER)
    assert entry.prior_value == tzdata_version()
    assert entry.note == "1 of 1 triggers moved"


def test_adopt_counts_only_triggers_that_move(crank: HandCrank, harness: StoreHarness) -> None:
    for name in ("moves", "stays", "paused"):
        crank.put(name)
    crank.pause("paused")
    harness.peek.set_next_due((TENANT, crank.ids["moves"]), next_due_us=at(30))
    crank.store = harness.open(tzdata_version=OTHER)
    assert crank.store.due_index.adopt_tzdata(now_us=crank.now_us, actor="bob") == (3, 1)


def test_after_adopting_this_process_decides_and_the_old_one_does_not(
    other: HandCrank, harness: StoreHarness
) -> None:
    other.store.due_index.adopt_tzdata(now_us=other.now_us, actor="bob")
    assert other.commit().rows == 1
    assert other.fires()[0].tzdata_version == OTHER
    other.store = harness.open(tzdata_version="2000.1")
    other.to(120)
    with pytest.raises(TzdataMismatch):
        other.commit()
