"""Calls that share a transaction: each has its own end, and none is told of it too early."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase
from control_api.exposition import Exposition
from ports import metrics
from ports.errors import StoreConflict, StoreFull, StoreUnavailable
from scheduling.limits import GROUP_CALLS_MAX
from tests.support.grouped_calls import CountingDatabase, Group
from tests.support.metrics_page import values_of

CRASH = """
import os, sys
from pathlib import Path
from tests.support.grouped_calls import CountingDatabase, Group

def note(connection):
    connection.execute("INSERT INTO note (id) VALUES (1)")

def crash(connection):
    connection.execute("INSERT INTO note (id) VALUES (2)")
    os._exit(9)

Group(CountingDatabase(Path(sys.argv[1]))).works_together(note, crash)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def database(path: Path) -> Iterator[CountingDatabase]:
    with closing(CountingDatabase(path)) as database:
        with database.write() as connection:
            connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
            connection.execute(
                "CREATE TABLE answer (note_id REFERENCES note DEFERRABLE INITIALLY DEFERRED)"
            )
        database.transactions = 0
        yield database


@pytest.fixture
def group(database: CountingDatabase) -> Group:
    return Group(database)


def _noting(number: int, text: str = "") -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO note VALUES (?, ?)", (number, text))
        return number

    return work


def _refused(connection: sqlite3.Connection) -> None:
    _noting(99)(connection)
    raise LookupError("refused")


def _answering_nobody(connection: sqlite3.Connection) -> None:
    """Found at the commit only."""
    connection.execute("INSERT INTO answer VALUES (1000)")


def _filling_the_disk(connection: sqlite3.Connection) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages:d}")
    try:
        connection.execute("INSERT INTO note VALUES (50, zeroblob(1000000) || '')")
    finally:
        connection.execute("PRAGMA max_page_count=4294967294")


def _notes(database: SqliteDatabase) -> list[int]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT id FROM note ORDER BY rowid")]


def test_call_that_comes_alone_has_a_transaction_of_its_own(
    group: Group, database: CountingDatabase
) -> None:
    assert [group.run(_noting(1)), group.run(_noting(2))] == [1, 2]
    assert (_notes(database), database.transactions) == ([1, 2], 2)


def test_call_that_comes_alone_and_raises_leaves_nothing(
    group: Group, database: CountingDatabase
) -> None:
    with pytest.raises(LookupError, match="refused"):
        group.run(_refused)
    assert (_notes(database), group.run(_noting(1))) == ([], 1)


def test_calls_that_queue_share_one_transaction_in_the_order_of_entry(
    group: Group, database: CountingDatabase
) -> None:
    seen: list[int] = []

    def noting(number: int) -> Callable[[sqlite3.Connection], int]:
        def work(connection: sqlite3.Connection) -> int:
            seen.append(number)
            return _noting(number)(connection)

        return work

    numbers = [3, 1, 4, 5, 9, 2, 6]
    futures = group.works_together(*map(noting, numbers))
    assert [future.result() for future in futures] == numbers
    assert (seen, _notes(database)) == (numbers, sorted(numbers))
    assert database.transactions == 2  # that of the call in front, and one for all of these


def test_calls_beyond_the_bound_share_the_next_transaction(
    group: Group, database: CountingDatabase
) -> None:
    works = [_noting(number) for number in range(GROUP_CALLS_MAX + 3)]
    results = [future.result() for future in group.works_together(*works)]
    assert results == list(range(GROUP_CALLS_MAX + 3))
    assert (len(_notes(database)), database.transactions) == (GROUP_CALLS_MAX + 3, 3)


@pytest.mark.parametrize(
    ("fails", "error"),
    [
        pytest.param(_refused, LookupError, id="refused"),
        pytest.param(_noting(1), StoreConflict, id="constraint"),
    ],
)
def test_call_that_fails_is_undone_alone(
    group: Group,
    database: CountingDatabase,
    fails: Callable[[sqlite3.Connection], object],
    error: type[Exception],
) -> None:
    first, failed, last = group.works_together(_noting(1), fails, _noting(2))
    assert (first.result(), last.result()) == (1, 2)
    assert isinstance(failed.exception(), error)
    assert (_notes(database), database.transactions) == ([1, 2], 2)


