"""A store as the first released schema left it: built from its migration alone, never opened since.

The rows in tests/cases/store_v1.jsonl were written by the program of that time: fires in most of
their states, a gap, a taken slot, queued messages, a paused, a deleted and a quarantined trigger.
Its last process died at 09:10. Only payloads are sealed anew, so that no key lies in the project.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import migrations
from punctual.data_folder import KEYS_FOLDER, STORE_FILE
from scheduling import tzdata_version
from scheduling.instants import from_text
from tests.support.repository import ROOT

# What the first program never wrote, and a later schema may therefore have dropped.
UNUSED_IN_V1: Final = frozenset({"backfill", "calendar", "dead_letter", "grant", "principal"})
LAST_WRITTEN_US: Final = from_text("2026-06-01T11:36:30Z")


def rows_v1() -> dict[str, list[dict[str, Any]]]:
    """Table to rows, as they stand in the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in (ROOT / "tests" / "cases" / "store_v1.jsonl").read_text().splitlines():
        entry = json.loads(line)
        found.setdefault(entry["table"], []).append(entry["row"])
    return found


def build_store_v1(data: Path) -> None:
    """The store and its keys in an existing folder, pinned to this program's zone data."""
    keys = TinkPayloadKeys(data / KEYS_FOLDER)
    with closing(sqlite3.connect(data / STORE_FILE)) as connection:
        connection.executescript(migrations()[0])
        connection.execute("PRAGMA user_version=1")
        for table, rows in rows_v1().items():
            for row in rows:
                if table == "payload":
                    row["sealed"] = keys.seal(
                        row["tenant_id"], row.pop("plain").encode(), context=row["payload_ref"]
                    )
                if table == "tzdata_pin":
                    row["version"] = tzdata_version()
                _put(connection, table, row)
        connection.commit()


def rows_of(data: Path, table: str) -> list[dict[str, Any]]:
    """Every row of a table, by plain SQL."""
    with closing(sqlite3.connect(data / STORE_FILE)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')]


def _put(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    verb = "REPLACE" if table == "partition_lease" else "INSERT"
    connection.execute(f'{verb} INTO "{table}" ({columns}) VALUES ({marks})', tuple(row.values()))
