"""The outbox on SQLite: what was sent is forgotten in time, what was not is kept."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite_outbox import SqliteOutbox

KEPT_MAX = 3
INSERT = "INSERT INTO outbox VALUES (NULL, 'acme', 't1', 'trigger_edited', '{}', 7, ?)"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "store.db", synchronous="OFF")) as database:
        yield database


@pytest.fixture
def outbox(database: SqliteDatabase) -> SqliteOutbox:
    return SqliteOutbox(database, kept_max=KEPT_MAX)


def _add(database: SqliteDatabase, count: int, sent_us: int | None = None) -> None:
    with database.write() as connection:
        connection.executemany(INSERT, [(sent_us,)] * count)


def _ids(database: SqliteDatabase) -> list[int]:
    with database.read() as connection:
        rows = connection.execute("SELECT outbox_id FROM outbox ORDER BY outbox_id")
        return [outbox_id for (outbox_id,) in rows]


def test_sent_events_beyond_the_newest_are_forgotten(
    database: SqliteDatabase, outbox: SqliteOutbox
) -> None:
    _add(database, 10)
    assert outbox.mark_sent(list(range(1, 11)), now_us=9) == 10
    assert _ids(database) == [8, 9, 10]


def test_unsent_events_are_kept_however_old(database: SqliteDatabase, outbox: SqliteOutbox) -> None:
    _add(database, 10)
    outbox.mark_sent([1, 3, 4, 5, 6, 7, 8, 9], now_us=9)
    assert _ids(database) == [2, 8, 9, 10]
    assert [event.outbox_id for event in outbox.pending(limit=10)] == [2, 10]


def test_what_an_older_program_left_is_forgotten_in_bounded_steps(
    database: SqliteDatabase, outbox: SqliteOutbox
) -> None:
    _add(database, 20, sent_us=8)
    left = []
    for _ in range(10):
        _add(database, 1)
        outbox.mark_sent([event.outbox_id for event in outbox.pending(limit=1)], now_us=9)
        left.append(len(_ids(database)))
    assert left == [19, 18, 17, 16, 15, 14, 13, 12, 11, 10]


def test_id_of_a_forgotten_event_is_never_given_again(database: SqliteDatabase) -> None:
    forgetting = SqliteOutbox(database, kept_max=0)
    _add(database, 2)
    forgetting.mark_sent([1, 2], now_us=9)
    assert _ids(database) == []
    _add(database, 1)
    assert _ids(database) == [3]
