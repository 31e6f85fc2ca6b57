"""Taking a port, before anything else is done; and what to say where it cannot be had."""

import errno
import os
import socket
from pathlib import Path
from typing import Final, Literal

from control_api.services import LOOPBACK_HOSTS
from ports.errors import StoreRefused
from punctual.port_owner import PortOwner, port_owner

Auth = Literal["tokens", "none"]
_BACKLOG: Final = 2_048


def check_bind(host: str, auth: Auth) -> None:
    """StoreRefused for a bind that others could use while nothing proves who calls."""
    if auth == "none" and host not in LOOPBACK_HOSTS:
        raise StoreRefused(
            f"host: {host} is not loopback, and with --auth none nothing proves who calls: "
            "serve on 127.0.0.1, or leave --auth at tokens"
        )


def allows_loopback(given: bool | None, host: str) -> bool:
    """Whether targets on this machine are usable; unless it is said, for this machine's own API.

    Whoever else may author triggers could otherwise reach what trusts its neighbours.
    """
    return host in LOOPBACK_HOSTS if given is None else given


def listening(host: str, port: int, *, data: Path, option: str = "port") -> socket.socket:
    """A socket that listens; port 0 takes any free one. What comes waits until it is served.

    It listens at once: two processes may bind the same port as long as neither does.
    data:    the folder of whoever asks
    option:  of the command line, that named the port
    Raises StoreRefused, which says who has the port and what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sends small packets at once only then; otherwise
    # every answer on a connection that is kept waits 40 ms for the reader's kernel.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise StoreRefused(_refusal(error, host, port, data=data, option=option)) from error
    return listener


def owner_text(owner: PortOwner, data: Path) -> str | None:
    """Who has a port, for people; None where nothing is known."""
    process = None if owner.pid is None else f"process {owner.pid}"
    if not owner.is_punctual:
        return process and f"{process} ({owner.name})"
    who = "a punctual" if process is None else f"a punctual ({process})"
    if owner.data is None:
        return who
    if _is_same(owner.data, data):
        return f"{who} that serves {data} already"
    return f"{who} that serves {owner.data}"


def _refusal(error: OSError, host: str, port: int, *, data: Path, option: str) -> str:
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"host: {host} is no address of this machine: serve on 127.0.0.1"
    if error.errno != errno.EADDRINUSE:
        return f"host: {host} port {port} cannot be served on: {error.strerror}"
    who = owner_text(port_owner(host, port, data=data), data)
    by, what = (f" by {who}", "that") if who else ("", "what uses it")
    return (
        f"{option}: {port} is in use{by}: end {what}, or name another one with --{option} "
        "(0 takes any free one)"
    )


def _is_same(first: Path, second: Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False
