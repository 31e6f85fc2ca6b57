"""Audit: entries are added and read, never changed."""

import pytest

from ports.errors import PortError
from ports.records import AuditRecord
from ports.store import Store
from tests.contract.factories import StoreHarness

FULL = AuditRecord(5, "ada", "policy_grant", "acme", "horizon", '{"was": 1}', "ticket 7")
BARE = AuditRecord(4, "system", "clock_step")


def test_append_keeps_every_field(store: Store) -> None:
    store.audit.append(FULL)
    assert store.history.audit(limit=10) == [FULL]


def test_audit_is_read_newest_first_by_order_of_appending(store: Store) -> None:
    for entry in (FULL, BARE, FULL):
        store.audit.append(entry)
    assert store.history.audit(limit=2) == [FULL, BARE]


def test_append_is_seen_by_another_handle(harness: StoreHarness, store: Store) -> None:
    store.audit.append(BARE)
    assert harness.open().history.audit(limit=10) == [BARE]


def test_update_of_an_entry_is_refused_by_the_store(harness: StoreHarness, store: Store) -> None:
    store.audit.append(FULL)
    with pytest.raises(PortError):
        harness.change_audit()
    assert store.history.audit(limit=10) == [FULL]


def test_delete_of_an_entry_is_refused_by_the_store(harness: StoreHarness, store: Store) -> None:
    store.audit.append(FULL)
    with pytest.raises(PortError):
        harness.delete_audit()
    assert store.history.audit(limit=10) == [FULL]
