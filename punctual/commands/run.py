"""`punctual run` and `punctual cancel`: one fire by hand, and the end of one that waits."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from punctual.commands.common import (
    Refusal,
    api_options,
    connected,
    json_option,
    note_option,
    tenant_option,
)
from punctual.commands.completing import complete_trigger
from punctual.commands.naming import find_trigger, path_of, trigger_path
from punctual.saying import hint, say, say_json

_PAYLOAD: Final = "--payload"


@click.command()
@click.argument("trigger", shell_complete=complete_trigger)
@click.option("--force", is_flag=True, help="Also beside a run that is under way.")
@click.option(
    _PAYLOAD,
    metavar="FILE|JSON",
    help="In place of the trigger's own, for this run: a file, JSON itself, or - for stdin.",
)
@note_option("Why, for the audit.")
@tenant_option
@api_options
@json_option
def run(
    trigger: str,
    force: bool,
    payload: str | None,
    note: str | None,
    tenant: str | None,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Fire a trigger once, now, beside its schedule.

    It is accepted at once and sent by the running service. A paused trigger can be run too. Where
    the trigger's overlap policy allows one run at a time, a run under way refuses this one, unless
    --force is given.
    """
    body: dict[str, Any] = {"force": True} if force else {}
    if note is not None:
        body["note"] = note
    if payload is not None:
        body["payload"] = _payload(payload)
    with connected(data, server) as client:
        found = find_trigger(client, trigger, tenant)
        answer = client.send("POST", f"{trigger_path(found)}:run", body)
        is_served = client.is_served
    if as_json:
        say_json(answer)
        return
    say(
        f"Running {found.shown} now: {answer['fire_key']}. "
        f"What comes of it: `punctual fires {found.shown}`."
    )
    if not is_served:
        hint("No service runs on this folder: it is sent once `punctual up` starts.")


@click.command()
@click.argument("fire_key")
@note_option("Why, for the audit.")
@api_options
@json_option
def cancel(fire_key: str, note: str | None, data: Path, server: str | None, as_json: bool) -> None:
    """Stop one fire that waits.

    FIRE_KEY is as `punctual fires --json` and `punctual run` show it. What is under way is not
    called back, and what has ended stays as it ended.
    """
    with connected(data, server) as client:
        body = {} if note is None else {"note": note}
        answer = client.send("POST", f"{path_of('fires', fire_key)}:cancel", body)
    if as_json:
        say_json(answer)
        return
    fire = answer["fire"]
    whose = f"{fire['tenant']}/{fire['trigger']}"
    why = f" ({fire['cause']})" if fire["cause"] else ""
    if answer["change"] == "unchanged":
        say(f"The fire of {whose} had ended as {fire['state']}{why}; nothing changed.")
        return
    say(
        f"Cancelled the fire of {whose} at {fire['scheduled_local']}: it ends as "
        f"{fire['state']}{why}."
    )


def _payload(text: str) -> Any:
    """What is sent: JSON of stdin, of a file, or of the text itself."""
    where, content = _PAYLOAD, text
    try:
        if text == "-":
            where, content = "stdin", sys.stdin.read()
        elif Path(text).is_file():
            where, content = text, Path(text).read_text(encoding="utf-8")
        return json.loads(content, parse_constant=_refused)
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{_PAYLOAD}: {where} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        what = "is neither a file nor JSON" if where == _PAYLOAD else f"{where} holds no JSON"
        raise Refusal(f"{_PAYLOAD}: {what} ({error}); quote a text, as in '\"text\"'") from error


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
