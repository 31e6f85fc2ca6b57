"""Real processes and real receivers, ended with their test whatever came of it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_process import ServiceProcess

Start = Callable[..., ServiceProcess]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder, not made yet."""
    return tmp_path / "data"


@pytest.fixture
def ledger(data: Path) -> LedgerFile:
    return LedgerFile(data)


@pytest.fixture(autouse=True)
def _any_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several services run at a time here: none takes the port that all would share."""
    monkeypatch.setenv("PUNCTUAL_PORT", "0")


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    """Answers 200 at once; a signature that did not verify fails the test."""
    with HttpReceiver() as receiver:
        yield receiver
    assert receiver.problems == []


@pytest.fixture
def start(data: Path) -> Iterator[Start]:
    """Starts `punctual up` on the data folder with the arguments given.

    What each process said is printed at the end, to be shown with a test that failed.
    """
    started: list[ServiceProcess] = []
    with ExitStack() as stack:

        def start_one(*arguments: str | Path | float, **options: Any) -> ServiceProcess:
            started.append(ServiceProcess(data, *arguments, **options))
            return stack.enter_context(started[-1])

        yield start_one
    sys.stdout.writelines(f"{process}\n" for process in started)
