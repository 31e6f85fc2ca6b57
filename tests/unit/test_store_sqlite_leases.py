"""Leases on SQLite: what the port does not show."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite_leases import SqliteLeases


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "store.db", synchronous="OFF")
    yield database
    database.close()


def test_grant_records_the_clocks_bound(database: SqliteDatabase) -> None:
    SqliteLeases(database).heartbeat("a", now_us=0, ttl_us=1_000_000, epsilon_us=7_500)
    with database.read() as connection:
        rows = connection.execute(
            "SELECT DISTINCT epsilon_ms_at_grant FROM partition_lease"
        ).fetchall()
    assert rows == [(7.5,)]


def test_audit_subject_joins_neighbours_into_ranges(database: SqliteDatabase) -> None:
    with database.write() as connection:
        connection.execute(
            "UPDATE partition_lease SET owner_id = 'other', expires_at = 1000000 "
            "WHERE partition_id NOT IN (0, 1, 2, 4, 254, 255)"
        )
    SqliteLeases(database).heartbeat("a", now_us=0, ttl_us=1_000_000, epsilon_us=0)
    with database.read() as connection:
        (subject,) = connection.execute("SELECT subject FROM audit_entry").fetchone()
    assert subject == "partitions 0-2,4,254-255"


def test_owners_that_died_are_forgotten(database: SqliteDatabase) -> None:
    leases = SqliteLeases(database)
    for number in range(5):
        now_us = number * 10_000_000
        leases.heartbeat(f"owner-{number}", now_us=now_us, ttl_us=1_000_000, epsilon_us=0)
    with database.read() as connection:
        assert connection.execute("SELECT owner_id FROM lease_owner").fetchall() == [("owner-4",)]
