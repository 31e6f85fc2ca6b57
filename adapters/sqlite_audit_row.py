"""The audit row inside another transaction: whoever changes something writes it beside."""

import sqlite3
from collections.abc import Mapping

from ports.records import AuditRecord


def insert_audit(
    connection: sqlite3.Connection, sql: Mapping[str, str], entry: AuditRecord
) -> None:
    """Add one entry in the connection's open transaction."""
    connection.execute(sql["audit_insert"], entry._asdict())
