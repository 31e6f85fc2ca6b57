"""The lease port on SQLite: partitions shared out evenly among the owners that still beat.

Owners need no coordinator: each one keeps its fair share, sheds the rest, and takes what is
free. An owner's name must belong to one running process at a time.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_database import SqliteDatabase
from ports.leases import LeasePort
from ports.records import AuditRecord, Heartbeat, Lease
from scheduling.keys import partition_ranges
from scheduling.limits import LEASE_TTL_S_MAX, PARTITIONS

_TTL_US_MAX = int(LEASE_TTL_S_MAX * 1_000_000)


class SqliteLeases(LeasePort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._reported: dict[str, frozenset[int]] = {}  # per owner, as its last call returned it

    def heartbeat(self, owner_id: str, *, now_us: int, ttl_us: int, epsilon_us: int) -> Heartbeat:
        """ValueError for a TTL that other owners would take for a stepped clock's."""
        if not 0 < ttl_us <= _TTL_US_MAX:
            raise ValueError(f"ttl_us: {ttl_us} is not within 1 and {_TTL_US_MAX} microseconds")
        taken: dict[int, int] = {}
        with self._database.write() as connection:
            turn = _Turn(connection, self._database.sql, owner_id=owner_id, now_us=now_us)
            held = turn.renew(now_us + ttl_us)
            surplus = len(held) - turn.fair_share(2 * epsilon_us)
            if surplus > 0:
                highest = sorted(held)[-surplus:]
                turn.give_up(highest, note="shed")
                held = {key: epoch for key, epoch in held.items() if key not in set(highest)}
            elif surplus < 0:
                taken = turn.acquire(-surplus, expires_us=now_us + ttl_us, epsilon_us=epsilon_us)
                held |= taken
        reported = self._reported.get(owner_id, frozenset())
        self._reported[owner_id] = frozenset(held)
        # What the owner already had before its first call here counts as acquired, too.
        acquired = taken.keys() | (held.keys() - reported)
        return Heartbeat(held, tuple(sorted(acquired)), tuple(sorted(reported - held.keys())))

    def release(self, owner_id: str, *, now_us: int, actor: str | None = None) -> int:
        with self._database.write() as connection:
            turn = _Turn(connection, self._database.sql, owner_id=owner_id, now_us=now_us)
            owned = turn.leave()
            if owned:
                turn.give_up(owned, note="released", actor=actor)
        self._reported.pop(owner_id, None)
        return len(owned)

    def leases(self) -> list[Lease]:
        with self._database.read() as connection:
            rows = connection.execute(self._database.sql["lease_all"]).fetchall()
        return [Lease._make(row) for row in rows]


@dataclass(frozen=True, slots=True)
class _Turn:
    """One owner's statements inside one transaction."""

    connection: sqlite3.Connection
    sql: Mapping[str, str]
    owner_id: str
    now_us: int

    def renew(self, expires_us: int) -> dict[int, int]:
        """Partition to epoch. An expired lease that nobody took is still the owner's."""
        mine = {"owner_id": self.owner_id, "expires_us": expires_us}
        self.connection.execute(self.sql["lease_owner_put"], mine)
        return dict(self.connection.execute(self.sql["lease_renew"], mine).fetchall())

    def fair_share(self, tolerance_us: int) -> int:
        """Rounded up, so that the shares of all living owners cover every partition."""
        self.connection.execute(self.sql["lease_owner_prune"], self._expiry(tolerance_us))
        (alive,) = self.connection.execute(self.sql["lease_owner_count"]).fetchone()
        return -(-PARTITIONS // int(alive))

    def acquire(self, limit: int, *, expires_us: int, epsilon_us: int) -> dict[int, int]:
        """Partition to its new epoch, for the lowest free ones."""
        free = self.connection.execute(
            self.sql["lease_free"], self._expiry(2 * epsilon_us) | {"row_limit": limit}
        ).fetchall()
        if not free:
            return {}
        grant = {
            "owner_id": self.owner_id,
            "expires_us": expires_us,
            "epsilon_ms": epsilon_us / 1_000,
            "partition_ids": json.dumps([partition_id for partition_id, _ in free]),
        }
        taken = dict(self.connection.execute(self.sql["lease_acquire"], grant).fetchall())
        self._audit(free, note="acquired")
        return taken

    def give_up(self, partition_ids: Sequence[int], *, note: str, actor: str | None = None) -> None:
        self.connection.execute(
            self.sql["lease_give_up"],
            {"owner_id": self.owner_id, "partition_ids": json.dumps(partition_ids)},
        )
        previous = [(partition_id, self.owner_id) for partition_id in partition_ids]
        self._audit(previous, note=note, actor=actor)

    def leave(self) -> list[int]:
        """End the owner's membership; the partitions it still holds, by id."""
        me = {"owner_id": self.owner_id}
        self.connection.execute(self.sql["lease_owner_delete"], me)
        return [row[0] for row in self.connection.execute(self.sql["lease_owned"], me)]

    def _expiry(self, tolerance_us: int) -> dict[str, int]:
        """Before the first or after the second an expiry no longer protects anything."""
        expired_us = self.now_us - tolerance_us
        return {"expired_us": expired_us, "too_far_us": self.now_us + _TTL_US_MAX}

    def _audit(
        self, previous: Sequence[tuple[int, str | None]], *, note: str, actor: str | None = None
    ) -> None:
        """One entry for partitions in order of their ids, with their previous owners."""
        by_owner: dict[str | None, list[int]] = {}
        for partition_id, owner_id in previous:
            by_owner.setdefault(owner_id, []).append(partition_id)
        prior = [
            {"owner_id": who, "partitions": partition_ranges(ids)} for who, ids in by_owner.items()
        ]
        entry = AuditRecord(
            self.now_us,
            actor or self.owner_id,
            "lease_transfer",
            subject=f"partitions {partition_ranges(partition_id for partition_id, _ in previous)}",
            prior_value=json.dumps(prior),
            note=note,
        )
        insert_audit(self.connection, self.sql, entry)
