"""`punctual fires --follow`: each fire as it changes, a line at a time."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

import click

from control_api.answers.expand import Versions
from control_api.answers.fire_rows import attempt_count, chain_of
from control_api.answers.zone_times import local_text
from ports.history import HistoryPort
from ports.records import FireRecord
from ports.store import Store
from punctual.commands.common import PAGE_ROWS, hint, now_us, say_json_line
from punctual.commands.rows import (
    cause_text,
    fire_json,
    lateness_text,
    range_text,
)
from punctual.commands.selection import Selection
from punctual.commands.tables import is_terminal
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from schemas.printable import printable

POLL_S: Final = 0.25
# A commit may become visible after a later-dated one of another process; so far back we look.
OVERLAP_US: Final = 2 * SECOND_US


def follow_fires(store: Store, selection: Selection, *, as_json: bool) -> None:
    """Print until Ctrl-C, or until whoever reads goes away."""
    versions = Versions(store.registry)
    if is_terminal():
        hint("Waiting for fires to change; Ctrl-C ends.")
    try:
        for row in changes(store.history, since_us=now_us(), wait=lambda: _wait(store)):
            if not selection.takes(row):
                continue
            zone = versions.zone_of(row)
            chain = chain_of(store.history, row)
            if as_json:
                say_json_line(fire_json(row, zone, chain))
            else:
                click.echo(_line(row, zone, chain))
                sys.stdout.flush()
    except KeyboardInterrupt:
        return


def changes(
    history: HistoryPort, *, since_us: int, wait: Callable[[], None]
) -> Iterator[FireRecord]:
    """Every change of a row at or after `since_us` once, oldest first; `wait` between looks."""
    start_us = since_us
    seen: dict[FireKey, tuple[int, str]] = {}
    while True:
        for row in _changed_since(history, start_us):
            stamp = (row.changed_us, row.state.value)
            if seen.get(row.key) != stamp:
                seen[row.key] = stamp
                yield row
        newest_us = max((changed_us for changed_us, _ in seen.values()), default=since_us)
        start_us = max(since_us, newest_us - OVERLAP_US)
        seen = {key: stamp for key, stamp in seen.items() if stamp[0] >= start_us}
        wait()


def _changed_since(history: HistoryPort, start_us: int) -> Iterator[FireRecord]:
    """All pages; a page full of one instant is asked for again, twice as long."""
    limit = PAGE_ROWS
    while True:
        page = history.changed_since(start_us, limit=limit)
        yield from page
        if len(page) < limit:
            return
        if page[-1].changed_us == start_us:
            limit *= 2
        start_us = page[-1].changed_us


def _wait(store: Store) -> None:
    """Until another process has committed; looking for that costs next to nothing."""
    version = store.data_version()
    while store.data_version() == version:
        time.sleep(POLL_S)


def _line(row: FireRecord, zone: str, chain: list[FireRecord]) -> str:
    late, tries = lateness_text(row), attempt_count(row)
    parts = (
        f"{local_text(zone, row.changed_us):<30}",
        f"{row.key.tenant_id}/{row.trigger_name}",
        local_text(zone, row.key.scheduled_us),
        row.state.value,
        range_text(row, zone),
        cause_text(row, chain, zone),
        f"late {late}" if late else "",
        f"attempt {tries}" if tries > 1 else "",
    )
    return printable("  ".join(part for part in parts if part))
