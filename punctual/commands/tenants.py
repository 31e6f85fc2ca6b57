"""`punctual tenants`: who shares the service, and what each may have."""

from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.asking import confirmed, stands_at_terminal
from punctual.commands.common import (
    api_options,
    connected,
    hint_more,
    json_option,
    limit_option,
)
from punctual.commands.completing import complete_tenant
from punctual.commands.naming import check_tenant, path_of, read_or_none
from punctual.commands.tables import Column, print_table
from punctual.saying import hint, say, say_json

_COLUMNS: Final = (
    Column("tenant"),
    Column("triggers", right=True),
    Column("fires per s", right=True),
    Column("in flight", right=True),
    Column("catch-up", right=True),
    Column("smear", right=True, droppable=1),
)


@click.group(invoke_without_command=True)
@limit_option
@api_options
@json_option
@click.pass_context
def tenants(
    ctx: click.Context, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    """List tenants with their quotas, or make one.

    Quotas are set by `punctual quota`.
    """
    if ctx.invoked_subcommand is None:
        _list(limit, data, server, as_json)


@tenants.command(name="list")
@limit_option
@api_options
@json_option
def list_tenants(limit: int | None, data: Path, server: str | None, as_json: bool) -> None:
    """List tenants with their quotas."""
    _list(limit, data, server, as_json)


@tenants.command()
@click.argument("tenant", shell_complete=complete_tenant)
@api_options
@json_option
def show(tenant: str, data: Path, server: str | None, as_json: bool) -> None:
    """Show one tenant."""
    with connected(data, server) as client:
        check_tenant(client, tenant, field="tenant")
        body = client.get(path_of("tenants", tenant))
    if as_json:
        say_json(body)
        return
    print_table(_COLUMNS, [_cells(body)])


@tenants.command()
@click.argument("tenant", shell_complete=complete_tenant)
@click.option(
    "--smear-s",
    type=click.IntRange(min=0),
    help="Of triggers that name none; left out it stays as it is.",
)
@api_options
@json_option
def put(tenant: str, smear_s: int | None, data: Path, server: str | None, as_json: bool) -> None:
    """Create a tenant with the default quotas, or set its default smear."""
    wanted = {} if smear_s is None else {"smear_s": smear_s}
    path = path_of("tenants", tenant)
    with connected(data, server) as client:
        before = read_or_none(client, path)
        after = client.send("PUT", path, wanted, etag=None if before is None else before.etag)
    if as_json:
        say_json(after)
        return
    if before is None:
        say(f"Created {tenant}: {_quotas_text(after)}.")
    elif before.body["smear_s"] == after["smear_s"]:
        say(f"{tenant} is there already; nothing changed.")
    else:
        say(f"Set {tenant}: smear {before.body['smear_s']} s → {after['smear_s']} s.")


@tenants.command(name="delete-payloads")
@click.argument("tenant", shell_complete=complete_tenant)
@click.option("--yes", is_flag=True, help="Do it without being asked.")
@api_options
@json_option
def delete_payloads(tenant: str, yes: bool, data: Path, server: str | None, as_json: bool) -> None:
    """Delete a tenant's key: its payloads and signing secrets can never be read again.

    Fires that carry a payload end as cancelled, and triggers have to be put again. A backup that
    was made before still holds the key.
    """
    if not yes and not stands_at_terminal():
        raise click.UsageError("This cannot be undone: say --yes where nobody can be asked.")
    with connected(data, server) as client:
        check_tenant(client, tenant, field="tenant")
        confirmed(f"This deletes every payload and secret of {tenant}, for good.", yes=yes)
        body = client.send("POST", path_of("tenants", tenant) + "/payload-key:delete")
    if as_json:
        say_json(body)
        return
    say(f"Deleted the key of {tenant}: its payloads and secrets cannot be read any more.")


def _list(limit: int | None, data: Path, server: str | None, as_json: bool) -> None:
    with connected(data, server) as client:
        found = list(client.pages("/v1/tenants", limit=limit))
    if as_json:
        say_json(found)
        return
    if not found:
        hint("No tenants yet: make one with `punctual tenants put TENANT`.")
        return
    print_table(_COLUMNS, [_cells(each) for each in found])
    hint_more(len(found), limit)


def _cells(tenant: Any) -> list[str]:
    return [
        tenant["tenant"],
        f"{tenant['quota_triggers']:,}",
        f"{tenant['quota_dispatch_per_s']:,}",
        f"{tenant['quota_inflight']:,}",
        f"{tenant['catchup_rate_pct']} %",
        f"{tenant['smear_s']} s",
    ]


def _quotas_text(tenant: Any) -> str:
    return (
        f"up to {tenant['quota_triggers']:,} triggers, {tenant['quota_dispatch_per_s']:,} fires "
        f"per second, {tenant['quota_inflight']:,} in flight"
    )
