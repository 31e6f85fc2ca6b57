"""`punctual quota` and `punctual horizon`: what a tenant may have, and how far back one reaches.

Both need the grant `policy`, which whoever may edit a trigger does not have by that alone.
"""

from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    note_option,
    options_named,
    tenant_option,
)
from punctual.commands.completing import complete_tenant, complete_trigger
from punctual.commands.naming import check_tenant, find_trigger, path_of, trigger_path
from punctual.commands.tables import Column, print_table
from punctual.saying import say, say_json

_COLUMNS: Final = (Column("quota"), Column("is", right=True))
_WORDS: Final = {
    "quota_triggers": "triggers",
    "quota_dispatch_per_s": "fires per second",
    "quota_inflight": "attempts in flight",
    "catchup_rate_pct": "percent for catch-up",
}
_OPTIONS: Final = {
    "quota_triggers": "--triggers",
    "quota_dispatch_per_s": "--dispatch-per-s",
    "quota_inflight": "--inflight",
    "catchup_rate_pct": "--catchup-rate-pct",
}
_AT_LEAST_ONE: Final = click.IntRange(min=1)


@click.command()
@click.argument("tenant", shell_complete=complete_tenant)
@click.option("--triggers", "quota_triggers", type=_AT_LEAST_ONE, help="Triggers at most.")
@click.option(
    "--dispatch-per-s", "quota_dispatch_per_s", type=_AT_LEAST_ONE, help="Fires per second at most."
)
@click.option("--inflight", "quota_inflight", type=_AT_LEAST_ONE, help="Attempts at once at most.")
@click.option(
    "--catchup-rate-pct",
    "catchup_rate_pct",
    type=click.IntRange(1, 100),
    help="How much of the rate catch-up may take.",
)
@api_options
@json_option
def quota(tenant: str, data: Path, server: str | None, as_json: bool, **quotas: int | None) -> None:
    """Show what a tenant may have and send, or set it.

    What is left out stays as it is.
    """
    wanted = {key: value for key, value in quotas.items() if value is not None}
    with connected(data, server) as client:
        check_tenant(client, tenant, field="tenant")
        path = path_of("tenants", tenant)
        before, etag = client.read(path)
        after = before
        if wanted:
            with options_named(_OPTIONS):
                after = client.send("PUT", f"{path}/quota", wanted, etag=etag)
    if as_json:
        say_json(after)
        return
    if not wanted:
        print_table(_COLUMNS, [(word, f"{after[key]:,}") for key, word in _WORDS.items()])
        return
    changes = [
        f"{word} {before[key]:,} → {after[key]:,}"
        for key, word in _WORDS.items()
        if before[key] != after[key]
    ]
    if not changes:
        say(f"{tenant} has these quotas already; nothing changed.")
        return
    say(f"Set {tenant}: {', '.join(changes)}.")


@click.command()
@click.argument("trigger", shell_complete=complete_trigger)
@click.argument("duration", metavar="DURATION|default")
@note_option("Why, for the audit.")
@tenant_option
@api_options
@json_option
def horizon(
    trigger: str,
    duration: str,
    note: str | None,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Set how far back catch-up of a trigger may reach after an outage.

    DURATION is as in 90s, 15m, 6h, 2d or 1h30m. What was missed longer ago than that expires, and
    `why` says so.
    """
    body: dict[str, Any] = {"horizon": None if duration == "default" else duration}
    if note is not None:
        body["note"] = note
    with connected(data, server) as client:
        found = find_trigger(client, trigger, tenant)
        answer = client.send("PUT", f"{trigger_path(found)}/horizon", body, etag=found.etag)
    if as_json:
        say_json(answer)
        return
    after = answer["trigger"]
    if answer["change"] == "unchanged":
        say(f"{found.shown} has the horizon {_horizon_text(after)} already.")
        return
    say(f"Set the horizon of {found.shown}: {_horizon_text(found.body)} → {_horizon_text(after)}.")


def _horizon_text(trigger: Any) -> str:
    return f"{trigger['definition']['horizon']} ({trigger['horizon_source']})"
