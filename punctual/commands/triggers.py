"""`punctual triggers`: what there is, where each stands, and when it is due next."""

from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import local_text, span_text, wall_text
from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    now_us,
    tenant_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.group import listing_group
from punctual.commands.moments import TableClock, clock_of, us_of
from punctual.commands.reading import Part, parts_of, read_trigger, scoped
from punctual.commands.streams import print_json_items, print_parts, watched
from punctual.commands.tables import Cell, Column
from punctual.commands.trigger_detail import print_trigger
from punctual.saying import hint, say_json
from scheduling.vocabulary import TriggerState

_STYLES: Final = {"quarantined": "red", "paused": "yellow"}
_STATES: Final = [each.value for each in TriggerState if each is not TriggerState.DELETED]
_NARROWING: Final = ("state", "target", "prefix")


@listing_group
def triggers() -> None:
    """List triggers: state, schedule, next due time, newest fire, and why one stands still.

    Times are those of the zone in the header, or else of each trigger's own zone.
    """


@triggers.command(name="list")
@tenant_option
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    type=click.Choice(_STATES),
    help=f"Only in this state, or these: {', '.join(_STATES)}.",
)
@click.option("--target", metavar="TARGET", help="Only those that fire at this target.")
@click.option("--prefix", metavar="TEXT", help="Only names that begin with this.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="At most so many rows.",
)
@api_options
@json_option
def list_triggers(
    tenant: str | None,
    states: tuple[str, ...],
    target: str | None,
    prefix: str | None,
    limit: int,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List triggers by tenant and name."""
    wanted = {"tenant": tenant, "state": states, "target": target, "prefix": prefix}
    with connected(data, server) as client, scoped(client, tenant):
        parts = watched(
            parts_of(client, "/v1/triggers", limit=limit, params=wanted), noun="triggers"
        )
        if as_json:
            print_json_items(parts)
            return
        count = print_parts(parts, lambda first: _TriggerTable(first, now_us()))
    if not count:
        hint(_nothing(wanted))
    elif count >= limit:
        hint(f"(the first {count:,}; more with --limit)")


@triggers.command()
@click.argument("trigger", shell_complete=complete_trigger)
@tenant_option
@click.option(
    "--count",
    type=click.IntRange(1, 1_000),
    default=5,
    show_default=True,
    help="How many of the next instants.",
)
@api_options
@json_option
def show(
    trigger: str, tenant: str | None, count: int, data: Path, server: str | None, as_json: bool
) -> None:
    """Show one trigger: its definition, what is next, and its odd nights.

    An odd night is one on which a clock change of the next 12 months touches the schedule.
    """
    with connected(data, server) as client:
        found = read_trigger(client, trigger, tenant)
        name = f"{found['tenant']}/{found['name']}"
        upcoming = read_trigger(client, name, None, "upcoming", count=count)
    if as_json:
        say_json({"trigger": found, "upcoming": upcoming})
    else:
        print_trigger(found, upcoming, at_us=now_us())


class _TriggerTable:
    def __init__(self, first: Part, at_us: int) -> None:
        self._at_us = at_us
        self._clock: TableClock = clock_of(each["definition"]["zone"] for each in first.rows)
        columns = (
            (Column("trigger"), True),
            (Column("state"), True),
            (Column("schedule", flexible=15), True),
            (Column("zone", droppable=2), self._clock.zone is None),
            (Column(self._clock.title("next"), flexible=26), True),
            (Column(self._clock.title("last fire"), flexible=20, droppable=1), True),
            (Column("note", flexible=16), not first.is_last or any(map(_note, first.rows))),
        )
        self._shown = [at for at, (_, is_shown) in enumerate(columns) if is_shown]
        self.columns = [columns[at][0] for at in self._shown]

    def cells(self, trigger: Any) -> list[str | Cell]:
        """One row of the table."""
        zone = trigger["definition"]["zone"]
        cells = (
            f"{trigger['tenant']}/{trigger['name']}",
            Cell(trigger["state"], _STYLES.get(trigger["state"], "")),
            "; ".join(trigger["definition"]["schedule"]),
            zone,
            _next_text(trigger, zone, self._at_us),
            _last_text(trigger["newest_fire"], zone),
            _note(trigger),
        )
        return [cells[at] for at in self._shown]


def _next_text(trigger: Any, zone: str, at_us: int) -> str:
    due_us = us_of(trigger["next_due_at"])
    if due_us is None:
        return ""
    relative = f"in {span_text(due_us - at_us)}"
    if due_us < at_us:
        relative = f"{span_text(at_us - due_us)} ago, undecided"
    return f"{local_text(zone, due_us)} ({relative})"


def _last_text(fire: Any, zone: str) -> str:
    at_us = None if fire is None else us_of(fire["through_instant"] or fire["scheduled_instant"])
    if at_us is None:
        return ""
    return f"{wall_text(zone, at_us)} {fire['cause'] or fire['state']}"


def _note(trigger: Any) -> str:
    return trigger["quarantine_error"] or trigger["pause_note"] or ""


def _nothing(wanted: dict[str, Any]) -> str:
    if any(wanted[key] for key in _NARROWING):
        return "No triggers match."
    tenant = wanted["tenant"]
    whose = "No triggers yet" if tenant is None else f"{tenant} has no triggers yet"
    return f"{whose}: add some with `punctual apply -f FILE`."