@pytest.mark.parametrize(
    ("fails", "error"),
    [
        pytest.param(_filling_the_disk, StoreFull, id="disk-full"),
        pytest.param(_answering_nobody, StoreConflict, id="at-the-commit"),
    ],
)
def test_error_of_the_store_fails_all_calls_and_the_refused_one_too(
    group: Group,
    database: CountingDatabase,
    fails: Callable[[sqlite3.Connection], object],
    error: type[Exception],
) -> None:
    futures = group.works_together(_noting(1), _refused, fails, _noting(2))
    raised = [future.exception() for future in futures]
    assert {type(one) for one in raised} == {error}
    assert len({id(one) for one in raised}) == 4  # each thread raises its own
    assert (_notes(database), group.run(_noting(7))) == ([], 7)


def test_crash_before_the_commit_leaves_no_call_of_the_transaction(
    database: CountingDatabase, path: Path
) -> None:
    ended = subprocess.run([sys.executable, "-c", CRASH, str(path)], timeout=60, check=False)
    assert (ended.returncode, _notes(database)) == (9, [])


def test_call_is_not_answered_before_the_commit(group: Group, database: CountingDatabase) -> None:
    found: list[list[int]] = []
    with ThreadPoolExecutor(3) as threads, group.held(threads):
        first, _ = group.queue(
            threads,
            partial(group.run, _noting(1)),
            partial(group.run, lambda connection: found.append(_notes(database))),
        )
        first.add_done_callback(lambda done: found.append(_notes(database)))
    assert found == [[], [1]]


def test_call_whose_turn_does_not_come_in_time_is_refused_and_does_nothing(
    database: CountingDatabase,
) -> None:
    group = Group(database, wait_s=0.01)
    with ThreadPoolExecutor(2) as threads, group.held(threads):
        (late,) = group.queue(threads, partial(group.run, _noting(1)))
        assert isinstance(late.exception(), StoreUnavailable)
    assert (_notes(database), group.run(_noting(2))) == ([], 2)


def test_writer_that_stays_away_too_long_refuses_all_who_queue(database: CountingDatabase) -> None:
    group = Group(database, wait_s=0.01)
    has_begun, may_end = threading.Event(), threading.Event()

    def decide() -> None:
        with database.write():
            has_begun.set()
            may_end.wait(30)

    with ThreadPoolExecutor(2) as threads:
        deciding = threads.submit(decide)
        has_begun.wait(30)
        refused = threads.submit(group.run, _noting(1)).exception()
        may_end.set()
        deciding.result()
    assert isinstance(refused, StoreUnavailable)
    assert (group.run(_noting(2)), _notes(database)) == (2, [2])


def test_counts_of_a_refused_call_are_dropped_and_those_of_the_others_kept(group: Group) -> None:
    def counting(connection: sqlite3.Connection) -> None:
        metrics.count_when_committed("punctual_duplicate_keys_total")

    def refused(connection: sqlite3.Connection) -> None:
        counting(connection)
        raise LookupError("refused")

    with Exposition(lambda: ()) as page:
        group.works_together(counting, refused, counting)
        assert values_of(page)["punctual_duplicate_keys_total"] == 2


def test_thirty_two_threads_lose_nothing(group: Group, database: CountingDatabase) -> None:
    with ThreadPoolExecutor(32) as threads:
        results = list(threads.map(lambda number: group.run(_noting(number)), range(640)))
    assert results == list(range(640))
    assert _notes(database) == results
    assert database.transactions <= 640


def test_another_writer_gets_its_turns_while_calls_never_stop(
    group: Group, database: CountingDatabase
) -> None:
    done = threading.Event()
    turns_max = 20_000

    def call_again_and_again(thread: int) -> int:
        for turn in range(turns_max):
            if done.is_set():
                return turn
            group.run(_noting(thread * turns_max + turn))
        return turns_max

    with ThreadPoolExecutor(8) as threads:
        calling = [threads.submit(call_again_and_again, thread) for thread in range(8)]
        for _ in range(50):
            with database.write() as connection:
                connection.execute("SELECT 1")
        done.set()
        turns = [future.result() for future in calling]
    assert max(turns) < turns_max
    assert len(_notes(database)) == sum(turns)
