"""The service under measurement as a process of its own: started, found, measured and ended."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from punctual.local_files import read_local_token, told_server

_POLL_S: Final = 0.005
_START_S_MAX: Final = 120
_STOP_S_MAX: Final = 60
_SAID_CHARS_MAX: Final = 2_000
_PINNED: Final = """
import os, sys
core = sys.argv.pop(1)
if core != "any":
    os.sched_setaffinity(0, {int(core)})
from punctual.cli import main
main()
"""


@dataclass(frozen=True, slots=True)
class Service:
    """A running `punctual` with its API; `headers` are those of the folder's own principal."""

    url: str
    pid: int
    headers: dict[str, str]

    def processor_s(self) -> float:
        """Seconds of processor time that it has used; 0 where the system does not tell."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self) -> float | None:
        """The most memory that it ever held resident; None where the system does not tell."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            return None
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024


def core_of_its_own() -> int | None:
    """The core that a service is pinned to; this process leaves it. None where none can be."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return None
    os.sched_setaffinity(0, cores[1:])
    return cores[0]


@asynccontextmanager
async def running(
    command: str, data: Path, *options: str, core: int | None = None
) -> AsyncIterator[Service]:
    """`punctual COMMAND` on a data folder, until the block ends.

    Ready to be asked when its API answers at all. RuntimeError with what it said when it ends
    before its time, or badly.
    """
    log = data.with_suffix(f".{command}.log")
    pinned: Sequence[str] = (sys.executable, "-c", _PINNED, "any" if core is None else str(core))
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *pinned, command, "--data", str(data), "--port", "0", *options,
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        url = await _url_of(data, process)
        token = read_local_token(data)
        yield Service(url, process.pid, {"Authorization": f"Bearer {token}"})
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _STOP_S_MAX)
        except TimeoutError:
            process.kill()
            await process.wait()
        if process.returncode != 0:
            raise RuntimeError(f"the service ended badly; it said:\n{_said(log)}")


async def _url_of(data: Path, process: asyncio.subprocess.Process) -> str:
    for _ in range(round(_START_S_MAX / _POLL_S)):
        told = told_server(data)
        if told is not None:
            return told.url
        if process.returncode is not None:
            break
        await asyncio.sleep(_POLL_S)
    raise RuntimeError("the service did not start")


def _said(log: Path) -> str:
    return log.read_text(encoding="utf-8")[-_SAID_CHARS_MAX:]
