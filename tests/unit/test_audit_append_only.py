"""The audit's rule is the store file's own: whoever opens the file meets it too."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite_audit import SqliteAudit
from ports.records import AuditRecord

ENTRIES = (
    AuditRecord(4, "ada", "quota_put", "acme", "acme", '{"was": 1}', "ticket 7"),
    AuditRecord(5, "eve", "privilege_refused", "acme", "set a quota"),
)
_COLUMNS = "(audit_id, actor, action, at)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    database = SqliteDatabase(tmp_path / "store.db")
    for entry in ENTRIES:
        SqliteAudit(database).append(entry)
    database.close()
    return tmp_path / "store.db"


def rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM audit_entry ORDER BY audit_id").fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("UPDATE audit_entry SET actor = 'x'", id="update"),
        pytest.param(
            "UPDATE OR REPLACE audit_entry SET audit_id = 2 WHERE audit_id = 1", id="move"
        ),
        pytest.param("DELETE FROM audit_entry WHERE audit_id = 1", id="delete"),
        pytest.param("DELETE FROM audit_entry", id="delete_all"),
        pytest.param(
            f"INSERT OR REPLACE INTO audit_entry {_COLUMNS} VALUES (1, 'x', 'y', 3)", id="replace"
        ),
        pytest.param(
            f"INSERT INTO audit_entry {_COLUMNS} VALUES (1, 'x', 'y', 3)"
            " ON CONFLICT DO UPDATE SET actor = 'x'",
            id="upsert",
        ),
    ],
)
def test_entry_cannot_be_changed_by_a_connection_of_ones_own(path: Path, statement: str) -> None:
    before = rows(path)
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="audit_entry is append-only"):
            connection.execute(statement)
        connection.commit()
    assert rows(path) == before


def test_entry_is_added_after_the_last_one(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO audit_entry (actor, action, at) VALUES ('x', 'y', 3)")
        connection.commit()
    assert [row[0] for row in rows(path)] == [1, 2, 3]
