"""What other processes do to a SQLite file in the tests. Each function runs in one of its own."""

import os
import resource
from pathlib import Path

from adapters.sqlite_database import SqliteDatabase, migrations, named_sql
from adapters.store_sqlite_audit import SqliteAudit
from ports.errors import PortError
from ports.records import AuditRecord

NOBODY = 65_534
ENTRY = AuditRecord(1, "system", "filled", note="x" * 10_000)


def open_and_count_leases(path: Path) -> int:
    """Open the store, migrating it if need be; the rows that the migration made."""
    database = SqliteDatabase(path)
    with database.read() as connection:
        count = int(connection.execute("SELECT count(*) FROM partition_lease").fetchone()[0])
    database.close()
    return count


def error_of_opening_as_nobody(path: Path) -> PortError | None:
    """What opening the store raises for a user without special rights."""
    named_sql()  # the program's own files may be closed to nobody
    migrations()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setuid(NOBODY)
    try:
        SqliteDatabase(path).close()
    except PortError as error:
        return error
    return None


def fill_the_disk(path: Path) -> tuple[PortError | None, int, int, str]:
    """Write until the largest allowed file is full, then go on with a larger one.

    Returns the error, the entries that were acknowledged before it, the entries found at the
    end, after one more, and what the integrity check says.
    """
    database = SqliteDatabase(path)
    audit = SqliteAudit(database)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
    acknowledged = 0
    error: PortError | None = None
    while error is None:
        try:
            audit.append(ENTRY)
            acknowledged += 1
        except PortError as raised:
            error = raised
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    audit.append(ENTRY)
    with database.read() as connection:
        found = int(connection.execute("SELECT count(*) FROM audit_entry").fetchone()[0])
        check = str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    database.close()
    return error, acknowledged, found, check
