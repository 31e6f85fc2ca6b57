"""`punctual pause` and `punctual resume`: stop triggers, and let them go on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from punctual.commands.asking import confirmed
from punctual.commands.batch import Doing, do_all, is_one
from punctual.commands.common import (
    api_options,
    connected,
    json_option,
    note_option,
    tenant_option,
    yes_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.naming import Named, select_triggers, trigger_path
from punctual.commands.wording import count_text, moment_text
from punctual.saying import say, say_json

if TYPE_CHECKING:
    from punctual.client import ApiClient

_RULES: Final = ("drop", "fire_once_now", "fire_all", "skip")


@click.command()
@click.argument(
    "triggers", metavar="TRIGGER...", nargs=-1, required=True, shell_complete=complete_trigger
)
@note_option("Why; shown wherever the trigger is.")
@yes_option
@tenant_option
@api_options
@json_option
def pause(
    triggers: tuple[str, ...],
    note: str | None,
    yes: bool,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Stop triggers until they are resumed.

    TRIGGER is a name, TENANT/NAME, or a pattern such as "acme/report-*". Nothing of it is decided
    or sent from now on; fires that wait already are stopped. On a terminal their number is shown
    and asked about first. The resume says what becomes of the paused time.
    """
    with connected(data, server) as client:
        found = select_triggers(client, triggers, tenant)
        doing = Doing(
            "pause",
            lambda each, etag: _post(client, each, "pause", {"note": note}, etag),
            lambda each: waiting_fires(client, each),
        )
        if not is_one(triggers):
            do_all(doing, found, yes=yes, as_json=as_json)
            return
        (trigger,) = found
        waiting = waiting_fires(client, trigger)
        etag = None
        if waiting:
            stops = count_text(waiting, "waiting fire")
            if confirmed(f"Pausing {trigger.shown} stops {stops}.", yes=yes):
                etag = trigger.etag
        body = doing.act(trigger, etag)
    if as_json:
        say_json(body)
        return
    say(_paused_text(trigger, body, waiting))


@click.command()
@click.argument(
    "triggers", metavar="TRIGGER...", nargs=-1, required=True, shell_complete=complete_trigger
)
@click.option(
    "--policy",
    type=click.Choice(_RULES),
    default=_RULES[0],
    show_default=True,
    help="What becomes of the instants of the paused time.",
)
@note_option("Why, for the audit.")
@yes_option
@tenant_option
@api_options
@json_option
def resume(
    triggers: tuple[str, ...],
    policy: str,
    note: str | None,
    yes: bool,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """End a pause, or a quarantine whose cause is gone.

    TRIGGER is a name, TENANT/NAME, or a pattern such as "acme/report-*". The policy says what
    becomes of the paused time: drop (nothing fires), fire_once_now (one fire for all of it),
    fire_all (every instant, at the catch-up rate), or skip.
    """
    wanted = {"policy": policy, "note": note}
    with connected(data, server) as client:
        found = select_triggers(client, triggers, tenant)
        doing = Doing("resume", lambda each, etag: _post(client, each, "resume", wanted, etag))
        if not is_one(triggers):
            do_all(doing, found, yes=yes, as_json=as_json)
            return
        (trigger,) = found
        body = doing.act(trigger, None)
    if as_json:
        say_json(body)
        return
    say(_resumed_text(trigger, body, policy=policy))


def waiting_fires(client: "ApiClient", trigger: Named) -> int:
    """Fires that wait, with those of gaps still to be planned."""
    found = client.get("/v1/backlog", tenant=trigger.tenant, trigger=trigger.name)
    return sum(int(lane["waiting"]) for lane in found["lanes"])


def _post(
    client: "ApiClient", trigger: Named, act: str, body: dict[str, Any], etag: str | None
) -> Any:
    given = {key: value for key, value in body.items() if value is not None}
    return client.send("POST", f"{trigger_path(trigger)}:{act}", given, etag=etag)


def _paused_text(trigger: Named, body: Any, waiting: int) -> str:
    name = trigger.shown
    if body["change"] == "unchanged":
        note = body["trigger"]["pause_note"]
        return f"{name} was paused already{f' ({note})' if note else ''}; nothing changed."
    left = body["still_waiting"]
    stopped = max(body["stopped_fires"], waiting - left)  # the answer leaves gaps out
    text = f"Paused {name} from {moment_text(_zone(body), body['since'])} on"
    if stopped:
        text += f"; stopped {count_text(stopped, 'waiting fire')}"
    if left:
        text += f", and {left:,} more follow within seconds of a running `punctual up`"
    return f"{text}. Go on with `punctual resume {name}`."


def _resumed_text(trigger: Named, body: Any, *, policy: str) -> str:
    name, next_at = trigger.shown, body["trigger"]["next_due_at"]
    ahead = "it has no instant left"
    if next_at is not None:
        ahead = f"next at {moment_text(_zone(body), next_at)}"
    if body["change"] == "unchanged":
        return f"{name} was not paused; nothing changed, {ahead}."
    if trigger.body["state"] == "quarantined":
        return f"Resumed {name} after its quarantine: {ahead}."
    return f"Resumed {name} with {policy} for the paused time: {ahead}."


def _zone(body: Any) -> str:
    return str(body["trigger"]["definition"]["zone"])
