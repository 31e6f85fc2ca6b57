"""The audit port on SQLite; two triggers of the schema refuse UPDATE and DELETE."""

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_database import SqliteDatabase
from ports.audit import AuditPort
from ports.records import AuditRecord


class SqliteAudit(AuditPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def append(self, entry: AuditRecord) -> None:
        with self._database.write() as connection:
            insert_audit(connection, self._database.sql, entry)
