"""A store of the first schema under the program of today: nothing is lost, and it fires on."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.sqlite_database import migrations
from ports.errors import SchemaTooNew
from punctual.data_folder import open_data_folder
from scheduling.instants import from_text
from scheduling.vocabulary import FireState, TriggerState
from tests.support.backups import service_on
from tests.support.definitions import SECRET, TARGET, TENANT
from tests.support.store_v1 import (
    LAST_WRITTEN_US,
    UNUSED_IN_V1,
    build_store_v1,
    rows_of,
    rows_v1,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    build_store_v1(tmp_path)
    return tmp_path


def upgrade(data: Path) -> None:
    """Open it once with the program of today."""
    open_data_folder(data, create=False).close()


def tables_of_v1() -> set[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(migrations()[0])
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in names if not name.startswith("sqlite_")}


def test_store_v1_has_rows_in_every_table_that_its_program_wrote() -> None:
    assert rows_v1().keys() == tables_of_v1() - UNUSED_IN_V1
    states = {row["state"] for row in rows_v1()["fire"]}
    assert states >= {"held", "queued", "accepted", "succeeded", "undelivered", "unknown"}
    assert {row["state"] for row in rows_v1()["trigger"]} == {
        *("live", "paused", "quarantined", "deleted")
    }


@pytest.mark.parametrize("table", sorted(rows_v1()))
def test_upgrade_keeps_every_value_of_every_row(data: Path, table: str) -> None:
    before = rows_of(data, table)
    upgrade(data)

    def kept(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[column] for column in before[0])

    assert Counter(map(kept, rows_of(data, table))) == Counter(map(kept, before))


def test_upgrade_brings_the_schema_to_the_newest_and_leaves_it_whole(data: Path) -> None:
    upgrade(data)
    with closing(sqlite3.connect(data / "punctual.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(migrations()),)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_upgrade_twice_changes_nothing_the_second_time(data: Path) -> None:
    upgrade(data)
    once = {table: rows_of(data, table) for table in rows_v1()}
    upgrade(data)
    assert {table: rows_of(data, table) for table in rows_v1()} == once


def test_upgraded_store_is_readable_through_every_port(data: Path) -> None:
    folder = open_data_folder(data, create=False)
    try:
        store = folder.store
        triggers = {t.name: t for t in store.registry.triggers(limit=100)}
        assert len(triggers) == 9, "all but the deleted one"
        assert triggers["paused"].state is TriggerState.PAUSED
        assert triggers["paused"].pause_note == "price change"
        assert triggers["broken"].state is TriggerState.QUARANTINED
        for trigger in triggers.values():
            key = (trigger.tenant_id, trigger.trigger_id)
            assert store.registry.definition(*key, version=trigger.version) is not None
            assert [span.revision for span in store.registry.spans(*key)] == list(
                range(1, trigger.revision + 1)
            )
        assert store.registry.target_secret(TENANT, TARGET) == SECRET
        fires = store.history.fires(limit=1_000)
        assert len(fires) == len(rows_v1()["fire"])
        attempts = sum(len(store.history.attempts(fire.key)) for fire in fires)
        assert attempts == len(rows_v1()["attempt"])
        assert len(store.history.gaps(TENANT)) == 1
        assert len(store.audit.entries(limit=1_000)) == len(rows_v1()["audit_entry"])
        assert len(store.outbox.pending(limit=100)) == len(rows_v1()["outbox"])
        assert len(store.leases.leases()) == 256
    finally:
        folder.close()


def test_upgraded_store_fires_on_and_repairs_what_its_last_process_left(data: Path) -> None:
    service = service_on(data, LAST_WRITTEN_US).service
    before = {fire.key for fire in service.fires()}
    service.start()
    service.advance_to("2026-06-01T11:40:30Z")
    rows = {fire.key: fire for fire in service.fires()}
    assert before <= rows.keys(), "no row is lost"

    now = {(f.trigger_name, f.key.scheduled_us): f for f in rows.values()}
    for minute in (37, 38, 39, 40):
        fire = now["minutely", from_text(f"2026-06-01T11:{minute}:00Z")]
        assert (fire.state, fire.cause) == (FireState.SUCCEEDED, None)
    assert now["edited", from_text("2026-06-01T11:40:00Z")].state is FireState.SUCCEEDED
    waiting = [f for f in rows.values() if f.state is FireState.QUEUED]
    assert waiting == [], "what was queued when it died has been sent"

    sent = {r.fire.trigger_name: r.fire.payload for r in service.target.receipts}
    assert sent["minutely"] == b'{"of": "minutely"}'
    assert sent["edited"] == b'{"of": "edited"}'
    assert {"paused", "broken", "deleted"} & sent.keys() == set()
    assert {r.fire.signing_secrets for r in service.target.receipts} == {(SECRET,)}
    assert service.store.history.gaps(TENANT) == [], "the gap was planned"
    service.close()


def test_downgrade_is_refused_and_leaves_every_byte(data: Path) -> None:
    with closing(sqlite3.connect(data / "punctual.db")) as connection:
        connection.execute(f"PRAGMA user_version={len(migrations()) + 1:d}")
    before = (data / "punctual.db").read_bytes()
    with pytest.raises(SchemaTooNew, match="upgrade punctual, or point it at another"):
        upgrade(data)
    assert (data / "punctual.db").read_bytes() == before
