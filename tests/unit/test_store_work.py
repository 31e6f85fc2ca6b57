"""What a read of one tenant costs does not grow with the number of tenants.

Counted in steps of SQLite's machine, which are the same on every computer.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_database import SqliteDatabase
from adapters.sqlite_versions import Versions
from adapters.store_sqlite_registry import SqliteRegistry
from ports.changes import PutTenant, PutTrigger
from scheduling.zones import tzdata_version
from tests.support.store_builders import START_US, TENANT, a_definition, a_tenant, put_target

TENANTS = 2_000
STEPS_AT_ONCE = 10
STEPS_MAX = 1_000


class CountedDatabase(SqliteDatabase):
    """Counts the steps of all its statements."""

    def __init__(self, path: Path) -> None:
        self.steps = 0
        super().__init__(path, synchronous="OFF")

    def _connect(self, **options: int) -> sqlite3.Connection:
        connection = super()._connect(**options)
        connection.set_progress_handler(self._count, STEPS_AT_ONCE)
        return connection

    def _count(self) -> int:
        self.steps += STEPS_AT_ONCE
        return 0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[CountedDatabase]:
    with closing(CountedDatabase(tmp_path / "store.db")) as database:
        yield database


@pytest.fixture
def registry(database: CountedDatabase, tmp_path: Path) -> SqliteRegistry:
    """One trigger, and very many tenants without any."""
    with database.write() as connection:
        connection.execute("INSERT INTO tzdata_pin VALUES (1, ?, 0)", (tzdata_version(),))
    registry = SqliteRegistry(
        SqliteContext(
            database=database,
            versions=Versions(database.sql),
            payload_keys=TinkPayloadKeys(tmp_path / "keys"),
            tzdata_version=tzdata_version(),
        )
    )
    trigger = PutTrigger(tenant_id=TENANT, name="job", definition=a_definition())
    others = [PutTenant(tenant=a_tenant(f"tenant-{number}")) for number in range(TENANTS)]
    registry.apply(
        [PutTenant(tenant=a_tenant()), put_target(), trigger, *others],
        now_us=START_US,
        actor="builder",
    )
    return registry


READS: dict[str, Callable[[SqliteRegistry], list[str]]] = {
    "the_tenant": lambda registry: [each.tenant_id for each in registry.tenants(TENANT)],
    "its_triggers": lambda registry: [
        each.tenant_id for each in registry.triggers(TENANT, limit=10)
    ],
    "its_trigger_by_name": lambda registry: [
        each.tenant_id for each in registry.find_triggers("job", tenant_id=TENANT, deleted=True)
    ],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_read_of_one_tenant_among_very_many_costs_few_steps(
    registry: SqliteRegistry, database: CountedDatabase, read: Callable[[SqliteRegistry], list[str]]
) -> None:
    before = database.steps
    assert read(registry) == [TENANT]
    assert database.steps - before < STEPS_MAX
