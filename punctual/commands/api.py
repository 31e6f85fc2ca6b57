"""`punctual api`: the control API as a process of its own, all of it or some of its parts."""

import errno
import signal
import sys
import threading
from pathlib import Path
from typing import Final

import click

from control_api.app import PARTS, Part
from control_api.services import LOOPBACK_HOSTS
from ports.errors import PortError
from punctual.commands.common import clock, data_option
from punctual.logs import LEVELS, configure_logs

LOOPBACK_DEFAULT: Final = "allow-loopback where --host is loopback"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8400,
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
    show_default=LOOPBACK_DEFAULT,
    help="Whether targets on this machine may be put without a proof.",
)
@click.option("--log-level", type=click.Choice(LEVELS), default="warning", show_default=True)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
@data_option
def api(
    host: str,
    port: int,
    parts: tuple[Part, ...],
    auth: str,
    allow_loopback: bool | None,
    log_level: str,
    log_json: bool,
    data: Path,
) -> None:
    """Serve the control API of a data folder, without deciding or delivering.

    `punctual up` serves it too. Stopping this stops new definitions, and nothing else.
    """
    from punctual.api_host import serving
    from punctual.data_folder import open_data_folder

    configure_logs(level=log_level, as_json=log_json)
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    try:
        folder = open_data_folder(data, create=False)
        try:
            with serving(
                folder,
                clock(),
                host=host,
                port=port,
                allow_loopback=allows_loopback(allow_loopback, host),
                parts=parts or PARTS,
                auth="none" if auth == "none" else "tokens",
            ) as server:
                click.echo(f"API: {server.url}; Ctrl-C ends it.")
                sys.stdout.flush()
                stop.wait()
        finally:
            folder.close()
    except PortError as error:
        click.echo(f"Not started. {error}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(f"Not started. {bind_text(error, host, port)}", err=True)
        sys.exit(1)


def allows_loopback(given: bool | None, host: str) -> bool:
    """Whether targets on this machine are usable; unless it is said, for this machine's own API.

    Whoever else may author triggers could otherwise reach what trusts its neighbours.
    """
    return host in LOOPBACK_HOSTS if given is None else given


def bind_text(error: OSError, host: str, port: int, *, option: str = "port") -> str:
    """Why an address cannot be served on, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return (
            f"{option}: {port} is in use: end what uses it, or name another one with "
            f"--{option} (0 takes any free one)"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host: {host} is no address of this machine: serve on 127.0.0.1"
    return f"host: {host} port {port} cannot be served on: {error.strerror}"
