"""The API of the folder: whether its server is there, and else whether its port is free."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

from punctual.checkup.finding import Finding, fine, warn
from punctual.defaults import API_PORT
from punctual.listening import owner_text
from punctual.local_files import ToldServer, told_server
from punctual.port_owner import port_owner
from punctual.transports import NoAnswer, is_served_by

_LOOPBACK = "127.0.0.1"


def check_server(data: Path, *, host: str | None, port: int | None) -> Finding:
    """Of the server that the folder names, unless a host or a port is given."""
    told = told_server(data)
    if told is None or host is not None or port is not None:
        return check_port(host or _LOOPBACK, port or API_PORT, data=data)
    parts = urlsplit(told.url)
    found = _told(told, name=f"port {parts.port}")
    return found or check_port(parts.hostname or _LOOPBACK, parts.port or API_PORT, data=data)


def check_port(host: str, port: int, *, data: Path) -> Finding:
    """Free, or taken by a server of ours."""
    name = f"port {port}"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            probe.listen()  # until then two may have it
    except OSError as error:
        owner = port_owner(host, port, data=data)
        who = owner_text(owner, data)
        if owner.is_punctual:
            return fine(name, f"{who} answers on {host}")
        found = f"cannot be had on {host} ({error.strerror}{f': {who}' if who else ''})"
        return warn(name, found, "end what uses it, or serve on another one with --port")
    return fine(name, f"free on {host}")


def _told(told: ToldServer, *, name: str) -> Finding | None:
    """None where the server that left its word has gone."""
    try:
        if is_served_by(told):
            return fine(name, f"this folder is served at {told.url}")
    except NoAnswer as lost:
        if not isinstance(lost.__cause__, ConnectionRefusedError):
            found = f"the folder's server at {told.url} does not answer ({lost})"
            return warn(name, found, "try again in a minute; if it stays, look at its log")
    return None
