"""One SQLite file: opening, migrating, transactions, and what it does when the world is broken."""

import multiprocessing
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from adapters import sqlite_database
from adapters.sqlite_database import SqliteDatabase, migrations
from adapters.sqlite_readers import READERS_KEPT_MAX
from adapters.store_sqlite_audit import SqliteAudit
from ports.errors import (
    PortError,
    SchemaTooNew,
    StoreConflict,
    StoreCorrupt,
    StoreRefused,
    StoreUnavailable,
)
from tests.support.sqlite_processes import (
    ENTRY,
    error_of_opening_as_nobody,
    fill_the_disk,
    open_and_count_leases,
)

Result = TypeVar("Result")
INSERT = "INSERT INTO tzdata_pin (pin_id, version, adopted_at) VALUES (1, '2026.1', 0)"
COUNT = "SELECT count(*) FROM tzdata_pin"


def in_processes(count: int, work: Callable[[Path], Result], path: Path) -> list[Result]:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=spawn) as pool:
        return list(pool.map(work, [path] * count))


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def database(path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(path)
    yield database
    database.close()


def count(database: SqliteDatabase) -> int:
    with database.read() as connection:
        return int(connection.execute(COUNT).fetchone()[0])


# -- opening and migrating ---------------------------------------------------------------------


def test_new_store_is_durable_and_has_the_newest_schema(database: SqliteDatabase) -> None:
    with database.read() as connection:
        facts = [
            connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("journal_mode", "synchronous", "foreign_keys", "user_version")
        ]
    assert facts == ["wal", 2, 1, len(migrations())]


def test_store_opened_again_keeps_its_rows(database: SqliteDatabase, path: Path) -> None:
    with database.write() as connection:
        connection.execute(INSERT)
    database.close()
    again = SqliteDatabase(path)
    assert count(again) == 1
    again.close()


def test_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    assert open_and_count_leases(path) == 256


def test_opening_by_racing_processes_migrates_once(path: Path) -> None:
    assert in_processes(3, open_and_count_leases, path) == [256] * 3


def test_newer_schema_is_refused_and_its_bytes_left_as_they_were(path: Path) -> None:
    SqliteDatabase(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaTooNew) as raised:
        SqliteDatabase(path)
    assert (raised.value.found, raised.value.known) == (99, len(migrations()))
    assert path.read_bytes() == before


def test_failed_migration_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (*migrations(), "CREATE TABLE extra (a INTEGER);\nCREATE TABLE extra (a INTEGER);\n")
    SqliteDatabase(path).close()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_database, "migrations", lambda: broken)
        with pytest.raises(PortError, match="extra"):
            SqliteDatabase(path)
    database = SqliteDatabase(path)
    with database.read() as connection:
        assert connection.execute("SELECT 1 FROM sqlite_schema WHERE name='extra'").fetchall() == []
    database.close()


def test_file_that_is_no_store_is_refused_and_left_as_it_was(path: Path) -> None:
    path.write_text("dear diary, " * 1_000)
    before = contents(path.parent)
    with pytest.raises(StoreRefused, match="not a punctual store"):
        SqliteDatabase(path)
    assert contents(path.parent) == before


def test_damaged_file_is_reported_as_corrupt(path: Path) -> None:
    SqliteDatabase(path).close()
    intact = path.read_bytes()
    path.write_bytes(intact[:4_096] + b"\xaa" * (len(intact) - 4_096))
    with pytest.raises(StoreCorrupt, match="restore a backup"):
        open_and_count_leases(path)


def test_folder_that_is_missing_is_an_error_of_the_port(tmp_path: Path) -> None:
    with pytest.raises(PortError, match="cannot be opened"):
        SqliteDatabase(tmp_path / "nowhere" / "store.db")


@pytest.mark.parametrize(
    ("has_store", "kind"),
    [
        pytest.param(True, StoreRefused, id="with_a_store"),
        pytest.param(False, StoreRefused, id="empty"),
    ],
)
def test_read_only_folder_is_an_error_of_the_port(has_store: bool, kind: type[PortError]) -> None:
    # Not under tmp_path, which is closed to the user that this test turns into.
    folder = Path(tempfile.mkdtemp())
    try:
        if has_store:
            SqliteDatabase(folder / "store.db").close()
            (folder / "store.db").chmod(0o444)
        folder.chmod(0o555)
        before = contents(folder)
        (error,) = in_processes(1, error_of_opening_as_nobody, folder / "store.db")
        assert type(error) is kind
        assert contents(folder) == before
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# -- transactions ------------------------------------------------------------------------------


def test_write_that_raises_leaves_nothing_and_lets_the_next_one_in(
    database: SqliteDatabase,
) -> None:
    def insert_and_fail() -> None:
        with database.write() as connection:
            connection.execute(INSERT)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        insert_and_fail()
    assert count(database) == 0
    with database.write() as connection:
        connection.execute(INSERT)
    assert count(database) == 1


