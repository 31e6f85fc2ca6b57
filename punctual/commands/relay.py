"""`punctual relay`: the outbox relay as a process of its own."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import click

from punctual.commands.common import clock, data_option
from punctual.data_folder import DataFolder, open_data_folder
from punctual.logs import LEVELS, configure_logs
from punctual.relay import Relay, relay_until
from punctual.saying import hint, say

_STOPS: Final = (signal.SIGTERM, signal.SIGINT)


@click.command()
@data_option
@click.option("--once", is_flag=True, help="Publish what waits, then end.")
@click.option("--log-level", type=click.Choice(LEVELS), default="warning", show_default=True)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
def relay(data: Path, once: bool, log_level: str, log_json: bool) -> None:
    """Publish what changed to the log of events. Ctrl-C ends it.

    `punctual up` does the same on a thread of its own. Any number of relays may run on a folder,
    and none has to: nothing waits for events, and they wait in the store for a relay.
    """
    configure_logs(level=log_level, as_json=log_json)
    folder = open_data_folder(data, create=False)
    try:
        if once:
            added = publish_all(_relay_of(folder))
            say(f"Published {added:,} {'event' if added == 1 else 'events'}.")
        else:
            _run(folder)
    finally:
        folder.close()


def publish_all(relay: Relay) -> int:
    """Step until nothing is left; how many events were new."""
    added = relay.step()
    while relay.is_behind:
        added += relay.step()
    return added


def _relay_of(folder: DataFolder) -> Relay:
    return Relay(folder.store, folder.events, clock())


def _run(folder: DataFolder) -> None:
    stopping = threading.Event()
    relay = _relay_of(folder)
    # On a thread: a handler runs on the main one, and must not meet the event it sets half held.
    with _stopped_by_signals(stopping), ThreadPoolExecutor(1, "relay") as pool:
        running = pool.submit(relay_until, stopping, relay, data_version=folder.store.data_version)
        hint("Publishing events; Ctrl-C ends.")
        running.result()
    hint("Stopped: what changes from now on waits in the store.")


@contextmanager
def _stopped_by_signals(stopping: threading.Event) -> Iterator[None]:
    """A second signal ends the process at once, as it would without this."""
    before = {signum: signal.getsignal(signum) for signum in _STOPS}

    def stop(_signum: int, _frame: FrameType | None) -> None:
        for signum in _STOPS:
            signal.signal(signum, signal.SIG_DFL)
        stopping.set()

    for signum in _STOPS:
        signal.signal(signum, stop)
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
