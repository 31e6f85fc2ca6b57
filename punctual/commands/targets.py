"""`punctual targets`: where fires go, whose hosts they are, and what their receivers check."""

from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.asking import confirmed
from punctual.commands.common import (
    Refusal,
    api_options,
    connected,
    hint_more,
    json_option,
    limit_option,
    options_named,
    tenant_option,
    yes_option,
)
from punctual.commands.completing import complete_target
from punctual.commands.hosts import allow, allowed, disallow
from punctual.commands.naming import (
    Named,
    check_tenant,
    find_target,
    members_of,
    path_of,
    read_or_none,
)
from punctual.commands.tables import Cell, Column, print_table
from punctual.saying import hint, say, say_json

_COLUMNS: Final = (
    Column("target"),
    Column("endpoint", flexible=24),
    Column("timeout", right=True),
    Column("owner"),
)
_URL_HELP: Final = "Where fires are sent, as in https://example.com/hook."


@click.group(invoke_without_command=True)
@tenant_option
@limit_option
@api_options
@json_option
@click.pass_context
def targets(
    ctx: click.Context,
    tenant: str | None,
    limit: int | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """List targets, or change them.

    Fires go to a target's URL, signed with its secret. A host is used once it has served a text
    that proves its owner, or once an operator vouches for it.
    """
    if ctx.invoked_subcommand is None:
        _list(tenant, limit, data, server, as_json)


@targets.command(name="list")
@tenant_option
@limit_option
@api_options
@json_option
def list_targets(
    tenant: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    """List targets and what is known of their owners."""
    _list(tenant, limit, data, server, as_json)


@targets.command()
@click.argument("target", metavar="TENANT/TARGET", shell_complete=complete_target)
@click.argument("url", metavar="URL")
@click.option("--timeout-s", type=click.IntRange(min=1), help="How long an answer may take.")
@click.option(
    "--secret-file",
    type=click.File(),
    help="The signing secret, as whsec_...; - for stdin. Without it the stored one stays, or one "
    "is made.",
)
@api_options
@json_option
def put(
    target: str,
    url: str,
    timeout_s: int | None,
    secret_file: Any,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Create a target, or set its URL and timeout.

    What is left out stays as it is. Its host is asked at once for the text that proves its owner.
    """
    tenant, slash, name = target.partition("/")
    if not slash or "/" in name:
        raise Refusal(f"target: {target!r} names no tenant: write it as TENANT/TARGET")
    wanted: dict[str, Any] = {"url": url}
    if secret_file is not None:
        wanted["secret"] = secret_file.read().strip()
    with connected(data, server) as client:
        check_tenant(client, tenant, field="target")
        path = path_of("tenants", tenant, "targets", name)
        before = read_or_none(client, path)
        if timeout_s is not None:
            wanted["timeout_s"] = timeout_s
        elif before is not None:
            wanted["timeout_s"] = round(before.body["timeout_s"])
        etag = None if before is None else before.etag
        with options_named({"timeout_s": "--timeout-s", "secret": "--secret-file"}):
            after = client.send("PUT", path, wanted, etag=etag)
    if as_json:
        say_json(after)
    else:
        say(_put_text(None if before is None else before.body, after))
    _tell_ownership(after)


@targets.command()
@click.argument("target", metavar="TENANT/TARGET", shell_complete=complete_target)
@api_options
@json_option
def verify(target: str, data: Path, server: str | None, as_json: bool) -> None:
    """Ask a target's host now whose it is.

    The exit code is 0 where fires are sent there.
    """
    with connected(data, server) as client:
        found = find_target(client, target)
        after = client.send("POST", f"{_path(found)}:verify")
    owner = after["ownership"]
    if as_json:
        say_json(after)
    if not owner["is_usable"]:
        raise Refusal(f"target: {found.shown} is {owner['state']}: {_remedy(after)}")
    if not as_json:
        say(f"{found.shown} is {_owner_text(after)}: fires are sent there.")


@targets.command()
@click.argument("target", metavar="TENANT/TARGET", shell_complete=complete_target)
@api_options
@json_option
def secret(target: str, data: Path, server: str | None, as_json: bool) -> None:
    """Show the signing secret of a target, for its receiver. The audit says who asked."""
    with connected(data, server) as client:
        found = find_target(client, target)
        body = client.get(f"{_path(found)}/secret")
    if as_json:
        say_json(body)
        return
    say(body["secret"])


@targets.command()
@click.argument("target", metavar="TENANT/TARGET", shell_complete=complete_target)
@yes_option
@api_options
@json_option
def delete(target: str, yes: bool, data: Path, server: str | None, as_json: bool) -> None:
    """Delete a target that no trigger uses, and its secret with it."""
    with connected(data, server) as client:
        found = find_target(client, target)
        path = _path(found)
        etag = client.read(path).etag
        url = found.body["url"]
        is_asked = confirmed(f"Deleting {found.shown} ({url}) forgets its secret.", yes=yes)
        body = client.send("DELETE", path, etag=etag if is_asked else None)
    if as_json:
        say_json(body)
        return
    say(f"Deleted {found.shown}.")


for _command in (allow, disallow, allowed):
    targets.add_command(_command)


def _list(
    tenant: str | None, limit: int | None, data: Path, server: str | None, as_json: bool
) -> None:
    with connected(data, server) as client:
        check_tenant(client, tenant)
        found = list(members_of(client, "targets", tenant, limit=limit))
    if as_json:
        say_json([each.body for each in found])
        return
    if not found:
        hint("No targets yet: add one with `punctual targets put TENANT/TARGET URL`.")
        return
    print_table(_COLUMNS, [_cells(each) for each in found])
    hint_more(len(found), limit)


def _cells(target: Named) -> list[str | Cell]:
    is_usable = target.body["ownership"]["is_usable"]
    return [
        target.shown,
        target.body["url"],
        f"{target.body['timeout_s']:g} s",
        Cell(_owner_text(target.body), "" if is_usable else "red"),
    ]


def _path(target: Named) -> str:
    return path_of("tenants", target.tenant, "targets", target.name)


def _put_text(before: Any, after: Any) -> str:
    name = f"{after['tenant']}/{after['name']}"
    if before is None:
        return f"Created {name}: {after['url']}, timeout {after['timeout_s']:g} s."
    changed = [
        f"{word} {_shown(before[key])} → {_shown(after[key])}"
        for word, key in (("url", "url"), ("timeout", "timeout_s"))
        if before[key] != after[key]
    ]
    if before["revision"] == after["revision"]:
        return f"{name} says so already; nothing changed."
    return f"Set {name}: {', '.join(changed) or 'its secret'}."


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g} s"


def _owner_text(target: Any) -> str:
    words = {
        "proven": "proven",
        "allow_listed": "vouched for",
        "local": "on this machine",
        "pending": "not proven",
        "lapsed": "lapsed",
    }
    return words[target["ownership"]["state"]]


def _tell_ownership(target: Any) -> None:
    if not target["ownership"]["is_usable"]:
        hint(f"Nothing is sent there yet: {_remedy(target)}")


def _remedy(target: Any) -> str:
    owner = target["ownership"]
    wanted = owner["detail"] or f"serve `{owner['serve_text']}` at {owner['serve_at']}"
    name = f"{target['tenant']}/{target['name']}"
    return (
        f"{wanted}. Then run `punctual targets verify {name}`, or have an operator run "
        "`punctual targets allow`"
    )
