"""`punctual fires`: what was decided, newest first, or as it changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from control_api.answers.expand import Versions, expand, version_of
from control_api.answers.fire_rows import attempt_count, chain_of
from control_api.answers.zone_times import offset_text, read_bound, utc_text, wall_text
from ports.records import FireRecord
from ports.store import Store
from punctual.commands.common import (
    PAGE_ROWS,
    Refusal,
    check_tenant,
    data_option,
    find_trigger,
    hint,
    json_option,
    now_us,
    opened,
    say_json,
    tenant_option,
)
from punctual.commands.follow import follow_fires
from punctual.commands.rows import (
    cause_text,
    fire_json,
    lateness_text,
    range_text,
    state_style,
)
from punctual.commands.selection import Selection
from punctual.commands.tables import Cell, Column, print_table
from scheduling.instants import to_text
from scheduling.keys import FireKey
from scheduling.vocabulary import Cause, FireState

ROWS_SEARCHED_MAX: Final = 50_000  # for rows of one cause; the store has no index of causes
_LIMIT_MAX: Final = 10_000


@click.command()
@click.argument("trigger", required=False)
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
@data_option
@json_option
def fires(
    trigger: str | None,
    tenant: str | None,
    states: tuple[str, ...],
    causes: tuple[str, ...],
    from_text: str | None,
    to_text: str | None,
    limit: int,
    is_expanded: bool,
    follow: bool,
    data: Path,
    as_json: bool,
) -> None:
    """List fires, newest first: what was decided about each instant, and what became of it.

    Consecutive instants that share one fate are one row; --expand shows each of them.
    """
    if follow and (from_text or to_text or is_expanded):
        raise click.UsageError("--follow shows what changes from now on, without a window.")
    with opened(data) as store:
        selection, zone = _selection(
            store,
            trigger,
            tenant=tenant,
            states=states,
            causes=causes,
            window=(from_text, to_text),
            limit=limit,
            is_expanded=is_expanded,
        )
        if follow:
            follow_fires(store, selection, as_json=as_json)
            return
        _show(store, selection, zone=zone, as_json=as_json)


def select(store: Store, selection: Selection, versions: Versions) -> Iterator[FireRecord]:
    """The selected rows, newest first, at most `limit`; range rows expanded where asked for."""
    left, searched = selection.limit, 0
    last: FireKey | None = None
    while left > 0 and searched < ROWS_SEARCHED_MAX:
        page = store.history.fires(
            tenant_id=selection.tenant_id,
            trigger_id=selection.trigger_id,
            states=selection.states,
            from_us=selection.from_us,
            through_us=selection.through_us,
            after=last,
            limit=PAGE_ROWS if selection.causes else min(left, PAGE_ROWS),
        )
        if not page:
            return
        searched, last = searched + len(page), page[-1].key
        for row in page:
            if selection.takes(row) and left > 0:
                for each in _shown_rows(row, selection, versions, limit=left):
                    left -= 1
                    yield each
    if searched >= ROWS_SEARCHED_MAX and last is not None:
        until = to_text(last.scheduled_us)
        hint(f"(searched the newest {searched:,} rows; go on with --to {until})")


def _selection(
    store: Store,
    trigger: str | None,
    *,
    tenant: str | None,
    states: tuple[str, ...],
    causes: tuple[str, ...],
    window: tuple[str | None, str | None],
    limit: int,
    is_expanded: bool,
) -> tuple[Selection, str]:
    """The selection, and the zone in which its times were read."""
    zone, trigger_id = "UTC", None
    if trigger is not None:
        found = find_trigger(store.registry, trigger, tenant)
        tenant, trigger_id = found.tenant_id, found.trigger_id
        definition = store.registry.definition(tenant, trigger_id, version=found.version)
        zone = zone if definition is None else definition.zone
    check_tenant(store.registry, tenant)
    from_us, through_us = _window(window, zone)
    selection = Selection(
        tenant_id=tenant,
        trigger_id=trigger_id,
        states=frozenset(map(FireState, states)),
        causes=frozenset(map(Cause, causes)),
        from_us=from_us,
        through_us=through_us,
        limit=limit,
        expand=is_expanded,
    )
    return selection, zone


def _window(window: tuple[str | None, str | None], zone: str) -> tuple[int | None, int | None]:
    from_text, to_text = window
    from_us: int | None = None
    through_us: int | None = None
    try:
        if from_text is not None:
            from_us = read_bound(from_text, zone, field="--from", now_us=now_us())
        if to_text is not None:
            through_us = read_bound(to_text, zone, field="--to", now_us=now_us(), is_end=True)
    except ValueError as error:
        raise Refusal(str(error)) from None
    if from_us is not None and through_us is not None and through_us < from_us:
        raise Refusal("--to: lies before --from: exchange them")
    return from_us, through_us


def _shown_rows(
    row: FireRecord, selection: Selection, versions: Versions, *, limit: int
) -> Iterator[FireRecord]:
    if not selection.expand:
        yield row
        return
    rules = versions.rules(version_of(row), row.trigger_name)
    yield from expand(
        row, rules, limit=limit, from_us=selection.from_us, through_us=selection.through_us
    )


def _show(store: Store, selection: Selection, *, zone: str, as_json: bool) -> None:
    versions = Versions(store.registry)
    rows = list(select(store, selection, versions))
    if as_json:
        say_json(
            [fire_json(row, versions.zone_of(row), chain_of(store.history, row)) for row in rows]
        )
        return
    if not rows:
        hint(_nothing(selection))
        return
    zones = {versions.zone_of(row) for row in rows}
    table = [_cells(store, row, versions, with_zone=len(zones) > 1) for row in rows]
    titles = _columns(zones)
    left_out = {0} if selection.trigger_id is not None else set()
    left_out |= {2} if zones == {"UTC"} else set()
    left_out |= set() if any(cells[4] for cells in table) else {4}
    shown = [at for at in range(len(titles)) if at not in left_out]
    print_table([titles[at] for at in shown], [[cells[at] for at in shown] for cells in table])
    if len(rows) == selection.limit:
        hint(f"(the newest {len(rows)}; more with --limit or --to)")


def _nothing(selection: Selection) -> str:
    is_filtered = selection.states or selection.causes or selection.from_us or selection.through_us
    return (
        "No fires match."
        if is_filtered
        else "No fires yet: `punctual triggers` says what is due next."
    )


def _columns(zones: set[str]) -> list[Column]:
    zone = next(iter(zones)) if len(zones) == 1 else "local"
    return [
        Column("trigger"),
        Column(f"scheduled ({zone})"),
        Column("UTC", droppable=0 if len(zones) == 1 else 3),
        Column("state"),
        Column("cause", flexible=16),
        Column("lane", droppable=1),
        Column("late", right=True, droppable=4),
        Column("tries", droppable=2, right=True),
    ]


def _cells(
    store: Store, row: FireRecord, versions: Versions, *, with_zone: bool
) -> list[str | Cell]:
    zone = versions.zone_of(row)
    local = wall_text(zone, row.key.scheduled_us)
    chain = chain_of(store.history, row)
    cause = cause_text(row, chain, zone)
    through = range_text(row, zone)
    return [
        f"{row.key.tenant_id}/{row.trigger_name}",
        f"{local} {offset_text(zone, row.key.scheduled_us)}" if with_zone else local,
        utc_text(row.key.scheduled_us, beside=local),
        Cell(row.state.value, state_style(row.state)),
        ": ".join(part for part in (through, cause) if part),
        row.lane.value,
        lateness_text(row),
        str(attempt_count(row) or ""),
    ]
