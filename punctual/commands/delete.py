"""`punctual delete`: the end of a trigger."""

from pathlib import Path

import click

from punctual.commands.asking import confirmed
from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    note_option,
    tenant_option,
    yes_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.naming import find_trigger, trigger_path
from punctual.commands.pause import waiting_fires
from punctual.commands.wording import count_text
from punctual.saying import say, say_json


@click.command()
@click.argument("trigger", shell_complete=complete_trigger)
@note_option("Why, for the audit.")
@yes_option
@tenant_option
@api_options
@json_option
def delete(
    trigger: str,
    note: str | None,
    yes: bool,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """End a trigger for good.

    Fires that wait are stopped; its rows stay, and `why` still tells of them by its id. A trigger
    that is made again under the name is another one. On a terminal what it stops is shown and
    asked about first.
    """
    with connected(data, server) as client:
        found = find_trigger(client, trigger, tenant)
        waiting = waiting_fires(client, found)
        stops = f" and stops {count_text(waiting, 'waiting fire')}" if waiting else ""
        is_asked = confirmed(f"Deleting {found.shown} ends it for good{stops}.", yes=yes)
        body = client.send(
            "DELETE",
            trigger_path(found),
            params={"note": note},
            etag=found.etag if is_asked else None,
        )
    if as_json:
        say_json(body)
        return
    left = body["still_waiting"]
    stopped = max(body["stopped_fires"], waiting - left)
    told = f"; stopped {count_text(stopped, 'waiting fire')}" if stopped else ""
    more = f", and {left:,} more follow within seconds of a running `punctual up`" if left else ""
    say(f"Deleted {found.shown} ({body['trigger_id']}){told}{more}. Its fires stay on record.")
