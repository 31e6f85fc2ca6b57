"""What shows that work goes on when it takes longer than two seconds, on a terminal alone."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SHOWN_AFTER_S: Final = 2.0
_LABEL_EVERY_S: Final = 0.1

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
def waiting(label: str, *, shown_after_s: float | None = None) -> Iterator[Callable[[str], None]]:
    """For what cannot tell how far it is: after a while, that it goes on, and for how long.

    Call what it gives with another label.
    """
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    labels, ended = deque([label], maxlen=1), threading.Event()
    after_s = SHOWN_AFTER_S if shown_after_s is None else shown_after_s
    thread = threading.Thread(target=_spin, args=(labels, after_s, ended), daemon=True)
    thread.start()
    try:
        yield labels.append
    finally:
        ended.set()
        thread.join()


def _spin(labels: deque[str], shown_after_s: float, ended: threading.Event) -> None:
    if ended.wait(shown_after_s):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(labels[0], total=None)
        while not ended.wait(_LABEL_EVERY_S):
            progress.update(task, description=labels[0])
