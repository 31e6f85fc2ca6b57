"""`punctual calendars`: the days on which triggers that name them are not due."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from punctual.commands.asking import confirmed
from punctual.commands.common import (
    Refusal,
    api_options,
    connected,
    hint_more,
    json_option,
    limit_option,
    suggestion,
    tenant_option,
    yes_option,
)
from punctual.commands.completing import complete_calendar
from punctual.commands.naming import (
    Named,
    check_tenant,
    members_of,
    path_of,
    read_or_none,
    tenant_names,
)
from punctual.commands.tables import Column, print_table
from punctual.commands.wording import count_text
from punctual.saying import hint, say, say_json

if TYPE_CHECKING:
    from punctual.client import ApiClient

_COLUMNS: Final = (
    Column("calendar"),
    Column("days", right=True),
    Column("first"),
    Column("last"),
    Column("rules", flexible=20, droppable=1),
)
_DAYS_PER_LINE: Final = 6


@dataclass(frozen=True, slots=True)
class Days:
    """What a file of days says, in the API's words."""

    rules: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)


@click.group(invoke_without_command=True)
@tenant_option
@limit_option
@api_options
@json_option
@click.pass_context
def calendars(
    ctx: click.Context,
    tenant: str | None,
    limit: int | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List exclusion calendars, or change them.

    A trigger that names a calendar is not due on its days.
    """
    if ctx.invoked_subcommand is None:
        _list(tenant, limit, data, server, as_json)


@calendars.command(name="list")
@tenant_option
@limit_option
@api_options
@json_option
def list_calendars(
    tenant: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    """List exclusion calendars."""
    _list(tenant, limit, data, server, as_json)


@calendars.command()
@click.argument("calendar", metavar="TENANT/CALENDAR", shell_complete=complete_calendar)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="At most so many days; JSON has all of them.",
)
@api_options
@json_option
def show(calendar: str, limit: int, data: Path, server: str | None, as_json: bool) -> None:
    """Show the days that a calendar excludes, the earliest first."""
    with connected(data, server) as client:
        found = _find(client, calendar)
        body = client.get(_path(found.tenant, found.name))
    if as_json:
        say_json(body)
        return
    days = body["excludes"][:limit]
    for start in range(0, len(days), _DAYS_PER_LINE):
        say("  ".join(days[start : start + _DAYS_PER_LINE]))
    if len(days) < len(body["excludes"]):
        hint(f"(the first {len(days):,} of {len(body['excludes']):,} days; more with --limit)")


@calendars.command()
@click.argument("calendar", metavar="TENANT/CALENDAR", shell_complete=complete_calendar)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help='RFC 5545, as in "DTSTART:20260101 RRULE:FREQ=YEARLY"; as often as needed.',
)
@click.option("--date", "dates", multiple=True, metavar="DATE", help="A day, as in 2026-12-25.")
@click.option(
    "--from-file",
    type=click.File(),
    help="Days and rules, a line each; an RRULE follows its DTSTART; # begins a remark; - for "
    "stdin.",
)
@api_options
@json_option
def put(
    calendar: str,
    rules: tuple[str, ...],
    dates: tuple[str, ...],
    from_file: Any,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Create a calendar, or replace all of its days.

    Triggers that name it follow at once: what they have decided stays as it is.
    """
    tenant, slash, name = calendar.partition("/")
    if not slash or "/" in name:
        raise Refusal(f"calendar: {calendar!r} names no tenant: write it as TENANT/CALENDAR")
    read = Days() if from_file is None else _read_days(from_file)
    wanted = {
        # A shell's line has blanks where the standard has line ends.
        "rules": ["\n".join(rule.split()) for rule in rules] + read.rules,
        "dates": [*dates, *read.dates],
    }
    with connected(data, server) as client:
        check_tenant(client, tenant, field="calendar")
        path = _path(tenant, name)
        before = read_or_none(client, path)
        after = client.send("PUT", path, wanted, etag=None if before is None else before.etag)
    if as_json:
        say_json(after)
        return
    say(_put_text(None if before is None else before.body, after))


@calendars.command()
@click.argument("calendar", metavar="TENANT/CALENDAR", shell_complete=complete_calendar)
@yes_option
@api_options
@json_option
def delete(calendar: str, yes: bool, data: Path, server: str | None, as_json: bool) -> None:
    """Delete a calendar that no trigger uses."""
    with connected(data, server) as client:
        found = _find(client, calendar)
        path = _path(found.tenant, found.name)
        etag = client.read(path).etag
        days = count_text(found.body["count"], "day")
        is_asked = confirmed(f"Deleting {found.shown} forgets its {days}.", yes=yes)
        body = client.send("DELETE", path, etag=etag if is_asked else None)
    if as_json:
        say_json(body)
        return
    say(f"Deleted {found.shown}.")


def _list(
    tenant: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    with connected(data, server) as client:
        check_tenant(client, tenant)
        found = list(members_of(client, "calendars", tenant, limit=limit))
    if as_json:
        say_json([each.body for each in found])
        return
    if not found:
        hint("No calendars yet: make one with `punctual calendars put TENANT/CALENDAR`.")
        return
    print_table(_COLUMNS, [_cells(each) for each in found])
    hint_more(len(found), limit)


def _find(client: "ApiClient", text: str) -> Named:
    """The calendar of a TENANT/CALENDAR, or of a name that only one tenant has."""
    tenant, slash, _ = text.rpartition("/")
    is_named = slash and tenant in tenant_names(client)
    found = list(members_of(client, "calendars", tenant if is_named else None))
    fitting = [each for each in found if text in (each.shown, each.name)]
    if len(fitting) == 1:
        return fitting[0]
    names = [each.shown for each in fitting or found]
    if fitting:
        raise Refusal(f"calendar: {text!r} is the name of several: {', '.join(names)}; name one")
    raise Refusal(f"calendar: no {text!r}{suggestion(text, names)}")


def _read_days(file: Iterable[str]) -> Days:
    found = Days()
    for line in file:
        text = line.partition("#")[0].strip()
        if text[:1].isdigit():
            found.dates.append(text)
        elif text.startswith("RRULE") and found.rules:
            found.rules[-1] += f"\n{text}"
        elif text:
            found.rules.append(text)
    return found


def _path(tenant: str, name: str) -> str:
    return path_of("tenants", tenant, "calendars", name)


def _cells(calendar: Named) -> list[str]:
    body = calendar.body
    return [
        calendar.shown,
        f"{body['count']:,}",
        body["first"] or "",
        body["last"] or "",
        "; ".join(body["rules"]),
    ]


def _put_text(before: Any, after: Any) -> str:
    name = f"{after['tenant']}/{after['name']}"
    days = set(after["excludes"])
    if before is None:
        return f"Created {name}: {count_text(len(days), 'day')}."
    if before["revision"] == after["revision"]:
        return f"{name} says so already; nothing changed."
    known = set(before["excludes"])
    added, dropped = len(days - known), len(known - days)
    return (
        f"Set {name}: {count_text(len(days), 'day')} ({added:,} added, {dropped:,} dropped). "
        "Its triggers follow at once."
    )
