"""`punctual events`: the log of events, a page of it or as it grows."""

import time
from collections import deque
from collections.abc import Callable, Iterator
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
from punctual.commands.reading import PAGE_ROWS, scoped
from punctual.commands.steady import POLL_S, SteadyReader, steady_reader
from punctual.commands.tables import Column, is_terminal, print_table
from punctual.saying import hint, say, say_json, say_json_line
from scheduling.instants import from_text

_LIMIT_MAX: Final = 10_000
_OF_TENANT_SEARCHED: Final = 5_000  # of the newest events, for those of one tenant
_NO_OFFSET: Final = 2**53 - 1  # beyond every event: asks for the bounds of the log alone
_COLUMNS: Final = (
    Column("offset", right=True),
    Column("at (UTC)", droppable=1),
    Column("event", droppable=2),
    Column("trigger"),
    Column("what", flexible=16),
)
_Ask = Callable[..., Any]


@click.command()
@tenant_option
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
@api_options
@json_option
def events(
    tenant: str | None,
    after: int | None,
    limit: int,
    follow: bool,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List what changed, as a relay published it: changes of triggers and states of fires.

    The offset of the last event that was read says where to go on. The log keeps the newest
    500,000 events. An event may come again under its id. Times are UTC.
    """
    if follow:
        with steady_reader(data, server) as reader, scoped(reader.client, tenant):
            _follow(reader, tenant, after=after, as_json=as_json)
        return
    with connected(data, server) as client, scoped(client, tenant):

        def ask(**params: Any) -> Any:
            return client.get("/v1/events", tenant=tenant, **params)

        # Without a tenant too the log may hold what the caller is not told of, of others.
        is_part = tenant is not None or len(list(client.pages("/v1/tenants", limit=2))) == 1
        _show(ask, tenant, is_part=is_part, after=after, limit=limit, as_json=as_json)


def published(ask: _Ask, *, after: int, wait: Callable[[], None]) -> Iterator[Any]:
    """Every event after an offset; `wait` between looks that found nothing."""
    while True:
        page = ask(after=after, limit=PAGE_ROWS)
        _tell_forgotten(after, page["kept_after"])
        yield from page["items"]
        reached = max(page["next_after"], page["kept_after"])
        if reached == after:
            wait()
        after = reached


def _show(
    ask: _Ask,
    tenant: str | None,
    *,
    is_part: bool,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    kept = ask(after=_NO_OFFSET, limit=1)
    if after is None:
        back = max(limit, _OF_TENANT_SEARCHED) if is_part else limit
        start = max(kept["kept_after"], kept["kept_through"] - back)
        found = list(deque(_up_to(ask, start, kept["kept_through"], limit=back), maxlen=limit))
    else:
        _tell_forgotten(after, kept["kept_after"])
        found = list(_up_to(ask, after, kept["kept_through"], limit=limit))
    if as_json:
        say_json(found)
    elif found:
        print_table(_COLUMNS, [_cells(each) for each in found])
    elif after is None and tenant is None:
        hint("No events: `punctual up` or `punctual relay` publishes what changes.")
    else:
        hint("No events match.")
    if after is not None and len(found) == limit and found[-1]["offset"] < kept["kept_through"]:
        hint(f"(more with --after {found[-1]['offset']})")


def _up_to(ask: _Ask, after: int, through: int, *, limit: int) -> Iterator[Any]:
    """Events after one offset through another, at most `limit`."""
    while limit > 0 and after < through:
        page = ask(after=after, limit=min(PAGE_ROWS, limit))
        limit -= len(page["items"])
        yield from page["items"]
        if page["next_after"] == after:
            return
        after = page["next_after"]


def _follow(reader: SteadyReader, tenant: str | None, *, after: int | None, as_json: bool) -> None:
    def ask(**params: Any) -> Any:
        return reader.get("/v1/events", tenant=tenant, **params)

    start = ask(after=_NO_OFFSET, limit=1)["kept_through"] if after is None else after
    if is_terminal():
        hint("Waiting for events; times are UTC; Ctrl-C ends.")
    for each in published(ask, after=start, wait=lambda: time.sleep(POLL_S)):
        if as_json:
            say_json_line(each)
        else:
            say("  ".join(_cells(each)))


def _tell_forgotten(after: int, kept_after: int) -> None:
    if after < kept_after:
        hint(f"(events {after + 1:,} to {kept_after:,} are no longer kept)")


def _cells(event: Any) -> list[str]:
    body = event["body"]
    name = body.get("trigger") or body.get("name") or event["trigger_id"]
    what = _fire_text(body) if "fire_key" in body else _trigger_text(body)
    return [
        str(event["offset"]),
        utc_text(from_text(event["at"])),
        event["event"],
        f"{event['tenant']}/{name}",
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
