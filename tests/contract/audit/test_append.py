"""Audit: entries are added, never changed."""

from collections.abc import Callable

import pytest

from ports.errors import PortError
from ports.records import AuditRecord
from ports.store import Store
from tests.contract.factories import StoreHarness

FULL = AuditRecord(5, "ada", "policy_grant", "acme", "horizon", '{"was": 1}', "ticket 7")
BARE = AuditRecord(4, "system", "clock_step")


@pytest.mark.parametrize("entry", [FULL, BARE], ids=["full", "bare"])
def test_append_keeps_every_field(store: Store, entry: AuditRecord) -> None:
    store.audit.append(entry)
    assert store.audit.entries(limit=10) == [entry._replace(audit_id=1)]


def test_append_of_an_equal_entry_adds_another(store: Store) -> None:
    store.audit.append(BARE)
    store.audit.append(BARE)
    assert [entry.audit_id for entry in store.audit.entries(limit=10)] == [2, 1]


def test_append_is_seen_by_another_handle(harness: StoreHarness, store: Store) -> None:
    store.audit.append(BARE)
    assert harness.open().audit.entries(limit=10) == [BARE._replace(audit_id=1)]


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda harness: harness.change_audit(), id="update"),
        pytest.param(lambda harness: harness.delete_audit(), id="delete"),
    ],
)
def test_harm_to_an_entry_is_refused_by_the_store(
    harness: StoreHarness, store: Store, harm: Callable[[StoreHarness], None]
) -> None:
    store.audit.append(FULL)
    with pytest.raises(PortError):
        harm(harness)
    assert store.audit.entries(limit=10) == [FULL._replace(audit_id=1)]
