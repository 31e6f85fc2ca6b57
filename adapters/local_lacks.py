"""Whose fault a failed connection is: the table of what is this process's or machine's own lack.

An error is ours when no target can bring it about, and waiting may end it. Then no try was made.
What a target's address or name can bring about too stays a try, however little the target may be
to blame: it might last for ever, and would never be told. Those are told without blame.

| error | ours | because |
|---|---|---|
| `EMFILE`, `ENFILE` | yes | open files run out here |
| `ENOMEM`, `ENOBUFS`, `EAI_MEMORY`, MemoryError | yes | memory runs out here |
| `EADDRNOTAVAIL` | yes | local ports run out; not for an IPv6 address, which a machine may lack |
| `ENETDOWN` | yes | this machine's interface is down; no router's message says so |
| no thread for a lookup | yes | threads run out here |
| a failed lookup while no file can be opened | yes | to the C library no name exists then |
| `EAI_AGAIN`, no answer in time | if `invalid` is not answered either | our name servers are away |
| `EAI_AGAIN` otherwise, `EAI_FAIL` | no | the domain's own name servers fail |
| `EAI_NONAME`, no address | no | the name does not exist |
| `ENETUNREACH`, `EHOSTUNREACH`, `EHOSTDOWN` | no | a router on the way says so of its address |
| `EAFNOSUPPORT` | no | the name has only addresses of a kind that is missing here |
| `EACCES`, `EPERM` | no | a rule of this machine's firewall against that address |
| `ECONNREFUSED`, `ECONNRESET`, `ETIMEDOUT`, TLS | no | the target |
"""

import errno
import os
from typing import Final, Literal, NamedTuple

import aiohttp

LackKind = Literal["files", "memory", "ports", "network", "threads", "resolver", "connections"]


class Lack(NamedTuple):
    """What is missing here: its kind for counting, and a sentence with the remedy."""

    kind: LackKind
    text: str


FILES: Final = Lack(
    "files", "this process can open no more files: raise its limit (ulimit -n, LimitNOFILE=)"
)
MACHINE_FILES: Final = Lack(
    "files", "this machine can open no more files: raise fs.file-max, or end what holds them"
)
MEMORY: Final = Lack("memory", "this machine has no memory left for a connection: give it more")
PORTS: Final = Lack(
    "ports", "this machine has no local port left: widen net.ipv4.ip_local_port_range"
)
NETWORK: Final = Lack("network", "this machine's network is down: bring it up")
THREADS: Final = Lack(
    "threads", "this process can start no more threads: raise its limit (ulimit -u, TasksMax=)"
)
RESOLVER: Final = Lack(
    "resolver", "this machine's name servers do not answer: see its /etc/resolv.conf"
)
CONNECTIONS: Final = Lack(
    "connections", "all connections of this dispatcher were in use for the whole timeout"
)

_OURS: Final = {
    errno.EMFILE: FILES,
    errno.ENFILE: MACHINE_FILES,
    errno.ENOMEM: MEMORY,
    errno.ENOBUFS: MEMORY,
    errno.EADDRNOTAVAIL: PORTS,
    errno.ENETDOWN: NETWORK,
}
# Told without blame; each counts as a try.
NOBODYS: Final = frozenset(
    {
        errno.ENETUNREACH,
        errno.EHOSTUNREACH,
        errno.EHOSTDOWN,
        errno.EAFNOSUPPORT,
        errno.EADDRNOTAVAIL,
        errno.EACCES,
        errno.EPERM,
    }
)


class LocalLack(OSError):
    """A lookup that failed for what is missing here; an OSError as every failed lookup is."""

    def __init__(self, lack: Lack) -> None:
        super().__init__(lack)
        self.lack = lack

    def __str__(self) -> str:
        return self.lack.text


def lack_of(error: BaseException, host: str) -> Lack | None:
    """What is missing here, when the error of connecting to `host` is our own; else None."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        cause: BaseException = error.os_error
        return cause.lack if isinstance(cause, LocalLack) else None
    if isinstance(error, LocalLack):
        return error.lack
    if isinstance(error, MemoryError):
        return MEMORY
    if not isinstance(error, OSError) or error.errno is None:
        return None
    if error.errno == errno.EADDRNOTAVAIL and ":" in host:
        return None
    return _OURS.get(error.errno)


def missing_for_files() -> Lack | None:
    """Why no file can be opened just now; None where one can."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return _OURS.get(error.errno) if error.errno is not None else None
    return None
