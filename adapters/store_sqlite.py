"""The store on one SQLite file: opens it and bundles its ports."""

import time
from pathlib import Path

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_database import SqliteDatabase
from adapters.sqlite_versions import Versions
from adapters.store_sqlite_audit import SqliteAudit
from adapters.store_sqlite_commit import SqliteDueIndex
from adapters.store_sqlite_history import SqliteHistory
from adapters.store_sqlite_leases import SqliteLeases
from adapters.store_sqlite_ledger import SqliteLedger
from adapters.store_sqlite_outbox import SqliteOutbox
from adapters.store_sqlite_principals import SqlitePrincipals
from adapters.store_sqlite_registry import SqliteRegistry
from adapters.store_sqlite_repair import SqliteRepair
from adapters.store_sqlite_signals import SqliteSignals
from ports.payload_keys import PayloadKeysPort
from ports.store import Store
from scheduling.zones import tzdata_version as installed_tzdata_version


def open_sqlite_store(
    path: Path,
    *,
    payload_keys: PayloadKeysPort,
    now_us: int | None = None,
    tzdata_version: str | None = None,
    synchronous: str = "FULL",
) -> Store:
    """Open or create the file; a new one is pinned to the installed zone data.

    `synchronous` other than FULL gives durability up for speed: for simulations only.
    SchemaTooNew, StoreRefused, StoreUnavailable as in the ports.
    """
    database = SqliteDatabase(path, synchronous=synchronous)
    version = tzdata_version or installed_tzdata_version()
    context = SqliteContext(
        database=database,
        versions=Versions(database.sql),
        payload_keys=payload_keys,
        tzdata_version=version,
    )
    pinned_us = time.time_ns() // 1000 if now_us is None else now_us
    with database.read() as connection:
        pinned = connection.execute(context.sql["commit_pin"]).fetchone()
    if pinned is None:
        with database.write() as connection:
            connection.execute(context.sql["rebuild_pin_first"], (version, pinned_us))
    return Store(
        registry=SqliteRegistry(context),
        due_index=SqliteDueIndex(context),
        ledger=SqliteLedger(context),
        history=SqliteHistory(database),
        repair=SqliteRepair(context),
        leases=SqliteLeases(database),
        audit=SqliteAudit(database),
        outbox=SqliteOutbox(database),
        principals=SqlitePrincipals(database),
        signals=SqliteSignals(database),
        close=database.close,
        data_version=database.data_version,
    )