def test_write_refused_by_a_constraint_is_a_conflict(database: SqliteDatabase) -> None:
    def insert_twice() -> None:
        with database.write() as connection:
            connection.execute(INSERT)
            connection.execute(INSERT)

    with pytest.raises(StoreConflict, match="a constraint of the store refused the write"):
        insert_twice()
    assert count(database) == 0


def test_read_sees_one_snapshot(database: SqliteDatabase) -> None:
    with database.read() as connection:
        assert connection.execute(COUNT).fetchone() == (0,)
        with database.write() as writer:
            writer.execute(INSERT)
        assert connection.execute(COUNT).fetchone() == (0,)
    assert count(database) == 1


def test_read_does_not_see_an_open_write(database: SqliteDatabase) -> None:
    with database.write() as writer:
        writer.execute(INSERT)
        assert count(database) == 0


def test_read_cannot_write(database: SqliteDatabase) -> None:
    with pytest.raises(StoreRefused), database.read() as connection:
        connection.execute(INSERT)
    assert count(database) == 0


class CountedConnections(SqliteDatabase):
    """Keeps every connection that it opens, and so knows which of them are still open."""

    def __init__(self, path: Path) -> None:
        self.opened: list[sqlite3.Connection] = []
        super().__init__(path, synchronous="OFF")

    def _connect(self, **options: int) -> sqlite3.Connection:
        self.opened.append(super()._connect(**options))
        return self.opened[-1]

    def count_open(self) -> int:
        return sum(map(_is_open, self.opened))


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1").fetchone()
    except sqlite3.ProgrammingError:
        return False
    return True


def test_threads_that_read_and_end_leave_no_connections(path: Path) -> None:
    database = CountedConnections(path)
    for _ in range(20):
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(count, database).result() == 0
    assert database.count_open() == 2  # the writer's, and one that all read with in turn
    database.close()
    assert database.count_open() == 0


def test_burst_of_readers_leaves_a_bounded_number_of_connections(path: Path) -> None:
    database = CountedConnections(path)
    together = threading.Barrier(READERS_KEPT_MAX + 4)

    def read_with_all(_: int) -> None:
        with database.read() as connection:
            connection.execute(COUNT).fetchone()
            together.wait(30)

    with ThreadPoolExecutor(together.parties) as threads:
        list(threads.map(read_with_all, range(together.parties)))
    assert database.count_open() == 1 + READERS_KEPT_MAX
    database.close()
    assert database.count_open() == 0


def test_read_that_raises_amid_its_rows_leaves_no_old_snapshot_behind(
    database: SqliteDatabase,
) -> None:
    def stop_amid_the_rows() -> None:
        with database.read() as connection:
            rows = connection.execute("SELECT * FROM partition_lease")
            raise KeyError(next(rows), rows)

    with pytest.raises(KeyError) as raised:  # which keeps the cursor
        stop_amid_the_rows()
    with database.write() as connection:
        connection.execute(INSERT)
    assert (count(database), len(raised.value.args)) == (1, 2)


def test_read_after_the_end_is_unavailable_and_one_that_began_before_ends(path: Path) -> None:
    database = CountedConnections(path)
    with database.read() as connection:
        database.close()
        assert connection.execute(COUNT).fetchone() == (0,)
    assert database.count_open() == 0
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        count(database)
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        database.data_version()


def test_data_version_is_the_same_number_for_all_threads(database: SqliteDatabase) -> None:
    with database.write() as connection:
        connection.execute(INSERT)
    seen = database.data_version()
    with database.read(), ThreadPoolExecutor(1) as thread:
        assert thread.submit(database.data_version).result() == seen
    with database.write() as connection:
        connection.execute("DELETE FROM tzdata_pin")
    assert database.data_version() != seen


def test_data_version_changes_when_another_handle_commits(
    database: SqliteDatabase, path: Path
) -> None:
    other = SqliteDatabase(path)
    before = other.data_version()
    assert other.data_version() == before
    with database.write() as connection:
        connection.execute(INSERT)
    assert other.data_version() != before
    other.close()


def test_write_while_another_process_writes_is_unavailable_until_it_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "BUSY_TIMEOUT_S", 0.0)
    database = SqliteDatabase(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another process holds the store"):
        SqliteAudit(database).append(ENTRY)
    other.execute("ROLLBACK")
    other.close()
    SqliteAudit(database).append(ENTRY)
    database.close()


# -- the full disk -----------------------------------------------------------------------------


def test_full_disk_fails_closed_and_goes_on_with_room(path: Path) -> None:
    ((error, acknowledged, found, check),) = in_processes(1, fill_the_disk, path)
    assert isinstance(error, StoreUnavailable)
    assert acknowledged > 0
    assert found == acknowledged + 1
    assert check == "ok"


def test_full_store_says_that_the_disk_is_full(database: SqliteDatabase) -> None:
    audit = SqliteAudit(database)
    with database.write() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 1:d}")
    with pytest.raises(StoreUnavailable, match="the disk is full; make room, nothing is lost"):
        audit.append(ENTRY)
    with database.write() as connection:
        connection.execute("PRAGMA max_page_count=1000000")
    audit.append(ENTRY)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM audit_entry").fetchone() == (1,)
