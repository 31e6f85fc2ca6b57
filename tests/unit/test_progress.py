"""The progress bar: on a terminal, after two seconds, and gone at the end."""

import io
import sys

import pytest

from punctual.progress import SHOWN_AFTER_S, progress_bar


class Terminal(io.StringIO):
    def __init__(self, *, is_one: bool) -> None:
        super().__init__()
        self._is_one = is_one

    def isatty(self) -> bool:
        return self._is_one


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
