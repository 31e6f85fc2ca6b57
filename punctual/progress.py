"""What shows that work goes on when it takes longer than two seconds, on a terminal alone."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SHOWN_AFTER_S: Final = 2.0

Advance = Callable[[float], None]


@contextmanager
def progress_bar(
    label: str, *, elapsed_s: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Call what it gives with the part that is done, 0 to 1; the bar goes when the block ends.

    It is on stderr, so that a pipe holds only the answer.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = Console(stderr=True)
    columns = (TextColumn(label), BarColumn(), TaskProgressColumn(), Remaining())
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task(label, total=1.0)
    start_s, is_shown = elapsed_s(), False

    def advance(done: float) -> None:
        nonlocal is_shown
        if not is_shown and sys.stderr.isatty() and elapsed_s() - start_s >= SHOWN_AFTER_S:
            is_shown = True
            progress.start()
        progress.update(task, completed=done)

    try:
        yield advance
    finally:
        if is_shown:
            progress.stop()


@contextmanager
def turning(label: str, *, after_s: float = SHOWN_AFTER_S) -> Iterator[Callable[[str], None]]:
    """A turning sign beside a text, where nobody knows how much is still to do.

    Call what it gives with another text.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    lock = threading.Lock()
    text, status = label, None

    def show() -> None:
        nonlocal status
        from rich.console import Console

        with lock:
            status = Console(stderr=True).status(text)
            status.start()

    def tell(new: str) -> None:
        nonlocal text
        with lock:
            text = new
            if status is not None:
                status.update(new)

    timer = threading.Timer(after_s, show)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        if status is not None:
            status.stop()


@contextmanager
def waiting(label: str, *, shown_after_s: float = SHOWN_AFTER_S) -> Iterator[None]:
    """For what cannot tell how far it is: after a while, that it goes on, and for how long."""
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_spin, args=(label, shown_after_s, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _spin(label: str, shown_after_s: float, ended: threading.Event) -> None:
    if ended.wait(shown_after_s):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(label), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(label, total=None)
        ended.wait()
