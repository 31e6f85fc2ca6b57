"""`punctual audit`: who did what, to what, and when."""

import json
from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import utc_text
from punctual.commands.common import api_options, connected, json_option, tenant_option
from punctual.commands.fire_filter import read_window
from punctual.commands.reading import parts_of, scoped
from punctual.commands.streams import FixedTable, print_json_items, print_parts, watched
from punctual.commands.tables import Cell, Column
from punctual.saying import hint
from scheduling.instants import from_text

_VALUE_CHARS: Final = 60
_COLUMNS: Final = (
    Column("at (UTC)"),
    Column("actor"),
    Column("action"),
    Column("subject", flexible=16),
    Column("note", flexible=16),
)


@click.command()
@tenant_option
@click.option("--actor", metavar="PRINCIPAL", help="Only what this principal did.")
@click.option(
    "--action",
    "actions",
    multiple=True,
    metavar="ACTION",
    help="Only this act, or these, as in trigger_paused.",
)
@click.option("--subject", metavar="NAME", help="Only what was done to this.")
@click.option(
    "--from", "from_text", metavar="T", help="Not before: an instant, a date, or 2h (ago)."
)
@click.option("--to", "to_text", metavar="T", help="Not after; a date means all of that day.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=50,
    show_default=True,
    help="At most so many entries.",
)
@api_options
@json_option
def audit(
    tenant: str | None,
    actor: str | None,
    actions: tuple[str, ...],
    subject: str | None,
    from_text: str | None,
    to_text: str | None,
    limit: int,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List what people and owners did, newest first.

    A name TENANT/SUBJECT may be given to --subject. Times are UTC.
    """
    if subject is not None and tenant is None and "/" in subject:
        tenant, _, subject = subject.partition("/")
    since, through = read_window(from_text, to_text, zone="UTC")
    wanted = {
        "tenant": tenant,
        "actor": actor,
        "action": actions,
        "subject": subject,
        "since": since,
        "through": through,
    }
    with connected(data, server) as client, scoped(client, tenant):
        parts = watched(parts_of(client, "/v1/audit", limit=limit, params=wanted), noun="the audit")
        if as_json:
            print_json_items(parts)
            return
        count = print_parts(parts, lambda first: FixedTable(_COLUMNS, _cells))
    if not count:
        hint("No entries match." if any(wanted.values()) else "The audit is empty.")
    elif count >= limit:
        hint(f"(the newest {count:,}; more with --limit or --to)")


def _cells(entry: Any) -> list[str | Cell]:
    subject = entry["subject"] or ""
    if entry["tenant"] and subject not in ("", entry["tenant"]):
        subject = f"{entry['tenant']}/{subject}"
    at = utc_text(from_text(entry["at"]))
    told = [entry["note"] or "", *map(_change_text, entry["changes"])]
    return [at, entry["actor"], entry["action"], subject, "; ".join(filter(None, told))]


def _change_text(change: Any) -> str:
    """`quota_inflight 100 → 7`."""
    return f"{change['field']} {_value_text(change['prior'])} → {_value_text(change['new'])}"


def _value_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
