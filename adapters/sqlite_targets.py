"""Targets as they are stored, and who uses one. All inside the caller's transaction."""

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from ports.records import TargetRecord
from scheduling.vocabulary import USABLE_OWNERSHIP, OwnershipState
from schemas.origins import host_of


class TargetRow(NamedTuple):
    """A target's row; the columns stand in the order of `registry_target`."""

    endpoint: str
    timeout_s: float
    kind: str
    secret_ref: str | None
    previous_secret_ref: str | None
    ownership: str
    verified_us: int | None
    checked_us: int | None
    check_detail: str | None
    revision: int

    @property
    def is_usable(self) -> bool:
        return is_usable(self.ownership)


def is_usable(ownership: str) -> bool:
    """Whether fires may go to a target of that state."""
    return OwnershipState(ownership) in USABLE_OWNERSHIP


def read_target(
    connection: sqlite3.Connection, sql: Mapping[str, str], tenant_id: str, target_id: str
) -> TargetRow | None:
    """The target as it is stored."""
    row = connection.execute(sql["registry_target"], (tenant_id, target_id)).fetchone()
    return None if row is None else TargetRow._make(row)


def read_target_shown(
    connection: sqlite3.Connection, sql: Mapping[str, str], tenant_id: str, target_id: str
) -> TargetRecord | None:
    """The target as readers see it."""
    key = {"tenant_id": tenant_id, "target_id": target_id}
    row = connection.execute(sql["registry_target_shown"], key).fetchone()
    return None if row is None else target_record(row)


def target_record(row: tuple[Any, ...]) -> TargetRecord:
    """A row of `registry_targets`, without its secret."""
    return TargetRecord(
        tenant_id=row[0],
        target_id=row[1],
        endpoint=row[2],
        timeout_s=row[3],
        kind=row[4],
        ownership=OwnershipState(row[5]),
        verified_us=row[6],
        checked_us=row[7],
        check_detail=row[8],
        revision=row[9],
        created_us=row[10],
    )


def is_host_allowed(
    connection: sqlite3.Connection, sql: Mapping[str, str], tenant_id: str, endpoint: str
) -> bool:
    """Whether an operator vouches for the endpoint's host, for the tenant or for all."""
    key = (host_of(endpoint), tenant_id)
    return connection.execute(sql["host_is_allowed"], key).fetchone() is not None


def name_of_a_user(
    connection: sqlite3.Connection, sql: Mapping[str, str], tenant_id: str, target_id: str
) -> str | None:
    """The first undeleted trigger that names the target now, or whose waiting fires do."""
    key = {"tenant_id": tenant_id, "target_id": target_id}
    for statement in ("target_used_now", "target_used_by_fires", "target_used_by_gaps"):
        found = connection.execute(sql[statement], key).fetchone()
        if found is not None:
            return str(found[0])
    return None
