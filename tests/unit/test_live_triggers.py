"""The count that a creation compares with the quota, against a plain count of the rows."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters import sqlite_database
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase, migrations
from adapters.store_sqlite import open_sqlite_store
from ports.changes import Change, ChangeResult, DeleteTrigger, PauseTrigger, PutTenant, PutTrigger
from ports.errors import ChangeRefused
from ports.store import Store
from tests.support.sqlite_rows import insert_trigger
from tests.support.store_builders import START_US, TENANT, a_definition, a_tenant, put_target

KEPT = "SELECT live_triggers FROM tenant WHERE tenant_id = ?"
COUNTED = "SELECT count(*) FROM trigger WHERE tenant_id = ? AND state <> 'deleted'"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    keys = TinkPayloadKeys(tmp_path / "keys")
    store = open_sqlite_store(tmp_path / "store.db", payload_keys=keys, synchronous="OFF")
    with closing(store):
        _apply(store, PutTenant(tenant=a_tenant(quota_triggers=3)), put_target())
        yield store


def _apply(store: Store, *changes: Change, dry_run: bool = False) -> list[ChangeResult]:
    return store.registry.apply(changes, now_us=START_US, actor="test", dry_run=dry_run)


def _put(name: str) -> PutTrigger:
    return PutTrigger(tenant_id=TENANT, name=name, definition=a_definition())


def _counts(path: Path) -> tuple[int, int]:
    """(as kept, as counted)"""
    with closing(sqlite3.connect(path)) as connection:
        kept, counted = (connection.execute(text, (TENANT,)).fetchone() for text in (KEPT, COUNTED))
    return kept[0], counted[0]


def test_live_count_after_creations_and_deletions_is_that_of_the_rows(
    store: Store, tmp_path: Path
) -> None:
    _apply(store, _put("one"), _put("two"), _put("three"))
    _apply(store, DeleteTrigger(tenant_id=TENANT, name="two"), _put("one"))
    _apply(store, PauseTrigger(tenant_id=TENANT, name="one"))
    assert _counts(tmp_path / "store.db") == (2, 2)


def test_live_count_of_what_was_not_committed_is_as_before(store: Store, tmp_path: Path) -> None:
    _apply(store, _put("one"))
    _apply(store, _put("two"), dry_run=True)
    with pytest.raises(ChangeRefused, match="quota_triggers"):
        _apply(store, _put("two"), _put("three"), _put("four"))
    assert _counts(tmp_path / "store.db") == (1, 1)


def test_live_count_of_a_store_made_before_it_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    before = next(
        number for number, script in enumerate(migrations()) if "ADD COLUMN live_triggers" in script
    )
    scripts = migrations()
    monkeypatch.setattr(sqlite_database, "migrations", lambda: scripts[:before])
    SqliteDatabase(path).close()
    with closing(sqlite3.connect(path)) as connection:
        for number in range(3):
            insert_trigger(connection, TENANT, trigger_id=f"t00{number}", name=f"n{number}")
        connection.execute("UPDATE trigger SET state = 'deleted' WHERE name = 'n1'")
        connection.commit()
    monkeypatch.setattr(sqlite_database, "migrations", lambda: scripts)
    SqliteDatabase(path).close()
    assert _counts(path) == (2, 2)
