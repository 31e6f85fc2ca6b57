"""`punctual events`: the log of events, a page of it or as it grows."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import instant_json, utc_text
from ports.events import EventsPort, PublishedEvent
from ports.store import Store
from punctual.commands.common import (
    PAGE_ROWS,
    data_option,
    hint,
    json_option,
    say_json,
    say_json_line,
)
from punctual.commands.tables import Column, is_terminal, print_table
from punctual.data_folder import open_data_folder
from schemas.printable import printable

_POLL_S: Final = 0.25
_LIMIT_MAX: Final = 10_000
_COLUMNS: Final = (
    Column("offset", right=True),
    Column("at (UTC)", droppable=1),
    Column("event", droppable=2),
    Column("trigger"),
    Column("what", flexible=16),
)


@click.command()
@click.option(
    "--after",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only events after this offset, the oldest of them first.  [default: the newest events]",
)
@click.option(
    "--limit",
    type=click.IntRange(1, _LIMIT_MAX),
    default=50,
    show_default=True,
    help="At most so many events.",
)
@click.option("--follow", is_flag=True, help="Print events as they are published, until Ctrl-C.")
@data_option
@json_option
def events(after: int | None, limit: int, follow: bool, data: Path, as_json: bool) -> None:
    """List what changed, as a relay published it: changes of triggers and states of fires.

    The offset of the last event that was read says where to go on. The log keeps the newest
    500,000 events. An event may come again under its id.
    """
    folder = open_data_folder(data, create=False)
    try:
        if follow:
            _follow(folder.store, folder.events, after=after, as_json=as_json)
        else:
            _show(folder.events, after=after, limit=limit, as_json=as_json)
    finally:
        folder.close()


def published(
    events: EventsPort, *, after: int, wait: Callable[[], None]
) -> Iterator[PublishedEvent]:
    """Every event after an offset; `wait` between looks that found nothing."""
    while True:
        page = events.read(after=after, limit=PAGE_ROWS)
        yield from page
        if page:
            after = page[-1].offset
        else:
            wait()


def _show(events: EventsPort, *, after: int | None, limit: int, as_json: bool) -> None:
    kept = events.kept()
    start = max(kept.after, kept.through - limit) if after is None else after
    _tell_forgotten(start, kept.after)
    found = events.read(after=start, limit=limit)
    if as_json:
        say_json([_event_json(each) for each in found])
    elif found:
        print_table(_COLUMNS, [_cells(each) for each in found])
    else:
        hint("No events: `punctual up` or `punctual relay` publishes what changes.")
    if found and found[-1].offset < kept.through:
        hint(f"(more with --after {found[-1].offset})")


def _follow(store: Store, events: EventsPort, *, after: int | None, as_json: bool) -> None:
    kept = events.kept()
    start = kept.through if after is None else after
    _tell_forgotten(start, kept.after)
    if is_terminal():
        hint("Waiting for events; Ctrl-C ends.")
    version = -1

    def wait() -> None:
        nonlocal version
        while (now := store.data_version()) == version:
            time.sleep(_POLL_S)
        version = now

    try:
        for each in published(events, after=start, wait=wait):
            if as_json:
                say_json_line(_event_json(each))
            else:
                click.echo(printable("  ".join(_cells(each))))
    except KeyboardInterrupt:
        return


def _tell_forgotten(start: int, kept_after: int) -> None:
    if start < kept_after:
        hint(f"(events {start + 1:,} to {kept_after:,} are no longer kept)")


def _cells(published: PublishedEvent) -> list[str]:
    event = published.event
    body = json.loads(event.body)
    name = body.get("trigger") or body.get("name") or event.trigger_id
    what = _fire_text(body) if "fire_key" in body else _trigger_text(body)
    return [
        str(published.offset),
        utc_text(event.at_us),
        event.event,
        f"{event.tenant_id}/{name}",
        what,
    ]


def _fire_text(body: dict[str, Any]) -> str:
    """`2026-06-01T09:01:00Z: held, backoff, attempt 2`."""
    through = f" through {body['through_instant']}" if body["through_instant"] else ""
    facts = [body["state"], body["cause"] or body["held_reason"]]
    if body["attempt"] > 1:
        facts.append(f"attempt {body['attempt']}")
    told = ", ".join(fact for fact in facts if fact)
    return f"{body['scheduled_instant']}{through}: {told}"


def _trigger_text(body: dict[str, Any]) -> str:
    """`edited, revision 3`."""
    facts = [str(body.get("kind", "changed"))]
    if "revision" in body:
        facts.append(f"revision {body['revision']}")
    return ", ".join(facts)


def _event_json(published: PublishedEvent) -> dict[str, Any]:
    event = published.event
    return {
        "offset": published.offset,
        "event_id": event.event_id,
        "event": event.event,
        "tenant": event.tenant_id,
        "trigger_id": event.trigger_id,
        "at": instant_json(event.at_us),
        "body": json.loads(event.body),
    }
