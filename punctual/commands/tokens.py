"""`punctual token`: who may call the API."""

from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.asking import confirmed
from punctual.commands.common import (
    api_options,
    connected,
    hint_more,
    json_option,
    limit_option,
    yes_option,
)
from punctual.commands.grants import GRANT, grant_text
from punctual.commands.naming import path_of
from punctual.commands.tables import Cell, Column, print_table
from punctual.commands.wording import instant_text
from punctual.saying import hint, say, say_json

_COLUMNS: Final = (
    Column("token"),
    Column("principal", flexible=12),
    Column("state"),
    Column("expires (UTC)"),
    Column("made by", flexible=12, droppable=1),
    Column("made (UTC)", droppable=2),
)
_STYLES: Final = {"expired": "yellow", "revoked": "red"}


@click.group()
@api_options
@json_option
def token(data: Path, server: str | None, as_json: bool) -> None:
    """Make, list and revoke the tokens that callers of the API send."""


@token.command()
@click.option(
    "--principal",
    required=True,
    metavar="NAME",
    help="Whose it is, as the audit names them: ci, billing@example.com.",
)
@click.option(
    "--grant",
    "grants",
    multiple=True,
    type=GRANT,
    help="What the principal may do, on one tenant or (without one) on the platform; as often as "
    "needed. Left out: what it holds already.",
)
@click.option("--expires", metavar="DURATION", help="As in 90d; without it, when it is revoked.")
@api_options
@json_option
def create(
    principal: str,
    grants: tuple[tuple[str, str | None], ...],
    expires: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Make a token of a principal. It is shown this once: only its hash is kept.

    The grants are read, author (definitions, pause, resume, run, cancel), policy (horizon, quota),
    operator (tenants, tokens, grants, hosts) and auditor; each other kind includes read. A token
    acts with all that its principal holds.
    """
    wanted: dict[str, Any] = {
        "principal": principal,
        "grants": [{"kind": kind, "tenant": tenant} for kind, tenant in grants],
    }
    if expires is not None:
        wanted["expires_in"] = expires
    with connected(data, server) as client:
        body = client.send("POST", "/v1/tokens", wanted)
    if as_json:
        say_json(body)
        return
    say(body["token"])
    until = "until it is revoked"
    if body["expires_at"] is not None:
        until = f"until {instant_text(body['expires_at'])}"
    may = ", ".join(grant_text(kind, tenant) for kind, tenant in grants) or "what it held before"
    hint(
        f"Token {body['token_id']} of {principal} is good {until}, and shown this once. "
        f"{principal} may: {may}."
    )


@token.command(name="list")
@click.option("--all", "with_ended", is_flag=True, help="Also those that are revoked or expired.")
@limit_option
@api_options
@json_option
def list_tokens(
    with_ended: bool, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    """List tokens, newest first, without their secrets."""
    with connected(data, server) as client:
        rows = client.pages("/v1/tokens")
        wanted = (each for each in rows if with_ended or each["state"] == "good")
        found = list(islice(wanted, limit))
    if as_json:
        say_json(found)
        return
    print_table(_COLUMNS, [_cells(each) for each in found])
    hint_more(len(found), limit)


@token.command()
@click.argument("token_id")
@yes_option
@api_options
@json_option
def revoke(token_id: str, yes: bool, data: Path, server: str | None, as_json: bool) -> None:
    """Revoke a token for good, by the id that `punctual token list` shows."""
    with connected(data, server) as client:
        confirmed(f"Revoking {token_id} ends it for good.", yes=yes)
        body = client.send("POST", f"{path_of('tokens', token_id)}:revoke")
    if as_json:
        say_json(body)
        return
    if body["change"] == "unchanged":
        say(f"{token_id} was revoked already; nothing changed.")
        return
    say(f"Revoked {token_id}: nothing accepts it from now on, other processes within seconds.")


def _cells(each: Any) -> list[str | Cell]:
    return [
        each["token_id"],
        each["principal"],
        Cell(each["state"], _STYLES.get(each["state"], "")),
        instant_text(each["expires_at"]) or "never",
        each["created_by"],
        instant_text(each["created_at"]),
    ]
