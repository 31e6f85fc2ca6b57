"""`punctual up`: the whole service in one process.

The port is taken and the first line said before the rest is imported, which takes longer than all
that follows.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any

import click

from ports.errors import PortError
from punctual.defaults import API_PORT, IN_FLIGHT, LOOPBACK, RECEIVER_PORT
from punctual.listening import Auth, allows_loopback, check_bind, listening
from punctual.logs import LEVELS, configure_logs
from punctual.saying import say, say_text
from punctual.version import __version__
from scheduling.limits import LEASE_TTL_S_DEFAULT, LEASE_TTL_S_MAX
from scheduling.zones import tzdata_version


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """The command line of `up`, checked."""

    data: Path
    host: str
    port: int
    auth: Auth
    manifests: tuple[Path, ...]
    demo: bool
    receiver_port: int
    epsilon_ms: float
    lease_ttl_s: float
    in_flight_max: int
    allow_loopback: bool
    allow_targets: bool


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".punctual"),
    envvar="PUNCTUAL_DATA",
    show_default=True,
    help="Folder of the store and its keys.",
)
@click.option(
    "--manifest",
    "manifests",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="YAML of tenants, targets and triggers; applied as one transaction, again on SIGHUP.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the API.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=API_PORT,
    envvar="PUNCTUAL_PORT",
    show_envvar=True,
    show_default=True,
    help="Port of the API; 0 takes any free one.",
)
@click.option(
    "--auth",
    type=click.Choice(["tokens", "none"]),
    default="tokens",
    show_default=True,
    help="What proves who calls the API; none is for loopback alone.",
)
@click.option("--demo", is_flag=True, help="Add a demo tenant and a receiver to watch.")
@click.option(
    "--receiver-port",
    type=click.IntRange(0, 65535),
    default=RECEIVER_PORT,
    show_default=True,
    help="Port of the demo receiver, on loopback.",
)
@click.option(
    "--epsilon-ms",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    help="Bound of this machine's clock error; an instant fires this much after it at least.",
)
@click.option(
    "--lease-ttl-s",
    type=click.FloatRange(1, LEASE_TTL_S_MAX),
    default=LEASE_TTL_S_DEFAULT,
    show_default=True,
    help="How long a dead process keeps its partitions.",
)
@click.option(
    "--in-flight-max",
    type=click.IntRange(1, 10_000),
    default=IN_FLIGHT,
    show_default=True,
    help="Attempts at once.",
)
@click.option(
    "--allow-loopback/--no-allow-loopback",
    default=None,
    show_default=LOOPBACK,
    help="Whether targets on this machine may be called; other private addresses never.",
)
@click.option(
    "--allow-targets",
    is_flag=True,
    help="Vouch for the hosts of the manifests' targets, instead of a proof by each host.",
)
@click.option("--log-level", type=click.Choice(LEVELS), default="warning", show_default=True)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
def up(
    log_level: str, log_json: bool, host: str, allow_loopback: bool | None, **options: Any
) -> None:
    """Run the service: decide, commit, deliver. Ctrl-C drains and ends it."""
    is_allowed = allows_loopback(allow_loopback, host)
    if options["demo"] and not is_allowed:
        raise click.UsageError("--demo: its receiver is on this machine: add --allow-loopback.")
    checked = UpOptions(host=host, allow_loopback=is_allowed, **options)
    try:
        # Before anything is changed: who starts it twice should find the folder as it was.
        with _ports_of(checked) as (listener, receiver):
            tell(f"punctual {__version__}: data in {checked.data}, tzdata {tzdata_version()}")
            configure_logs(level=log_level, as_json=log_json)
            from punctual.commands.up_service import run

            run(checked, listener=listener, receiver=receiver)
    except PortError as error:
        say_text(f"Not started. {error}", err=True)
        sys.exit(1)


def tell(*lines: str) -> None:
    """For whoever watches; when nobody does any more, the service goes on without."""
    with suppress(OSError):
        say(*lines)
        sys.stdout.flush()


@contextmanager
def _ports_of(options: UpOptions) -> Iterator[tuple[socket, socket | None]]:
    """Of the API, and of the demo's receiver."""
    check_bind(options.host, options.auth)
    with ExitStack() as stack:
        api = stack.enter_context(listening(options.host, options.port, data=options.data))
        receiver = None
        if options.demo:
            taking = listening(
                "127.0.0.1", options.receiver_port, data=options.data, option="receiver-port"
            )
            receiver = stack.enter_context(taking)
        yield api, receiver
