"""Changes that share a transaction: each as if it had been the only one, in the order of entry."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_versions import Versions
from adapters.store_sqlite import open_sqlite_store
from adapters.store_sqlite_audit import SqliteAudit
from adapters.store_sqlite_registry import SqliteRegistry
from ports.changes import (
    Change,
    ChangeKind,
    ChangeResult,
    DeleteTrigger,
    IdempotentRequest,
    PutCalendar,
    PutTenant,
    PutTrigger,
)
from ports.errors import ChangeRefused, ProblemKind, StoreUnavailable
from scheduling.zones import tzdata_version
from tests.support.grouped_calls import Call, CountingDatabase, Group
from tests.support.store_builders import (
    START_US,
    TENANT,
    a_definition,
    a_tenant,
    at,
    put_target,
)


class Registry(SqliteRegistry):
    """Its calls can be held up until all of them have come."""

    def __init__(self, context: SqliteContext) -> None:
        super().__init__(context)
        self.group = Group(context.database, context.versions)
        self._group = self.group

    def call(self, *changes: Change, actor: str = "ada", **options: Any) -> Call:
        return partial(
            self.apply, changes, now_us=options.pop("now_us", START_US), actor=actor, **options
        )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[CountingDatabase]:
    with closing(CountingDatabase(tmp_path / "store.db")) as database:
        yield database


@pytest.fixture
def registry(database: CountingDatabase, tmp_path: Path) -> Registry:
    keys = TinkPayloadKeys(tmp_path / "keys")
    with closing(open_sqlite_store(database.path, payload_keys=keys)) as store:
        changes: list[Change] = [PutTenant(tenant=a_tenant()), put_target()]
        store.registry.apply(changes, now_us=START_US, actor="builder")
    return Registry(
        SqliteContext(
            database=database,
            versions=Versions(database.sql),
            payload_keys=keys,
            tzdata_version=tzdata_version(),
        )
    )


def _put(name: str = "job", schedule: str = "0 9 * * *", revision: int | None = None) -> PutTrigger:
    return PutTrigger(
        tenant_id=TENANT,
        name=name,
        definition=a_definition(recurrence=(schedule,), zone="UTC"),
        expected_revision=revision,
    )


def _kinds(results: Sequence[ChangeResult]) -> list[ChangeKind]:
    return [result.kind for result in results]


def test_two_creations_of_one_name_the_second_is_stale(
    registry: Registry, database: CountingDatabase
) -> None:
    before = database.transactions
    first, second = registry.group.together(
        registry.call(_put(revision=0)), registry.call(_put(schedule="0 8 * * *", revision=0))
    )
    error = second.exception()
    assert _kinds(first.result()) == [ChangeKind.CREATED]
    assert isinstance(error, ChangeRefused)
    assert [problem.kind for problem in error.details] == [ProblemKind.STALE]
    assert database.transactions - before == 2


def test_version_of_a_refused_call_is_not_taken_for_that_of_the_next(registry: Registry) -> None:
    registry.apply([_put()], now_us=START_US, actor="ada")
    refused, edited = registry.group.together(
        registry.call(
            _put(schedule="0 7 * * *"), DeleteTrigger(tenant_id=TENANT, name="none", note=None)
        ),
        registry.call(_put(schedule="0 8 * * *")),
    )
    (result,) = edited.result()
    assert isinstance(refused.exception(), ChangeRefused)
    assert (result.version, result.next_due_us) == (2, at(8 * 3_600))
    found = registry.definition(TENANT, result.trigger_id, version=2)
    assert found is not None
    assert found.recurrence == ("0 8 * * *",)


def test_calendar_that_was_undone_with_a_refused_call_between_is_not_taken_for_the_next(
    registry: Registry,
) -> None:
    daily = PutTrigger(
        tenant_id=TENANT,
        name="job",
        definition=a_definition(recurrence=("0 9 * * *",), zone="UTC", calendars=("holidays",)),
    )

    def without(day: str) -> PutCalendar:
        return PutCalendar(tenant_id=TENANT, calendar_id="holidays", dates=(day,))

    *undone, _ = registry.group.together(
        registry.call(without("2026-03-02")),
        registry.call(DeleteTrigger(tenant_id=TENANT, name="none", note=None)),
        registry.call(daily),
        partial(registry.group.run, lambda connection: connection.execute("SELECT nothing")),
    )
    assert [type(each.exception()) for each in undone] == [StoreUnavailable] * 3
    registry.apply([without("2026-03-03")], now_us=START_US, actor="ada")
    (made,) = registry.apply([daily], now_us=START_US, actor="ada")
    assert made.next_due_us == at(9 * 3_600)


def test_dry_run_beside_others_changes_nothing(registry: Registry) -> None:
    first, dry, last = registry.group.together(
        registry.call(_put("one")),
        registry.call(_put("two"), dry_run=True),
        registry.call(_put("three")),
    )
    assert _kinds([*first.result(), *dry.result(), *last.result()]) == [ChangeKind.CREATED] * 3
    assert [each.name for each in registry.triggers(limit=10)] == ["one", "three"]


def test_request_repeated_at_the_same_time_is_made_once(registry: Registry) -> None:
    request = IdempotentRequest(principal_id="ada", key="k", fingerprint="f")
    made, again = registry.group.together(
        registry.call(_put(), request=request), registry.call(_put(), request=request)
    )
    (first,), (second,) = made.result(), again.result()
    assert (first.kind, first.replayed) == (ChangeKind.CREATED, False)
    assert (second.kind, second.replayed) == (ChangeKind.CREATED, True)
    assert second.trigger_id == first.trigger_id


def test_each_call_keeps_its_time_and_its_actor(
    registry: Registry, database: CountingDatabase
) -> None:
    registry.group.together(
        registry.call(_put("one"), actor="ada"),
        registry.call(_put("two"), actor="bob", now_us=at(1)),
    )
    entries = SqliteAudit(database).entries(limit=10)
    told = {(entry.subject, entry.actor, entry.at_us) for entry in entries}
    assert {("one", "ada", START_US), ("two", "bob", at(1))} <= told


def test_quota_counts_what_the_others_of_the_transaction_created(registry: Registry) -> None:
    registry.apply([PutTenant(tenant=a_tenant(quota_triggers=2))], now_us=START_US, actor="ada")
    calls = [registry.call(_put(name)) for name in ("one", "two", "three")]
    *created, refused = registry.group.together(*calls)
    assert all(_kinds(one.result()) == [ChangeKind.CREATED] for one in created)
    assert isinstance(refused.exception(), ChangeRefused)
