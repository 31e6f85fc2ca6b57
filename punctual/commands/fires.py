"""`punctual fires`: what was decided, newest first, one in full, or as it changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    tenant_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.fire_detail import print_fire
from punctual.commands.fire_filter import FireFilter, fire_filter
from punctual.commands.fire_texts import FireTable
from punctual.commands.follow import follow_fires
from punctual.commands.group import listing_group
from punctual.commands.naming import path_of
from punctual.commands.reading import Part, parts_of, scoped
from punctual.commands.steady import SteadyReader, steady_reader
from punctual.commands.streams import print_json_items, print_parts, watched
from punctual.saying import hint, say_json
from scheduling.vocabulary import Cause, FireState, Lane

_LIMIT_MAX: Final = 10_000


@listing_group
def fires() -> None:
    """List fires, newest first: what was decided about each instant, and what became of it.

    Consecutive instants that share one fate are one row; --expand shows each of them. TRIGGER is
    a name, TENANT/NAME, or TENANT/ID of one that was deleted. Times are those of the zone in the
    header; without TRIGGER, local times of --from and --to are UTC.
    """


@fires.command(name="list")
@click.argument("trigger", required=False, shell_complete=complete_trigger)
@tenant_option
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    type=click.Choice([each.value for each in FireState]),
    help=f"Only in this state, or these: {', '.join(FireState)}.",
)
@click.option(
    "--cause",
    "causes",
    multiple=True,
    metavar="CAUSE",
    type=click.Choice([each.value for each in Cause]),
    help=f"Only not dispatched for this cause, or these: {', '.join(Cause)}.",
)
@click.option(
    "--lane",
    "lanes",
    multiple=True,
    type=click.Choice([each.value for each in Lane]),
    help="Only of this lane.",
)
@click.option(
    "--from",
    "from_text",
    metavar="T",
    help="Not before: an instant, a local time of the trigger's zone, a date, or 2h (ago).",
)
@click.option("--to", "to_text", metavar="T", help="Not after; a date means all of that day.")
@click.option(
    "--limit",
    type=click.IntRange(1, _LIMIT_MAX),
    default=50,
    show_default=True,
    help="At most so many rows.",
)
@click.option("--expand", "is_expanded", is_flag=True, help="Show every instant of a range row.")
@click.option("--follow", is_flag=True, help="Print fires as they change, until Ctrl-C.")
@api_options
@json_option
def list_fires(
    trigger: str | None,
    tenant: str | None,
    states: tuple[str, ...],
    causes: tuple[str, ...],
    lanes: tuple[str, ...],
    from_text: str | None,
    to_text: str | None,
    limit: int,
    is_expanded: bool,
    follow: bool,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List fires, newest first, or tell of them as they change."""
    wanted = {"state": states, "cause": causes, "lane": lanes}
    if follow:
        if from_text or to_text or is_expanded:
            raise click.UsageError("--follow shows what changes from now on, without a window.")
        with steady_reader(data, server) as reader:
            _follow(reader, trigger, tenant, wanted, as_json=as_json)
        return
    with connected(data, server) as client:
        found = fire_filter(
            client,
            trigger,
            tenant=tenant,
            window=(from_text, to_text),
            expand=is_expanded or None,
            **wanted,
        )
        parts = parts_of(client, "/v1/fires", limit=limit, params=found.params)
        with scoped(client, found.tenant):
            _show(watched(parts, noun="fires"), found, limit=limit, as_json=as_json)


@fires.command()
@click.argument("fire_key")
@api_options
@json_option
def show(fire_key: str, data: Path, server: str | None, as_json: bool) -> None:
    """Show one fire with its attempts, and what it was coalesced into.

    FIRE_KEY is as `punctual fires --json` and `punctual run` show it.
    """
    with connected(data, server) as client:
        found = client.get(path_of("fires", fire_key))
    if as_json:
        say_json(found)
    else:
        print_fire(found)


def _follow(
    reader: SteadyReader,
    trigger: str | None,
    tenant: str | None,
    wanted: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    with scoped(reader.client, tenant):
        found = fire_filter(reader.client, trigger, tenant=tenant, **wanted)
        follow_fires(reader, found.params, as_json=as_json)


def _show(parts: Iterator[Part], wanted: FireFilter, *, limit: int, as_json: bool) -> None:
    if as_json:
        print_json_items(parts)
        return
    count = print_parts(parts, lambda first: FireTable(first, is_one_trigger=wanted.is_one_trigger))
    if not count:
        hint(
            "No fires match."
            if wanted.is_narrow
            else "No fires yet: `punctual triggers` says what is due next."
        )
    elif count >= limit:
        hint(f"(the newest {count:,}; more with --limit or --to)")
