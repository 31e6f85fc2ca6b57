"""`punctual up` as a real process: started, watched line by line, signalled and ended."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

# Generous, because a loaded machine is slow; nothing waits this long unless it has failed.
WAIT_S: Final = 30.0
_POLL_S: Final = 0.02


def punctual_command() -> list[str]:
    """The installed command beside this interpreter, or the same entry point without it."""
    installed = Path(sys.executable).with_name("punctual")
    if installed.exists():
        return [str(installed)]
    return [sys.executable, "-c", "from punctual.cli import main; main()"]


def run_punctual(
    *arguments: str | Path | float,
    timeout_s: float = WAIT_S,
    environment: Mapping[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """One command line from its start to its end; `prepare` runs in the new process first."""
    return subprocess.run(
        [*punctual_command(), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=os.environ | dict(environment or {}),
        preexec_fn=prepare,
        check=False,
    )


def wait_until(condition: Callable[[], bool], what: str, *, timeout_s: float = WAIT_S) -> None:
    """Look again and again until the condition holds; AssertionError after the timeout."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end_s:
            raise AssertionError(f"waited {timeout_s:.0f} s in vain: {what}")
        time.sleep(_POLL_S)


@dataclass(slots=True)
class _Stream:
    """The lines that a pipe has given so far."""

    pipe: IO[str]
    lines: list[str] = field(default_factory=list)
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with self.pipe:
            for line in self.pipe:
                self.lines.append(line.rstrip("\n"))


class ServiceProcess:
    """One running `punctual up`, or another verb; leaving the `with` block kills it."""

    def __init__(
        self,
        data: Path,
        *arguments: str | Path | float,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
        verb: str = "up",
    ) -> None:
        options: Sequence[str] = ("--data", str(data), *map(str, arguments))
        self.command = [*punctual_command(), verb, *options]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | dict(environment or {}),
            preexec_fn=prepare,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._out = _Stream(self.process.stdout)
        self._err = _Stream(self.process.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def out(self) -> list[str]:
        """The lines on stdout so far."""
        return list(self._out.lines)

    @property
    def err(self) -> list[str]:
        """The lines on stderr so far."""
        return list(self._err.lines)

    def send(self, signum: signal.Signals) -> None:
        self.process.send_signal(signum)

    def kill(self) -> None:
        """SIGKILL, if it still runs; all of its output is read afterwards."""
        self.process.kill()
        self.wait()

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, wait for it, and return the exit code."""
        self.send(signum)
        return self.wait()

    def wait(self, *, timeout_s: float = WAIT_S) -> int:
        """The exit code; AssertionError with its output when it does not end."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout_s:.0f} s\n{self}") from None
        self._out.thread.join()
        self._err.thread.join()
        return code

    def wait_for_out(self, text: str, *, timeout_s: float = WAIT_S) -> str:
        """The first line on stdout that holds the text."""
        return self._wait_for(self._out, text, timeout_s)

    def wait_for_err(self, text: str, *, timeout_s: float = WAIT_S) -> str:
        """The first line on stderr that holds the text."""
        return self._wait_for(self._err, text, timeout_s)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"$ {shlex.join(self.command)}",
                *(f"out: {line}" for line in self._out.lines),
                *(f"err: {line}" for line in self._err.lines),
            )
        )

    def _wait_for(self, stream: _Stream, text: str, timeout_s: float) -> str:
        end_s = time.monotonic() + timeout_s
        while True:
            ended = not stream.thread.is_alive()
            found = next((line for line in list(stream.lines) if text in line), None)
            if found is not None:
                return found
            if ended or time.monotonic() > end_s:
                raise AssertionError(f"no line with {text!r}\n{self}")
            time.sleep(_POLL_S)
