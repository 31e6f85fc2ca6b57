"""The principals port on SQLite."""

from typing import Any

from adapters.sqlite_database import SqliteDatabase
from ports.principals import GrantKind, GrantRecord, PrincipalsPort, TokenRecord


class SqlitePrincipals(PrincipalsPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def token(self, token_hash: str) -> TokenRecord | None:
        rows = self._rows("principals_token", token_hash)
        return _token(rows[0]) if rows else None

    def tokens(self) -> list[TokenRecord]:
        return [_token(row) for row in self._rows("principals_tokens")]

    def grants(self, principal_id: str | None = None) -> list[GrantRecord]:
        rows = self._rows("principals_grants", principal_id, principal_id)
        return [GrantRecord(row[0], GrantKind(row[1]), row[2] or None) for row in rows]

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._database.read() as connection:
            return connection.execute(self._database.sql[statement], values).fetchall()


def _token(row: tuple[Any, ...]) -> TokenRecord:
    return TokenRecord(
        token_id=row[0],
        principal_id=row[1],
        created_by=row[2],
        created_us=row[3],
        expires_us=row[4],
        revoked_us=row[5],
    )
