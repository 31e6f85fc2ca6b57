"""`punctual api`: the control API as a process of its own, all of it or some of its parts."""

import signal
import sys
import threading
from contextlib import closing
from pathlib import Path

import click

from control_api.parts import PARTS, Part
from ports.errors import PortError
from punctual.commands.common import clock, data_option
from punctual.defaults import API_PORT, LOOPBACK
from punctual.listening import Auth, allows_loopback, check_bind, listening
from punctual.logs import LEVELS, configure_logs
from punctual.saying import say


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=API_PORT,
    envvar="PUNCTUAL_PORT",
    show_envvar=True,
    show_default=True,
    help="0 takes a free one.",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(PARTS),
    help="Serve only this part, or these; each may be a process of its own.",
)
@click.option(
    "--auth",
    type=click.Choice(["tokens", "none"]),
    default="tokens",
    show_default=True,
    help="What proves who calls; none is for loopback alone.",
)
@click.option(
    "--allow-loopback/--no-allow-loopback",
    default=None,
    show_default=LOOPBACK,
    help="Whether targets on this machine may be put without a proof.",
)
@click.option("--log-level", type=click.Choice(LEVELS), default="warning", show_default=True)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
@data_option
def api(
    host: str,
    port: int,
    parts: tuple[Part, ...],
    auth: Auth,
    allow_loopback: bool | None,
    log_level: str,
    log_json: bool,
    data: Path,
) -> None:
    """Serve the API alone, beside an `up` or without one.

    `punctual up` serves the API itself, and most installations need nothing else. This one is for
    an API on another address, for parts of it in processes of their own, or to look and define
    while no `up` runs. It decides and sends nothing; stopping it stops new definitions through it,
    and nothing else.
    """
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    try:
        check_bind(host, auth)
        with listening(host, port, data=data) as listener:
            configure_logs(level=log_level, as_json=log_json)
            from punctual.api_host import serving
            from punctual.data_folder import open_data_folder

            with (
                closing(open_data_folder(data, create=False)) as folder,
                serving(
                    folder,
                    clock(),
                    host=host,
                    port=port,
                    allow_loopback=allows_loopback(allow_loopback, host),
                    parts=parts or PARTS,
                    auth=auth,
                    listener=listener,
                ) as server,
            ):
                say(f"API: {server.url}; Ctrl-C ends it.")
                sys.stdout.flush()
                stop.wait()
    except PortError as error:
        say(f"Not started. {error}", err=True)
        sys.exit(1)
