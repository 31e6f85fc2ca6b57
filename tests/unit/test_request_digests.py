"""What is kept of a request: nothing by which its payload could be guessed."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters import sqlite_database
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase, migrations
from adapters.store_sqlite import open_sqlite_store
from ports.changes import (
    Change,
    ChangeResult,
    DeletePayloadKey,
    IdempotentRequest,
    PauseTrigger,
    PutTenant,
    PutTrigger,
    RunTrigger,
)
from ports.errors import ChangeRefused, ProblemKind
from ports.store import Store
from tests.support.store_builders import (
    START_US,
    TENANT,
    a_definition,
    a_tenant,
    put_target,
)

FINGERPRINT = hashlib.sha256(b'PUT /v1/tenants/acme/triggers/job {"payload": 4711}').hexdigest()
PUT = PutTrigger(tenant_id=TENANT, name="job", definition=a_definition(payload=b"4711"))
RUN = RunTrigger(tenant_id=TENANT, name="job", payload=b"4712")
PAUSE = PauseTrigger(tenant_id=TENANT, name="job")
TARGET = put_target(timeout_s=3.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(_opened(tmp_path)) as store:
        _apply(store, PutTenant(tenant=a_tenant()), put_target(), PUT)
        yield store


def _opened(folder: Path) -> Store:
    keys = TinkPayloadKeys(folder / "keys")
    return open_sqlite_store(folder / "store.db", payload_keys=keys, synchronous="OFF")


def _apply(store: Store, *changes: Change, key: str | None = None) -> list[ChangeResult]:
    request = key and IdempotentRequest(principal_id="ada", key=key, fingerprint=FINGERPRINT)
    return store.registry.apply(changes, now_us=START_US, actor="ada", request=request or None)


def _delete_key(store: Store, folder: Path) -> None:
    _apply(store, DeletePayloadKey(tenant_id=TENANT))
    TinkPayloadKeys(folder / "keys").delete(TENANT)


def _files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("change", [PUT, RUN, PAUSE, TARGET], ids=lambda each: type(each).__name__)
def test_no_file_holds_the_digest_of_a_request(
    store: Store, tmp_path: Path, change: Change
) -> None:
    _apply(store, change, key="once")
    content = _files(tmp_path)
    assert b"once" in content
    assert FINGERPRINT.encode() not in content
    assert bytes.fromhex(FINGERPRINT) not in content


@pytest.mark.parametrize("change", [PUT, RUN, TARGET], ids=lambda each: type(each).__name__)
def test_with_the_tenants_key_goes_what_its_requests_are_recognised_by(
    store: Store, tmp_path: Path, change: Change
) -> None:
    assert [each.replayed for each in _apply(store, change, key="once")] == [False]
    assert [each.replayed for each in _apply(store, change, key="once")] == [True]
    _delete_key(store, tmp_path)
    with pytest.raises(ChangeRefused, match="payload key is deleted") as caught:
        _apply(store, change, key="once")
    assert [each.kind for each in caught.value.details] == [ProblemKind.KEY_REUSED]


def test_request_without_a_secret_is_recognised_without_the_tenants_key(
    store: Store, tmp_path: Path
) -> None:
    _apply(store, PAUSE, key="once")
    _delete_key(store, tmp_path)
    assert [each.replayed for each in _apply(store, PAUSE, key="once")] == [True]


def test_request_without_a_secret_makes_no_key_for_its_tenant(store: Store, tmp_path: Path) -> None:
    _delete_key(store, tmp_path)
    _apply(store, PAUSE, key="once")
    assert not TinkPayloadKeys(tmp_path / "keys").delete(TENANT)


def test_digest_of_an_older_store_is_overwritten_by_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = migrations()
    before = next(number for number, text in enumerate(scripts) if "ADD COLUMN shares" in text)
    monkeypatch.setattr(sqlite_database, "migrations", lambda: scripts[:before])
    SqliteDatabase(tmp_path / "store.db").close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        row = ("ada", "once", FINGERPRINT, "[]", START_US)
        connection.execute("INSERT INTO idempotency_key VALUES (?, ?, ?, ?, ?)", row)
        connection.commit()
    assert FINGERPRINT.encode() in _files(tmp_path)
    monkeypatch.setattr(sqlite_database, "migrations", lambda: scripts)
    SqliteDatabase(tmp_path / "store.db").close()
    assert FINGERPRINT.encode() not in _files(tmp_path)


def test_request_kept_by_the_release_before_beside_this_one_is_recognised(
    store: Store, tmp_path: Path
) -> None:
    """It writes no shares: both may serve one store while they are exchanged."""
    _apply(store, PAUSE, key="once")
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.execute(
            "UPDATE idempotency_key SET fingerprint = ?, shares = '[]'", (FINGERPRINT,)
        )
        connection.commit()
    assert [each.replayed for each in _apply(store, PAUSE, key="once")] == [True]
