"""The registry's list of triggers: pages, against the plain meaning of the filters."""

from collections.abc import Collection
from typing import Any

import pytest

from ports.changes import (
    ChangeKind,
    DeleteTrigger,
    PauseTrigger,
    PutTarget,
    PutTenant,
    PutTrigger,
)
from ports.records import TriggerRecord
from ports.store import Store
from scheduling.vocabulary import OwnershipState, TriggerState
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TARGET, TENANT, a_definition, a_target, a_tenant, at

SECOND = "second"
# By tenant and name: the state it gets, and its target.
POPULATION = {
    (TENANT, "a"): (TriggerState.LIVE, TARGET),
    (TENANT, "billing-daily"): (TriggerState.PAUSED, TARGET),
    (TENANT, "billing-hourly"): (TriggerState.LIVE, SECOND),
    (TENANT, "billing.x"): (TriggerState.FINISHED, TARGET),
    (TENANT, "billings"): (TriggerState.LIVE, TARGET),
    (TENANT, "c"): (TriggerState.PAUSED, SECOND),
    ("beta", "billing-daily"): (TriggerState.LIVE, TARGET),
    ("zeta", "a"): (TriggerState.PAUSED, SECOND),
    ("zeta", "b"): (TriggerState.LIVE, TARGET),
}
FILTERS: dict[str, dict[str, Any]] = {
    "everything": {},
    "tenant": {"tenant_id": TENANT},
    "unknown_tenant": {"tenant_id": "nobody"},
    "live": {"states": (TriggerState.LIVE,)},
    "paused_and_finished": {"states": (TriggerState.PAUSED, TriggerState.FINISHED)},
    "quarantined": {"states": (TriggerState.QUARANTINED,)},
    "deleted": {"states": (TriggerState.DELETED,)},
    "target": {"target_id": SECOND},
    "target_of_a_tenant": {"target_id": SECOND, "tenant_id": "zeta"},
    "unknown_target": {"target_id": "nowhere"},
    "prefix": {"name_prefix": "billing"},
    "prefix_with_a_mark": {"name_prefix": "billing-"},
    "prefix_that_is_a_whole_name": {"name_prefix": "billing-daily"},
    "prefix_of_nothing": {"name_prefix": "zz"},
    "prefix_in_a_tenant": {"name_prefix": "a", "tenant_id": "zeta"},
    "all_at_once": {
        "tenant_id": TENANT,
        "states": (TriggerState.LIVE,),
        "target_id": SECOND,
        "name_prefix": "billing",
    },
}


def expected(
    *,
    tenant_id: str | None = None,
    states: Collection[TriggerState] = (),
    target_id: str | None = None,
    name_prefix: str = "",
) -> list[tuple[str, str]]:
    return [
        key
        for key, (state, target) in sorted(POPULATION.items())
        if tenant_id in (None, key[0])
        and (not states or state in states)
        and target_id in (None, target)
        and key[1].startswith(name_prefix)
    ]


@pytest.fixture
def populated(crank: HandCrank) -> Store:
    """Beside the population, two deleted triggers, one of whose names came again."""
    for tenant_id in (TENANT, "beta", "zeta"):
        crank.apply(PutTenant(tenant=a_tenant(tenant_id)))
        for target_id in (TARGET, SECOND):
            target = a_target(tenant_id, target_id=target_id)
            crank.apply(PutTarget(target=target, ownership=OwnershipState.ALLOWED))
    for tenant_id, name in ((TENANT, "billing-daily"), ("zeta", "gone")):
        crank.apply(
            PutTrigger(tenant_id=tenant_id, name=name, definition=a_definition()),
            DeleteTrigger(tenant_id=tenant_id, name=name),
        )
    for (tenant_id, name), (state, target_id) in POPULATION.items():
        definition = a_definition(
            target_id=target_id, ends_us=at(0) if state is TriggerState.FINISHED else None
        )
        crank.apply(PutTrigger(tenant_id=tenant_id, name=name, definition=definition))
        if state is TriggerState.PAUSED:
            crank.apply(PauseTrigger(tenant_id=tenant_id, name=name))
    return crank.store


def _names(page: list[TriggerRecord]) -> list[tuple[str, str]]:
    return [(trigger.tenant_id, trigger.name) for trigger in page]


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_triggers_in_one_page_are_those_that_the_filter_means(
    populated: Store, filters: dict[str, Any]
) -> None:
    assert _names(populated.registry.triggers(limit=100, **filters)) == expected(**filters)


@pytest.mark.parametrize("limit", [1, 4])
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())
def test_triggers_in_pages_are_those_of_one_page(
    populated: Store, filters: dict[str, Any], limit: int
) -> None:
    found: list[tuple[str, str]] = []
    page = _names(populated.registry.triggers(limit=limit, **filters))
    while page:
        assert len(page) <= limit
        found += page
        page = _names(populated.registry.triggers(limit=limit, after=page[-1], **filters))
    assert found == expected(**filters)


@pytest.mark.parametrize(
    ("after", "first"),
    [
        pytest.param((TENANT, "billing"), (TENANT, "billing-daily"), id="name"),
        pytest.param((TENANT, "zz"), ("beta", "billing-daily"), id="behind_a_tenant"),
        pytest.param(("gamma", "a"), ("zeta", "a"), id="tenant"),
    ],
)
def test_triggers_after_what_is_gone_continue_behind_it(
    populated: Store, after: tuple[str, str], first: tuple[str, str]
) -> None:
    assert _names(populated.registry.triggers(after=after, limit=1)) == [first]


def test_triggers_by_target_go_by_the_version_that_stands(crank: HandCrank) -> None:
    second = a_target(target_id=SECOND)
    crank.apply(PutTarget(target=second, ownership=OwnershipState.ALLOWED))
    crank.put()
    assert crank.put(target_id=SECOND).kind is ChangeKind.EDITED
    assert crank.store.registry.triggers(target_id=TARGET, limit=10) == []
    assert crank.store.registry.triggers(target_id=SECOND, limit=10) == [crank.trigger()]


def test_triggers_are_shown_whole(crank: HandCrank) -> None:
    crank.put()
    crank.to(30)
    crank.pause(note="holiday")
    assert crank.store.registry.triggers(limit=10) == [
        TriggerRecord(
            tenant_id=TENANT,
            trigger_id=crank.ids["job"],
            name="job",
            state=TriggerState.PAUSED,
            version=1,
            revision=2,
            partition_id=crank.trigger().partition_id,
            pause_note="holiday",
            quarantine_error=None,
            decided_through_us=at(0),
            next_due_us=None,
            fired_count=0,
            created_us=at(0),
        )
    ]
