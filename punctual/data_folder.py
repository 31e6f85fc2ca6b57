"""The data folder: one installation's store file, lanes and events in it, and its keys."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from ports.errors import SchemaTooNew, StoreCorrupt, StoreRefused, StoreUnavailable
from ports.events import EventsPort
from ports.lanes import LanesPort
from ports.payload_keys import PayloadKeysPort
from ports.store import Store

STORE_FILE: Final = "punctual.db"
KEYS_FOLDER: Final = "keys"
# While it is there a restore has put some of the files in place and not yet the others.
UNFINISHED_FILE: Final = "restore-unfinished"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """An opened folder; `close` when done with it."""

    path: Path
    store: Store
    lanes: LanesPort
    events: EventsPort
    payload_keys: PayloadKeysPort
    lane_database: SqliteDatabase
    event_database: SqliteDatabase

    def close(self) -> None:
        self.event_database.close()
        self.lane_database.close()
        self.store.close()


def open_data_folder(path: Path, *, create: bool) -> DataFolder:
    """Open the store and the keys under `path`.

    With `create` a missing folder is made, readable by its owner alone; without it a missing
    store is StoreRefused, so that a read of the wrong folder does not leave an empty one.
    """
    store_file = path / STORE_FILE
    if (path / UNFINISHED_FILE).exists():
        raise StoreRefused(
            f"data: a restore into {path} was cut off half way: run `punctual restore` again, "
            "with --force"
        )
    if not create and not store_file.exists():
        raise StoreRefused(
            f"data: there is no store in {path}: name its folder with --data, "
            "or start one with `punctual up`"
        )
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreRefused(
            f"data: {path} cannot be made ({error.strerror}): name a folder you can write"
        ) from error
    for place in (path, store_file):
        if place.exists() and not os.access(place, os.R_OK | os.W_OK):
            raise StoreRefused(f"data: {place} is read-only: name a folder you can write")
    if not store_file.exists():
        # Endpoints and names are nobody else's business, also in a folder that others can read.
        os.close(os.open(store_file, os.O_CREAT | os.O_RDWR, 0o600))
    try:
        payload_keys = TinkPayloadKeys(path / KEYS_FOLDER)
        store = open_sqlite_store(store_file, payload_keys=payload_keys)
    except SchemaTooNew:
        raise
    except (StoreRefused, StoreUnavailable, StoreCorrupt) as error:
        raise type(error)(f"data: {store_file}: {error}") from error
    # Lanes are derived from the ledger, so their commits need not wait for the disk.
    lane_database = SqliteDatabase(store_file, synchronous="NORMAL")
    event_database = SqliteDatabase(store_file)
    return DataFolder(
        path,
        store,
        LocalLanes(lane_database),
        LocalEvents(event_database),
        payload_keys,
        lane_database,
        event_database,
    )
