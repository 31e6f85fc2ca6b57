"""Who has a port: which process, and whether it is a Punctual, on which data folder."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from punctual.local_files import told_server
from punctual.transports import PROBE_TIMEOUT_S, NetworkTransport, NoAnswer, serves_folder

_PROCESSES: Final = Path("/proc/")
_LISTENING: Final = "0A"
_ALIVE: Final = b'"status":"alive"'


class PortOwner(NamedTuple):
    """Each None where the system does not tell: it tells a user of their own processes alone.

    data: the data folder of a Punctual
    """

    pid: int | None
    name: str | None
    data: Path | None
    is_punctual: bool


def port_owner(host: str, port: int, *, data: Path, system: Path = _PROCESSES) -> PortOwner:
    """The process that listens on a port of this machine, as far as the system tells.

    Where it does not, as on macOS, the port is asked; a server of `data` proves itself.
    data:    the folder that the asker is about
    system:  where Linux, and it alone, shows its processes
    """
    process = _process_of(port, system)
    if process is None:
        return _asked(host, port, data=data)
    served = next(_folders_of(process), None)
    name = _name_of(process)
    return PortOwner(int(process.name), name, served, served is not None)


def _asked(host: str, port: int, *, data: Path) -> PortOwner:
    told = told_server(data)
    shown = f"[{host}]" if ":" in host else host
    transport = NetworkTransport(f"http://{shown}:{port}", answer_timeout_s=PROBE_TIMEOUT_S)
    try:
        if told is not None and serves_folder(transport, told):
            return PortOwner(None, None, data, is_punctual=True)
        answer = transport.send("GET", "/healthz", body=None, headers={})
    except NoAnswer:
        return PortOwner(None, None, None, is_punctual=False)
    finally:
        transport.close()
    is_punctual = answer.status == 200 and _ALIVE in answer.body.replace(b" ", b"")
    return PortOwner(None, None, None, is_punctual)


def _process_of(port: int, system: Path) -> Path | None:
    """Its folder under `system`; None as well where several listen, each on its own address."""
    links = {f"socket:[{inode}]" for inode in _inodes_of(port, system)}
    if len(links) != 1:
        return None
    for process in system.iterdir():
        if process.name.isdecimal() and not links.isdisjoint(_open_files_of(process)):
            return process
    return None


def _inodes_of(port: int, system: Path) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (system / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state, *rest = line.split()
            if state == _LISTENING and int(local.rpartition(":")[2], 16) == port:
                yield rest[5]


def _open_files_of(process: Path) -> list[str]:
    found = []
    try:
        for handle in (process / "fd").iterdir():
            found.append(os.readlink(handle))
    except OSError:
        pass  # another user's, or it has ended
    return found


def _folders_of(process: Path) -> Iterator[Path]:
    """The data folders whose store it has open."""
    from punctual.data_folder import STORE_FILE  # brings the cryptography along

    for name in sorted(_open_files_of(process)):
        if name.rpartition("/")[2] == STORE_FILE:
            yield Path(name).parent


def _name_of(process: Path) -> str | None:
    try:
        return (process / "comm").read_text().strip() or None
    except OSError:
        return None
