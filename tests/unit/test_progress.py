"""The progress bar: on a terminal, after two seconds, and gone at the end."""

import io
import sys
import threading

import pytest

from punctual.progress import SHOWN_AFTER_S, progress_bar, waiting


class Terminal(io.StringIO):
    def __init__(self, *, is_one: bool) -> None:
        super().__init__()
        self._is_one = is_one
        self.is_written = threading.Event()

    def isatty(self) -> bool:
        return self._is_one

    def write(self, text: str) -> int:
        done = super().write(text)
        if "Applying" in self.getvalue():
            self.is_written.set()
        return done


@pytest.mark.parametrize(
    ("is_terminal", "took_s", "is_shown"),
    [
        pytest.param(True, SHOWN_AFTER_S, True, id="long_on_a_terminal"),
        pytest.param(True, SHOWN_AFTER_S - 0.1, False, id="short"),
        pytest.param(False, 3_600.0, False, id="no_terminal"),
    ],
)
def test_progress_is_shown_on_a_terminal_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, took_s: float, is_shown: bool
) -> None:
    stderr = Terminal(is_one=is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    times = iter([0.0, took_s, took_s, took_s])
    with progress_bar("Backing up", elapsed_s=lambda: next(times)) as advance:
        advance(0.5)
        advance(1.0)
    assert ("Backing up" in stderr.getvalue()) is is_shown
    assert bool(stderr.getvalue()) is is_shown


def test_waiting_on_a_terminal_says_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal(is_one=True)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    with waiting("Reading", shown_after_s=0.0) as tell:
        tell("Applying")
        assert stderr.is_written.wait(10)


@pytest.mark.parametrize(
    ("is_terminal", "after_s"), [(True, 3_600.0), (False, 0.0)], ids=["short", "no_terminal"]
)
def test_waiting_that_is_short_or_unseen_says_nothing(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, after_s: float
) -> None:
    stderr = Terminal(is_one=is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    with waiting("Applying", shown_after_s=after_s):
        pass
    assert stderr.getvalue() == ""
