"""Audit: pages of entries, against the plain meaning of the filters."""

from collections.abc import Collection
from typing import Any

import pytest

from ports.records import AuditRecord
from ports.store import Store

ACTORS = ("ada", "bob", "decider")
ACTIONS = ("trigger_paused", "trigger_resumed", "token_created", "clock_step")
SUBJECTS = (("acme", "nightly"), ("acme", "hourly"), ("beta", "nightly"), (None, "clock"))
# The clock was set back in the middle: an entry's time says nothing about its place.
POPULATION = [
    AuditRecord(
        number if number < 20 else number - 10,
        ACTORS[number % 3],
        ACTIONS[number % 4],
        tenant_id,
        subject,
        prior_value=f'{{"number": {number}}}',
        note=f"note {number}",
        audit_id=number + 1,
    )
    for number in range(40)
    for tenant_id, subject in (SUBJECTS[(number // 2) % 4],)
]
FILTERS: dict[str, dict[str, Any]] = {
    "everything": {},
    "tenant": {"tenant_id": "acme"},
    "unknown_tenant": {"tenant_id": "nobody"},
    "subject_of_a_tenant": {"tenant_id": "acme", "subject": "nightly"},
    "subject_of_any_tenant": {"subject": "nightly"},
    "subject_without_a_tenant": {"subject": "clock"},
    "actor": {"actor": "bob"},
    "actor_in_a_tenant": {"actor": "bob", "tenant_id": "beta"},
    "action": {"actions": ("token_created",)},
    "actions": {"actions": ("trigger_paused", "clock_step")},
    "actions_on_a_subject": {
        "actions": ("trigger_paused", "trigger_resumed"),
        "tenant_id": "acme",
        "subject": "nightly",
    },
    "window": {"from_us": 12, "through_us": 16},
    "window_open_below": {"through_us": 3},
    "window_open_above": {"from_us": 27},
    "window_in_a_tenant": {"from_us": 5, "through_us": 25, "tenant_id": "beta"},
    "all_at_once": {
        "tenant_id": "acme",
        "subject": "hourly",
        "actor": "ada",
        "actions": ACTIONS,
        "from_us": 1,
        "through_us": 28,
    },
}


def expected(
    *,
    tenant_id: str | None = None,
    subject: str | None = None,
    actor: str | None = None,
    actions: Collection[str] = (),
    from_us: int = 0,
    through_us: int = 100,
) -> list[AuditRecord]:
    return [
        entry
        for entry in reversed(POPULATION)
        if tenant_id in (None, entry.tenant_id)
        and subject in (None, entry.subject)
        and actor in (None, entry.actor)
        and (not actions or entry.action in actions)
        and from_us <= entry.at_us <= through_us
    ]


@pytest.fixture
def populated(store: Store) -> Store:
    for entry in POPULATION:
        store.audit.append(entry)
    return store


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_entries_in_one_page_are_those_that_the_filter_means(
    populated: Store, filters: dict[str, Any]
) -> None:
    assert populated.audit.entries(limit=100, **filters) == expected(**filters)


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_entries_in_pages_are_those_of_one_page(populated: Store, filters: dict[str, Any]) -> None:
    found: list[AuditRecord] = []
    page = populated.audit.entries(limit=3, **filters)
    while page:
        assert len(page) <= 3
        found += page
        page = populated.audit.entries(limit=3, before_id=page[-1].audit_id, **filters)
    assert found == expected(**filters)


def test_entries_before_one_that_never_was_continue_behind_it(populated: Store) -> None:
    page = populated.audit.entries(before_id=10_000, limit=1)
    assert page == [POPULATION[-1]]


def test_entries_of_an_empty_store_are_none(store: Store) -> None:
    assert store.audit.entries(limit=10) == []
