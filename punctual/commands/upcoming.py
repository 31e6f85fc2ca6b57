"""`punctual upcoming`: what is due next, of a trigger or of a tenant."""

from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import span_text, utc_text
from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    now_us,
    tenant_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.moments import clock_of
from punctual.commands.naming import path_of
from punctual.commands.reading import read_trigger, scoped, sole_tenant
from punctual.commands.tables import Cell, Column, print_table
from punctual.saying import hint, say_json
from scheduling.instants import from_text

_COUNT_MAX: Final = 1_000


@click.command()
@click.argument("trigger", required=False, shell_complete=complete_trigger)
@tenant_option
@click.option(
    "--count",
    type=click.IntRange(1, _COUNT_MAX),
    default=10,
    show_default=True,
    help="How many instants.",
)
@api_options
@json_option
def upcoming(
    trigger: str | None,
    tenant: str | None,
    count: int,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Show what is due next, of one trigger or of all of a tenant.

    It knows of edits, pauses and the limit of fires. Times are those of the zone in the header, or
    else of each trigger's own zone.
    """
    with connected(data, server) as client:
        if trigger is not None:
            found = read_trigger(client, trigger, tenant, "upcoming", count=count)
        else:
            tenant = sole_tenant(client, tenant)
            with scoped(client, tenant):
                found = client.get(path_of("tenants", tenant, "upcoming"), count=count)
    if as_json:
        say_json(found)
        return
    if found["items"]:
        _print(found["items"], is_one_trigger=trigger is not None, at_us=now_us())
    else:
        hint(f"Nothing is due: {found['reason'] or 'no trigger has an instant ahead'}.")
    if not found["is_complete"]:
        hint("(so many triggers are due that not all of them could be looked at)")


def _print(instants: list[Any], *, is_one_trigger: bool, at_us: int) -> None:
    clock = clock_of(each["zone"] for each in instants)
    is_smeared = any(each["due_at"] != each["scheduled_instant"] for each in instants)
    columns = (
        (Column("trigger"), not is_one_trigger),
        (Column(clock.title("scheduled")), True),
        (Column("UTC"), clock.zone != "UTC"),
        (Column("zone", droppable=1), clock.zone is None),
        (Column("in", right=True), True),
        (Column("smear", right=True), is_smeared),
    )
    shown = [at for at, (_, is_shown) in enumerate(columns) if is_shown]
    rows = []
    for each in instants:
        instant_us, due_us = from_text(each["scheduled_instant"]), from_text(each["due_at"])
        local = clock.text(each["zone"], instant_us)
        cells: tuple[str | Cell, ...] = (
            f"{each['tenant']}/{each['trigger']}",
            local,
            utc_text(instant_us, beside=local),
            each["zone"],
            span_text(due_us - at_us),
            span_text(due_us - instant_us),
        )
        rows.append([cells[at] for at in shown])
    print_table([columns[at][0] for at in shown], rows)
