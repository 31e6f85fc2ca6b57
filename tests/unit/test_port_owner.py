"""Who has a port: by what Linux shows, and by asking the port where nothing is shown."""

import os
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from adapters.clock_fixed import FixedClock
from ports.errors import StoreRefused
from punctual.api_host import serving
from punctual.data_folder import open_data_folder
from punctual.listening import listening, owner_text
from punctual.port_owner import PortOwner, port_owner

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid inode\n"
LINE = (
    "   {n}: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 {inode} 1\n"
)
NOBODY = PortOwner(None, None, None, is_punctual=False)


@pytest.fixture
def port() -> int:
    """One on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = int(taken.getsockname()[1])
    return found


def a_system(folder: Path, *lines: tuple[int, str, int], tcp6: str = "") -> Path:
    """Lines of (port, state, inode)."""
    (folder / "net").mkdir(parents=True)
    text = "".join(
        LINE.format(n=n, local=f"0100007F:{port:04X}", state=state, inode=inode)
        for n, (port, state, inode) in enumerate(lines)
    )
    (folder / "net/tcp").write_text(HEAD + text)
    (folder / "net/tcp6").write_text(HEAD + tcp6)
    return folder


def a_process(system: Path, pid: int, *files: str, name: str = "nginx") -> None:
    handles = system / str(pid) / "fd"
    handles.mkdir(parents=True)
    (handles.parent / "comm").write_text(f"{name}\n")
    for number, file in enumerate(files):
        (handles / str(number)).symlink_to(file)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param((), PortOwner(7, "nginx", None, is_punctual=False), id="other_program"),
        pytest.param(
            ("/srv/p/punctual.db-wal", "/srv/p/punctual.db"),
            PortOwner(7, "nginx", Path("/srv/p"), is_punctual=True),
            id="punctual",
        ),
        pytest.param(
            ("/srv/p/punctual.db (deleted)",),
            PortOwner(7, "nginx", None, is_punctual=False),
            id="of_a_folder_that_is_gone",
        ),
    ],
)
def test_owner_of_a_port_is_the_process_that_listens(
    tmp_path: Path, port: int, files: tuple[str, ...], expected: PortOwner
) -> None:
    system = a_system(tmp_path, (port, "0A", 41), (port, "01", 42), (port - 1, "0A", 43))
    a_process(system, 5, "socket:[42]", "/etc/hosts")
    a_process(system, 6, "socket:[43]", "/srv/other/punctual.db")
    a_process(system, 7, "pipe:[9]", "socket:[41]", *files)
    assert port_owner("127.0.0.1", port, data=tmp_path, system=system) == expected


def test_owner_of_a_port_on_ipv6_is_found(tmp_path: Path, port: int) -> None:
    line = LINE.format(n=0, local=f"{'0' * 32}:{port:04X}", state="0A", inode=41)
    a_process(a_system(tmp_path, tcp6=line), 7, "socket:[41]")
    assert port_owner("::1", port, data=tmp_path, system=tmp_path).pid == 7


def test_owner_of_a_port_is_not_told_where_several_listen(tmp_path: Path, port: int) -> None:
    system = a_system(tmp_path, (port, "0A", 41), (port, "0A", 42))
    a_process(system, 7, "socket:[41]")
    assert port_owner("127.0.0.1", port, data=tmp_path, system=system) == NOBODY


def test_port_that_says_nothing_has_an_owner_unknown(tmp_path: Path, port: int) -> None:
    nothing = tmp_path / "no-proc"
    assert port_owner("127.0.0.1", port, data=tmp_path, system=nothing) == NOBODY


def test_punctual_is_known_without_help_of_the_system(tmp_path: Path) -> None:
    data, nothing = tmp_path / "data", tmp_path / "no-proc"
    with (
        closing(open_data_folder(data, create=True)) as folder,
        serving(folder, FixedClock(), host="127.0.0.1", port=0, allow_loopback=False) as server,
    ):
        port = int(server.url.rpartition(":")[2])
        own = port_owner("127.0.0.1", port, data=data, system=nothing)
        other = port_owner("127.0.0.1", port, data=tmp_path, system=nothing)
    assert own == PortOwner(None, None, data, is_punctual=True)
    assert other == PortOwner(None, None, None, is_punctual=True)


@pytest.mark.parametrize(
    ("owner", "text"),
    [
        (NOBODY, None),
        (PortOwner(7, "nginx", None, is_punctual=False), "process 7 (nginx)"),
        (PortOwner(None, None, None, is_punctual=True), "a punctual"),
        (
            PortOwner(7, "python", Path("/srv/p"), is_punctual=True),
            "a punctual (process 7) that serves /srv/p",
        ),
        (
            PortOwner(7, "python", Path("/usr/../etc"), is_punctual=True),
            "a punctual (process 7) that serves /etc already",
        ),
    ],
)
def test_owner_of_a_port_is_told_to_people(owner: PortOwner, text: str | None) -> None:
    assert owner_text(owner, Path("/etc")) == text


def test_port_in_use_is_refused_with_its_owner_and_the_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StoreRefused) as refused:
            listening("127.0.0.1", port, data=tmp_path)
    by = f" by process {os.getpid()} " if sys.platform == "linux" else ": end what uses it"
    assert str(refused.value).startswith(f"port: {port} is in use{by}")
    assert str(refused.value).endswith("name another one with --port (0 takes any free one)")


def test_port_is_taken_from_the_start(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0, data=tmp_path) as first:
        port = first.getsockname()[1]
        with pytest.raises(StoreRefused, match="is in use"):
            listening("127.0.0.1", port, data=tmp_path)


def test_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match=r"host: 192\.0\.2\.7 is no address of this machine"):
        listening("192.0.2.7", 0, data=tmp_path)
