"""The principals port on SQLite."""

from collections.abc import Mapping
from typing import Any, Final

from adapters.sqlite_database import SqliteDatabase
from ports.principals import GrantKind, GrantRecord, PrincipalsPort, TokenRecord

_NEWEST: Final = (2**63 - 1, chr(0x10FFFF))  # behind every token, by age and id
_ALL: Final = -1  # rows


class SqlitePrincipals(PrincipalsPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def token(self, token_hash: str) -> TokenRecord | None:
        rows = self._rows("principals_token", (token_hash,))
        return _token(rows[0]) if rows else None

    def tokens(
        self, *, before: tuple[int, str] | None = None, limit: int | None = None
    ) -> list[TokenRecord]:
        before_us, before_id = before or _NEWEST
        wanted = {"before_us": before_us, "before_id": before_id, "row_limit": _row_limit(limit)}
        return [_token(row) for row in self._rows("principals_tokens", wanted)]

    def grants(
        self,
        principal_id: str | None = None,
        *,
        after: GrantRecord | None = None,
        limit: int | None = None,
    ) -> list[GrantRecord]:
        wanted = {
            "principal_id": principal_id,
            "after_principal_id": "" if after is None else after.principal_id,
            "after_tenant_id": "" if after is None else after.tenant_id or "",
            "after_kind": "" if after is None else after.kind.value,
            "row_limit": _row_limit(limit),
        }
        statement = "principals_grants" if principal_id is None else "principals_grants_of"
        return [grant_record(row) for row in self._rows(statement, wanted)]

    def _rows(
        self, statement: str, values: tuple[object, ...] | Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        with self._database.read() as connection:
            return connection.execute(self._database.sql[statement], values).fetchall()


def grant_record(row: tuple[Any, ...]) -> GrantRecord:
    """A row of `principals_grants`."""
    return GrantRecord(row[0], GrantKind(row[1]), row[2] or None)


def _row_limit(limit: int | None) -> int:
    return _ALL if limit is None else limit


def _token(row: tuple[Any, ...]) -> TokenRecord:
    return TokenRecord(
        token_id=row[0],
        principal_id=row[1],
        created_by=row[2],
        created_us=row[3],
        expires_us=row[4],
        revoked_us=row[5],
    )
