"""`punctual leases`, `rebuild` and `version`: for whoever runs the service."""

import platform
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from control_api.answers.zone_times import instant_json, span_text
from ports.records import AuditRecord, Lease
from punctual.commands.common import (
    data_option,
    json_option,
    now_us,
    opened,
)
from punctual.commands.tables import Cell, Column, print_table
from punctual.progress import waiting
from punctual.saying import hint, say, say_json
from punctual.version import __version__
from scheduling import tzdata_version
from scheduling.keys import partition_ranges

_LEASE_COLUMNS = (
    Column("owner"),
    Column("partitions", flexible=16),
    Column("count", right=True),
    Column("newest epoch", right=True, droppable=1),
    Column("expires"),
)


@click.command()
@data_option
@json_option
def leases(data: Path, as_json: bool) -> None:
    """Show who decides which partitions, and until when."""
    with opened(data) as store:
        found = store.leases.leases()
    at_us = now_us()
    if as_json:
        say_json([_lease_json(lease, at_us) for lease in found])
        return
    print_table(_LEASE_COLUMNS, _lease_rows(found, at_us))
    if not any(is_live(lease, at_us) for lease in found):
        hint("No decider is running: nothing is decided until `punctual up` starts.")


@click.group()
def rebuild() -> None:
    """Derive stored data again from what it was derived from."""


@rebuild.command(name="due-index")
@data_option
@json_option
def due_index(data: Path, as_json: bool) -> None:
    """Derive every trigger's cursor and next due time again, from registry and ledger.

    Safe while the service runs: it is one transaction, and every decision reads the row that it
    decides on inside its own.
    """
    from punctual.actor import local_actor

    with opened(data) as store, waiting("Rebuilding"):
        rows = store.due_index.rebuild(now_us=now_us())
        note = f"{rows} rows"
        store.audit.append(
            AuditRecord(now_us(), local_actor(), "due_index_rebuilt", None, "due-index", note=note)
        )
    if as_json:
        say_json({"rows": rows})
        return
    say(f"Rebuilt the due index: {rows:,} {'row' if rows == 1 else 'rows'}.")


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Show the versions of the program and of what its answers depend on."""
    facts = {
        "punctual": __version__,
        "tzdata": tzdata_version(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    if as_json:
        say_json(facts)
        return
    say(
        f"punctual {__version__} (tzdata {facts['tzdata']}, Python {facts['python']}, "
        f"SQLite {facts['sqlite']})"
    )


def is_live(lease: Lease, at_us: int) -> bool:
    """Whether somebody holds the partition at that time."""
    return lease.owner_id is not None and lease.expires_us > at_us


def _lease_rows(leases: Sequence[Lease], at_us: int) -> list[list[str | Cell]]:
    """One row an owner, in order of names; partitions that nobody holds come last."""
    by_owner: dict[str | None, list[Lease]] = {}
    for lease in leases:
        by_owner.setdefault(lease.owner_id, []).append(lease)
    ordered = sorted(by_owner.items(), key=lambda item: (item[0] is None, item[0] or ""))
    return [_lease_cells(owner, held, at_us) for owner, held in ordered]


def _lease_cells(owner: str | None, held: Sequence[Lease], at_us: int) -> list[str | Cell]:
    expires_us = min(lease.expires_us for lease in held)
    expires = f"in {span_text(expires_us - at_us)}"
    if expires_us <= at_us:
        expires = f"{span_text(at_us - expires_us)} ago"
    return [
        owner or "(free)",
        partition_ranges((lease.partition_id for lease in held), separator=", "),
        str(len(held)),
        str(max(lease.epoch for lease in held)),
        "" if owner is None else expires,
    ]


def _lease_json(lease: Lease, at_us: int) -> dict[str, Any]:
    return {
        "partition_id": lease.partition_id,
        "owner_id": lease.owner_id,
        "epoch": lease.epoch,
        "expires_at": instant_json(lease.expires_us) if lease.owner_id is not None else None,
        "is_live": is_live(lease, at_us),
    }
