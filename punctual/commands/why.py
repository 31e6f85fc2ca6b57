"""`punctual why`: the one sentence about an instant, as the API tells it."""

from pathlib import Path
from typing import Any

import click

from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    tenant_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.reading import read_trigger
from punctual.saying import say, say_json


@click.command(name="why")
@click.argument("trigger", shell_complete=complete_trigger)
@click.argument("instant", required=False)
@tenant_option
@api_options
@json_option
def why_command(
    trigger: str,
    instant: str | None,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Say in one sentence why a trigger fired, or did not, or has not yet.

    TRIGGER is a name, TENANT/NAME, or TENANT/ID of one that was deleted. INSTANT is as
    2026-12-24T17:00:00Z, or a local time of the trigger's zone; without it the newest fire and the
    next instant are told.
    """
    with connected(data, server) as client:
        found = read_trigger(client, trigger, tenant, "why", instant=instant)
    if as_json:
        say_json(found)
        return
    for answer in found["answers"]:
        lead = _lead(answer["about"], zone=found["zone"], instant=instant)
        say(f"{lead}{answer['sentence']}")


def _lead(about: Any, *, zone: str, instant: str | None) -> str:
    if about == "asked":
        return ""
    if about == "after_gap":
        return f"The clock in {zone} skips {instant}; the first instant after it: "
    return str(about).replace("_", " ").capitalize() + ": "
