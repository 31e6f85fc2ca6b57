"""The audit port on SQLite; two triggers of the schema refuse UPDATE and DELETE.

A page reads no more entries than it returns when it names a tenant, and in it a subject; the other
filters walk back until they have found enough.
"""

import json
from collections.abc import Collection

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_database import SqliteDatabase
from ports.audit import AuditPort
from ports.records import AuditRecord

_MIN, _MAX = -(2**63), 2**63 - 1  # of any number that the store keeps


class SqliteAudit(AuditPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def append(self, entry: AuditRecord) -> None:
        with self._database.write() as connection:
            insert_audit(connection, self._database.sql, entry)

    def entries(
        self,
        *,
        tenant_id: str | None = None,
        subject: str | None = None,
        actor: str | None = None,
        actions: Collection[str] = (),
        from_us: int | None = None,
        through_us: int | None = None,
        before_id: int | None = None,
        limit: int,
    ) -> list[AuditRecord]:
        if tenant_id is None:
            statement = "audit_entries"
        elif subject is None:
            statement = "audit_entries_of_tenant"
        else:
            statement = "audit_entries_of_subject"
        parameters = {
            "tenant_id": tenant_id,
            "subject": subject,
            "actor": actor,
            "actions": json.dumps(sorted(actions)) if actions else None,
            "from_us": _MIN if from_us is None else from_us,
            "through_us": _MAX if through_us is None else through_us,
            "before_id": _MAX if before_id is None else before_id,
            "row_limit": limit,
        }
        with self._database.read() as connection:
            rows = connection.execute(self._database.sql[statement], parameters).fetchall()
        return [AuditRecord._make(row) for row in rows]
