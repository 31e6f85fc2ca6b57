"""`punctual grants`: what each principal may do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from punctual.commands.common import (
    api_options,
    connected,
    hint_more,
    inherited,
    json_option,
    limit_option,
)
from punctual.commands.naming import check_tenant, path_of
from punctual.commands.tables import Column, print_table
from punctual.saying import hint, say, say_json

if TYPE_CHECKING:
    _Type = click.ParamType[tuple[str, str | None]]
else:
    _Type = click.ParamType  # of no parameter in older releases

KINDS: Final = ("read", "author", "policy", "operator", "auditor")
_COLUMNS: Final = (Column("principal", flexible=12), Column("may"), Column("on"))


class GrantType(_Type):
    """KIND on the platform, or KIND:TENANT."""

    name = "KIND[:TENANT]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str | None]:
        kind, colon, tenant = str(value).partition(":")
        if kind not in KINDS:
            self.fail(f"{kind!r} is no grant; there are {', '.join(KINDS)}", param, ctx)
        if colon and not tenant:
            self.fail(f"{value!r} names no tenant; leave the colon out for all", param, ctx)
        return kind, tenant or None

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(kind) for kind in KINDS if kind.startswith(incomplete)]


GRANT: Final = GrantType()
_principal = click.option(
    "--principal", metavar="NAME", callback=inherited, help="Only this principal's."
)


@click.group(invoke_without_command=True)
@_principal
@limit_option
@api_options
@json_option
@click.pass_context
def grants(
    ctx: click.Context,
    principal: str | None,
    limit: int | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List who may do what, or change it.

    The grants are read, author, policy, operator and auditor, on one tenant or on the platform.
    """
    if ctx.invoked_subcommand is None:
        _list(principal, limit, data, server, as_json)


@grants.command(name="list")
@_principal
@limit_option
@api_options
@json_option
def list_grants(
    principal: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    """List who may do what."""
    _list(principal, limit, data, server, as_json)


@grants.command()
@click.argument("principal")
@click.argument("grant", type=GRANT)
@api_options
@json_option
def add(
    principal: str,
    grant: tuple[str, str | None],
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Let a principal do more. It holds for all of its tokens."""
    body = _change("PUT", principal, grant, data, server)
    if as_json:
        say_json(body)
        return
    if body["change"] == "unchanged":
        say(f"{principal} may {grant_text(*grant)} already; nothing changed.")
        return
    say(f"{principal} may {grant_text(*grant)} from now on.")


@grants.command()
@click.argument("principal")
@click.argument("grant", type=GRANT)
@api_options
@json_option
def remove(
    principal: str,
    grant: tuple[str, str | None],
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Take a grant away. It holds for all of the principal's tokens."""
    body = _change("DELETE", principal, grant, data, server)
    if as_json:
        say_json(body)
        return
    say(f"{principal} may {grant_text(*grant)} no more; other processes within seconds.")


def grant_text(kind: str, tenant: str | None) -> str:
    """`author on acme`."""
    return f"{kind} on {'the platform' if tenant is None else tenant}"


def _change(
    method: str,
    principal: str,
    grant: tuple[str, str | None],
    data: Path,
    server: str | None,
) -> Any:
    kind, tenant = grant
    with connected(data, server) as client:
        check_tenant(client, tenant, field="grant")
        path = path_of("principals", principal, "grants", kind)
        return client.send(method, path, params={"tenant": tenant})


def _list(
    principal: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    with connected(data, server) as client:
        found = list(client.pages("/v1/grants", limit=limit, principal=principal))
    if as_json:
        say_json(found)
        return
    if not found:
        hint("No grants." if principal is None else f"{principal} may do nothing.")
        return
    rows = [(each["principal"], each["kind"], each["tenant"] or "the platform") for each in found]
    print_table(_COLUMNS, rows)
    hint_more(len(found), limit)
