"""`punctual fires --follow`: each fire as it changes, a line at a time."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from control_api.answers.zone_times import instant_json, local_text
from punctual.commands.common import now_us
from punctual.commands.fire_texts import cause_text, late_text, range_text
from punctual.commands.steady import POLL_S, SteadyReader
from punctual.commands.tables import is_terminal
from punctual.saying import hint, say, say_json_line
from scheduling.instants import from_text

_PAGE_ROWS: Final = 500


def follow_fires(reader: SteadyReader, params: dict[str, Any], *, as_json: bool) -> None:
    """Print until Ctrl-C, or until whoever reads goes away."""
    since = instant_json(now_us())
    if is_terminal():
        hint("Waiting for fires to change, in each trigger's own time; Ctrl-C ends.")

    def ask(cursor: str | None) -> Any:
        return reader.get(
            "/v1/fires", **params, changed_since=since, cursor=cursor, limit=_PAGE_ROWS
        )

    for fire in changes(ask, wait=lambda: time.sleep(POLL_S)):
        if as_json:
            say_json_line(fire)
        else:
            say(_line(fire))
            sys.stdout.flush()


def changes(ask: Callable[[str | None], Any], *, wait: Callable[[], None]) -> Iterator[Any]:
    """Every change once, oldest first; `wait` between looks.

    ask:  gives the page at a cursor; a change of the last moments may stand on several
    """
    cursor = None
    before: dict[str, tuple[str, str]] = {}
    told: dict[str, tuple[str, str]] = {}
    while True:
        page = ask(cursor)
        for fire in page["items"]:
            key, stamp = fire["fire_key"], (fire["changed_at"], fire["state"])
            if stamp not in (before.get(key), told.get(key)):
                yield fire
            told[key] = stamp
        cursor = page["cursor"]
        if len(page["items"]) < _PAGE_ROWS:
            before, told = told, {}
            wait()


def _line(fire: Any) -> str:
    zone, late, tries = fire["zone"], late_text(fire), fire["attempts"]
    parts = (
        f"{local_text(zone, from_text(fire['changed_at'])):<30}",
        f"{fire['tenant']}/{fire['trigger']}",
        fire["scheduled_local"],
        fire["state"],
        range_text(fire),
        cause_text(fire),
        f"late {late}" if late else "",
        f"attempt {tries}" if tries > 1 else "",
    )
    return "  ".join(part for part in parts if part)
