"""`punctual targets allow`, `disallow` and `allowed`: hosts that an operator vouches for."""

from pathlib import Path
from typing import Final

import click

from punctual.commands.common import (
    api_options,
    connected,
    hint_more,
    inherited,
    json_option,
    limit_option,
    note_option,
)
from punctual.commands.completing import complete_tenant
from punctual.commands.naming import check_tenant, path_of
from punctual.commands.tables import Column, print_table
from punctual.commands.wording import instant_text
from punctual.saying import hint, say, say_json

_COLUMNS: Final = (
    Column("host"),
    Column("tenant"),
    Column("allowed by", flexible=12),
    Column("at (UTC)", droppable=1),
)
_tenant = click.option(
    "--tenant",
    metavar="TENANT",
    callback=inherited,
    shell_complete=complete_tenant,
    help="For this tenant's targets alone; without it, for all.",
)


@click.command()
@click.argument("host")
@_tenant
@note_option("Why, for the audit.")
@api_options
@json_option
def allow(
    host: str,
    tenant: str | None,
    note: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Vouch for a host: targets on it need no proof of their owner."""
    with connected(data, server) as client:
        check_tenant(client, tenant)
        body = client.send(
            "PUT",
            path_of("allowed-hosts", host),
            {} if note is None else {"note": note},
            params={"tenant": tenant},
        )
    if as_json:
        say_json(body)
        return
    if body["change"] == "unchanged":
        say(f"{host} was allowed for {_whose(tenant)} already; nothing changed.")
        return
    say(f"Allowed {host} for {_whose(tenant)}.")


@click.command()
@click.argument("host")
@_tenant
@note_option("Why, for the audit.")
@api_options
@json_option
def disallow(
    host: str,
    tenant: str | None,
    note: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Take a host off the list: targets that rested on it have to be proven."""
    with connected(data, server) as client:
        check_tenant(client, tenant)
        params = {"tenant": tenant, "note": note}
        body = client.send("DELETE", path_of("allowed-hosts", host), params=params)
    if as_json:
        say_json(body)
        return
    say(f"{host} is not vouched for any more for {_whose(tenant)}.")


@click.command()
@limit_option
@api_options
@json_option
def allowed(limit: int | None, data: Path, server: str | None, as_json: bool) -> None:
    """List the hosts that operators vouch for."""
    with connected(data, server) as client:
        found = list(client.pages("/v1/allowed-hosts", limit=limit))
    if as_json:
        say_json(found)
        return
    if not found:
        hint("Nobody vouches for any host: every target's host has to prove its owner.")
        return
    rows = [
        (
            each["host"],
            each["tenant"] or "(all)",
            each["allowed_by"],
            instant_text(each["allowed_at"]),
        )
        for each in found
    ]
    print_table(_COLUMNS, rows)
    hint_more(len(found), limit)


def _whose(tenant: str | None) -> str:
    return "all tenants" if tenant is None else tenant
