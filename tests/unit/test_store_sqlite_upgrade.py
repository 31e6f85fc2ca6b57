"""A store of the first schema goes on under the newest: its targets stay usable."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import migrations
from adapters.store_sqlite import open_sqlite_store
from ports.changes import Change, ChangeKind, PutTarget, PutTenant, PutTrigger
from ports.store import Store
from scheduling.vocabulary import OwnershipState
from tests.support.store_builders import (
    START_US,
    TARGET,
    TENANT,
    a_definition,
    a_target,
    a_tenant,
)

_OLD_ROWS = f"""
INSERT INTO tenant VALUES ('{TENANT}', 1000, 100, 1000, 10, 0, 1, 0);
INSERT INTO target VALUES (
  '{TENANT}', '{TARGET}', 'http', 'https://hook.example/fire', 10.0, NULL, NULL, {START_US},
  'allow_listed', {START_US}
);
"""


@pytest.fixture
def upgraded(tmp_path: Path) -> Store:
    """A tenant and a target that the first schema wrote."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(migrations()[0])
        connection.executescript(_OLD_ROWS)
        connection.execute("PRAGMA user_version=1")
        connection.commit()
    keys = TinkPayloadKeys(tmp_path / "keys")
    return open_sqlite_store(path, payload_keys=keys, synchronous="OFF")


def test_upgraded_target_is_allowed_and_takes_a_trigger(upgraded: Store) -> None:
    (target,) = upgraded.registry.targets(TENANT)
    assert (target.ownership, target.revision) == (OwnershipState.ALLOWED, 1)
    put = PutTrigger(tenant_id=TENANT, name="job", definition=a_definition())
    (result,) = upgraded.registry.apply([put], now_us=START_US, actor="ada")
    assert result.kind is ChangeKind.CREATED
    upgraded.close()


def test_upgraded_target_put_again_keeps_its_state(upgraded: Store) -> None:
    changes: list[Change] = [
        PutTenant(tenant=a_tenant(), expected_revision=1),
        PutTarget(target=a_target(timeout_s=3.0), expected_revision=1),
    ]
    results = upgraded.registry.apply(changes, now_us=START_US, actor="ada")
    assert [result.kind for result in results] == [ChangeKind.UNCHANGED, ChangeKind.EDITED]
    (target,) = upgraded.registry.targets()
    assert (target.ownership, target.verified_us, target.revision) == ("allow_listed", START_US, 2)
    upgraded.close()
