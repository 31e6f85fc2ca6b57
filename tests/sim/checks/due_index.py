"""The due index equals what registry and ledger give when it is built again."""

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.store_sqlite import open_sqlite_store
from tests.sim.evidence import Evidence

COLUMNS = (
    "tenant_id, trigger_id, partition_id, version, revision, span_from_at, decided_through,"
    " next_due_at, pending_catch_up, fired_count"
)


def check(evidence: Evidence) -> list[str]:
    """On a copy of the file: the rows before, and after `rebuild`."""
    with TemporaryDirectory(dir=evidence.path.parent) as folder:
        path = Path(folder) / "copy.db"
        for name in ("", "-wal"):
            source = evidence.path.with_name(evidence.path.name + name)
            if source.exists():
                shutil.copy(source, path.with_name(path.name + name))
        before = _rows(path)
        store = open_sqlite_store(
            path,
            payload_keys=TinkPayloadKeys(Path(folder) / "keys"),
            now_us=evidence.now_us,
            synchronous="OFF",
        )
        try:
            store.due_index.rebuild(now_us=evidence.now_us)
        finally:
            store.close()
        after = _rows(path)
    return [
        f"the index says {before.get(key)}, the rebuild {after.get(key)}"
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def _rows(path: Path) -> dict[tuple[str, str], tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(f"SELECT {COLUMNS} FROM due_index_row").fetchall()
    finally:
        connection.close()
    return {row[:2]: row[2:] for row in rows}
