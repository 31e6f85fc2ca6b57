"""`punctual backlog` and `punctual hot-seconds`: what waits, and when too much comes at once."""

from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import utc_text
from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    tenant_option,
)
from punctual.commands.naming import path_of
from punctual.commands.reading import scoped, sole_tenant
from punctual.commands.tables import Column, print_table
from punctual.commands.wording import count_text, instant_text
from punctual.progress import waiting
from punctual.saying import hint, say, say_json
from scheduling.instants import from_text
from scheduling.limits import SMEAR_S_MAX

_BACKLOG: Final = (
    Column("lane"),
    Column("waiting", right=True),
    Column("gone by (UTC)"),
    Column("how we know", flexible=24),
)
_SECONDS: Final = (
    Column("second (UTC)"),
    Column("fires", right=True),
    Column("whose", flexible=30),
)


@click.command()
@tenant_option
@api_options
@json_option
def backlog(tenant: str | None, data: Path, server: str | None, as_json: bool) -> None:
    """Show what waits on each lane, and when it should have gone.

    Of a tenant, or of all together. Times are UTC.
    """
    with connected(data, server) as client, scoped(client, tenant):
        found = client.get("/v1/backlog", tenant=tenant)
    if as_json:
        say_json(found)
        return
    rows = [
        (
            lane["lane"],
            f"{lane['waiting']:,}",
            instant_text(lane["ends_at"]) if lane["waiting"] else "",
            lane["assumption"],
        )
        for lane in found["lanes"]
    ]
    print_table(_BACKLOG, rows)


@click.command(name="hot-seconds")
@tenant_option
@click.option(
    "--level",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Fires a second that are wanted at most.  [default: a tenth of the peak]",
)
@click.option(
    "--count",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="How many seconds.",
)
@api_options
@json_option
def hot_seconds(
    tenant: str | None,
    level: int | None,
    count: int,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Show a tenant's busiest seconds, in the next 24 hours.

    And a smear on all of its triggers that would flatten them, counted by their due times: for the
    triggers there are now. Times are UTC.
    """
    with connected(data, server) as client:
        tenant = sole_tenant(client, tenant)
        with scoped(client, tenant), waiting("Counting the instants of a day"):
            path = path_of("tenants", tenant, "hot-seconds")
            found = client.get(path, seconds=count, level=level)
    if as_json:
        say_json(found)
    else:
        _print_seconds(found)


def _print_seconds(found: Any) -> None:
    subject = count_text(found["triggers"], "live trigger")
    window = f"{instant_text(found['since'])} to {instant_text(found['until'])}"
    instants = count_text(found["instants"], "instant")
    say(f"{found['tenant']}, {window}: {instants} of {subject}.")
    if found["unreadable"]:
        hint(f"({count_text(found['unreadable'], 'trigger')} whose rule cannot be evaluated)")
    if not found["is_complete"]:
        hint("(too much to count all of it: this is a part)")
    if not found["after"]:
        return
    before, after = _peak(found["before"]), _peak(found["after"])
    say(
        f"Peak: {count_text(after, 'fire')} in one second; {before:,} without any smear.",
        _advice(found["smear"]),
        "",
    )
    rows = [
        (utc_text(from_text(each["at"])), f"{each['count']:,}", _crowds(each["crowds"]))
        for each in found["after"]
    ]
    print_table(_SECONDS, rows)


def _peak(seconds: list[Any]) -> int:
    return max((each["count"] for each in seconds), default=0)


def _advice(smear: Any) -> str:
    level = f"{smear['level']:,} or fewer a second"
    part = "" if smear["is_complete"] else " (counted around the busiest second alone)"
    if smear["smear_s"] == 0:
        return f"No smear is needed for {level}."
    if smear["smear_s"] is None:
        return (
            f"No smear was found that flattens it to {level}, up to {SMEAR_S_MAX:,} s: "
            f"{smear['expected']:,} at best{part}."
        )
    return (
        f"With a smear of {smear['smear_s']:,} s on all of them these would peak at "
        f"{smear['expected']:,} a second{part}, for {level}."
    )


def _crowds(crowds: list[Any]) -> str:
    """`200 at "0 9 * * *" in Europe/Berlin (a, b, ...)`."""
    return "; ".join(
        f"{each['count']:,} at {', '.join(each['schedule'])} in {each['zone']} "
        f"({', '.join(each['names'])}{', ...' if each['count'] > len(each['names']) else ''})"
        for each in crowds
    )
